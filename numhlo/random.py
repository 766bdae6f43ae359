"""`numhlo.random`: random numbers from keys, under JAX's names and with JAX's bits."""

from numhlo.tracer import absent as _absent
from numhlo.tracer.sampling import continuous as _continuous
from numhlo.tracer.sampling import counts as _counts
from numhlo.tracer.sampling import derived as _derived
from numhlo.tracer.sampling import discrete as _discrete
from numhlo.tracer.sampling import keys as _keys
from numhlo.tracer.sampling import poisson as _poisson
from numhlo.tracer.sampling import rejection as _rejection
from numhlo.tracer.sampling.continuous import *  # noqa: F403
from numhlo.tracer.sampling.counts import *  # noqa: F403
from numhlo.tracer.sampling.derived import *  # noqa: F403
from numhlo.tracer.sampling.discrete import *  # noqa: F403
from numhlo.tracer.sampling.keys import *  # noqa: F403
from numhlo.tracer.sampling.poisson import *  # noqa: F403
from numhlo.tracer.sampling.rejection import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_MODULES = (_continuous, _counts, _derived, _discrete, _keys, _poisson, _rejection)
_PUBLIC = {name for module in _MODULES for name in module.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "jax.random.{}", __all__)


def __getattr__(name: str) -> object:
    _absent.raise_absent("numhlo.random", name, _absent.NOT_OF_KEYS)
