"""`numhlo.random`: random numbers from keys, under JAX's names and with JAX's bits."""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library import unsupported_names as _absent
from numhlo.library.citations import cite as _cite
from numhlo.library.random import continuous as _continuous
from numhlo.library.random import counts as _counts
from numhlo.library.random import derived as _derived
from numhlo.library.random import discrete as _discrete
from numhlo.library.random import keys as _keys
from numhlo.library.random import poisson as _poisson
from numhlo.library.random import rejection as _rejection
from numhlo.library.random.continuous import *  # noqa: F403
from numhlo.library.random.counts import *  # noqa: F403
from numhlo.library.random.derived import *  # noqa: F403
from numhlo.library.random.discrete import *  # noqa: F403
from numhlo.library.random.keys import *  # noqa: F403
from numhlo.library.random.poisson import *  # noqa: F403
from numhlo.library.random.rejection import *  # noqa: F403

_MODULES = (_continuous, _counts, _derived, _discrete, _keys, _poisson, _rejection)
_PUBLIC = {name for module in _MODULES for name in module.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "jax.random.{}", __all__)


def __getattr__(name: str) -> object:
    _absent.raise_absent("numhlo.random", name, _absent.NOT_OF_KEYS)
