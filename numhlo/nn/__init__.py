"""`numhlo.nn`: activation functions and attention under JAX's names, and pooling under those of flax."""

from numhlo.nn import initializers as initializers
from numhlo.tracer.namespace.networks import activations as _activations
from numhlo.tracer.namespace.networks import attention as _attention
from numhlo.tracer.namespace.networks import normalizations as _normalizations
from numhlo.tracer.namespace.networks import pooling as _pooling
from numhlo.tracer.namespace.networks import rectifiers as _rectifiers
from numhlo.tracer.namespace.networks.activations import *  # noqa: F403
from numhlo.tracer.namespace.networks.attention import *  # noqa: F403
from numhlo.tracer.namespace.networks.normalizations import *  # noqa: F403
from numhlo.tracer.namespace.networks.pooling import *  # noqa: F403
from numhlo.tracer.namespace.networks.rectifiers import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_MODULES = (_activations, _attention, _normalizations, _pooling, _rectifiers)
_PUBLIC = {"initializers", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "flax.linen.{}", _pooling.__all__)
_cite(globals(), "jax.nn.{}", __all__)
