"""`numhlo.ops`: reductions within segments, under JAX's names."""

from numhlo.tracer.namespace.segments import *  # noqa: F403
from numhlo.tracer.namespace.segments import __all__ as __all__
from numhlo.tracer.sources import cite as _cite

_cite(globals(), "jax.ops.{}", __all__)
