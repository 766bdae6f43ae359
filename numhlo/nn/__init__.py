"""`numhlo.nn`: activation functions and attention under JAX's names, and pooling under those of flax."""

from numhlo.nn import initializers as initializers
from numhlo.tracer.namespace import activations as _activations
from numhlo.tracer.namespace import attention as _attention
from numhlo.tracer.namespace import normalizations as _normalizations
from numhlo.tracer.namespace import pooling as _pooling
from numhlo.tracer.namespace import rectifiers as _rectifiers
from numhlo.tracer.namespace.activations import *  # noqa: F403
from numhlo.tracer.namespace.attention import *  # noqa: F403
from numhlo.tracer.namespace.normalizations import *  # noqa: F403
from numhlo.tracer.namespace.pooling import *  # noqa: F403
from numhlo.tracer.namespace.rectifiers import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_MODULES = (_activations, _attention, _normalizations, _pooling, _rectifiers)
_PUBLIC = {"initializers", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "flax.linen.{}", _pooling.__all__)
_cite(globals(), "jax.nn.{}", __all__)
