"""`numhlo.debug`: looking into programs while they run."""

from numhlo.library.citations import cite as _cite
from numhlo.library.lax.callbacks import debug_breakpoint as breakpoint
from numhlo.library.lax.callbacks import debug_callback as callback
from numhlo.library.lax.callbacks import debug_print as print

__all__ = ["breakpoint", "callback", "print"]
_cite(globals(), "jax.debug.{}", __all__)
