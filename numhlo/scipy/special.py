"""`numhlo.scipy.special`: SciPy's special functions, traced and outside tracing on the same definitions."""

from numhlo.tracer.absent import raise_absent as _raise_absent
from numhlo.tracer.namespace.special import bessel as _bessel
from numhlo.tracer.namespace.special import counting as _counting
from numhlo.tracer.namespace.special import gamma as _gamma
from numhlo.tracer.namespace.special import normal as _normal
from numhlo.tracer.namespace.special import widely_used as _functions
from numhlo.tracer.namespace.special.bessel import *  # noqa: F403
from numhlo.tracer.namespace.special.counting import *  # noqa: F403
from numhlo.tracer.namespace.special.gamma import *  # noqa: F403
from numhlo.tracer.namespace.special.normal import *  # noqa: F403
from numhlo.tracer.namespace.special.widely_used import *  # noqa: F403
from numhlo.tracer.scientific import special_integrals as _integrals
from numhlo.tracer.scientific.special_integrals import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_PUBLIC = {
    *_bessel.__all__,
    *_counting.__all__,
    *_functions.__all__,
    *_gamma.__all__,
    *_integrals.__all__,
    *_normal.__all__,
}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "scipy.special.{}", __all__)
_ADVICE = {
    **dict.fromkeys(
        [
            "bernoulli",
            "bessel_jn",
            "fresnel",
            "hyp1f1",
            "hyp2f1",
            "owens_t",
            "sici",
            "sph_harm_y",
            "wofz",
            "jv",
            "yv",
            "iv",
            "kv",
            "j0",
            "j1",
            "y0",
            "y1",
        ],
        "call SciPy's through numhlo.pure_callback",
    ),
    "sph_harm": "call SciPy's sph_harm_y through numhlo.pure_callback",
    "lpmn": "call SciPy's assoc_legendre_p_all through numhlo.pure_callback",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
