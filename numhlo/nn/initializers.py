"""`numhlo.nn.initializers`: functions that make initializers of weights, under JAX's names."""

from numhlo.library.citations import cite as _cite
from numhlo.library.nn.initializers import *  # noqa: F403
from numhlo.library.nn.initializers import __all__ as __all__

_cite(globals(), "jax.nn.initializers.{}", __all__)
