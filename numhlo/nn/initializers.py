"""`numhlo.nn.initializers`: functions that make initializers of weights, under JAX's names."""

from numhlo.tracer.sampling.initializers import *  # noqa: F403
from numhlo.tracer.sampling.initializers import __all__ as __all__
