"""`numhlo.scipy.special`: SciPy's special functions, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.special import bessel as _bessel
from numhlo.library.scipy.special import counting as _counting
from numhlo.library.scipy.special import gamma as _gamma
from numhlo.library.scipy.special import integrals as _integrals
from numhlo.library.scipy.special import normal as _normal
from numhlo.library.scipy.special import widely_used as _functions
from numhlo.library.scipy.special.bessel import *  # noqa: F403
from numhlo.library.scipy.special.counting import *  # noqa: F403
from numhlo.library.scipy.special.gamma import *  # noqa: F403
from numhlo.library.scipy.special.integrals import *  # noqa: F403
from numhlo.library.scipy.special.normal import *  # noqa: F403
from numhlo.library.scipy.special.widely_used import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

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
