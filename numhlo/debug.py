"""`numhlo.debug`: looking into programs while they run."""

from numhlo.tracer.callbacks import debug_breakpoint as breakpoint
from numhlo.tracer.callbacks import debug_callback as callback
from numhlo.tracer.callbacks import debug_print as print
from numhlo.tracer.sources import cite as _cite

__all__ = ["breakpoint", "callback", "print"]
_cite(globals(), "jax.debug.{}", __all__)
