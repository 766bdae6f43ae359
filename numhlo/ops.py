"""`numhlo.ops`: reductions within segments, under JAX's names."""

from numhlo.tracer.namespace.segments import *  # noqa: F403
from numhlo.tracer.namespace.segments import __all__ as __all__
