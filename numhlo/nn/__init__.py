"""`numhlo.nn`: activation functions and attention under JAX's names, and pooling under those of flax."""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.citations import cite as _cite
from numhlo.library.nn import activations as _activations
from numhlo.library.nn import attention as _attention
from numhlo.library.nn import normalizations as _normalizations
from numhlo.library.nn import pooling as _pooling
from numhlo.library.nn import rectifiers as _rectifiers
from numhlo.library.nn.activations import *  # noqa: F403
from numhlo.library.nn.attention import *  # noqa: F403
from numhlo.library.nn.normalizations import *  # noqa: F403
from numhlo.library.nn.pooling import *  # noqa: F403
from numhlo.library.nn.rectifiers import *  # noqa: F403
from numhlo.nn import initializers as initializers

_MODULES = (_activations, _attention, _normalizations, _pooling, _rectifiers)
_PUBLIC = {"initializers", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "flax.linen.{}", _pooling.__all__)
_cite(globals(), "jax.nn.{}", __all__)
