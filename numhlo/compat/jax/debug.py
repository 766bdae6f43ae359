"""`jax.debug`: printing and callbacks from running programs; the same as `numhlo.debug`."""

from numhlo.tracer.python.callbacks import debug_breakpoint as breakpoint
from numhlo.tracer.python.callbacks import debug_callback as callback
from numhlo.tracer.python.callbacks import debug_print as print

__all__ = ["breakpoint", "callback", "print"]
