"""`jax.debug`: printing and callbacks from running programs."""

from numhlo.compat.jax.callbacks import debug_callback as callback
from numhlo.library.lax.callbacks import debug_breakpoint as breakpoint
from numhlo.library.lax.callbacks import debug_print as print

__all__ = ["breakpoint", "callback", "print"]
