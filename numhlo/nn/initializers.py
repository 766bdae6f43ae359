"""`numhlo.nn.initializers`: functions that make initializers of weights, under JAX's names."""

from numhlo.tracer.sampling.initializers import *  # noqa: F403
from numhlo.tracer.sampling.initializers import __all__ as __all__
from numhlo.tracer.sources import cite as _cite

_cite(globals(), "jax.nn.initializers.{}", __all__)
