"""`jax.debug`: printing and callbacks from running programs."""

from __future__ import annotations

import logging
from typing import Any

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.callbacks import debug_callback as callback
from numhlo.library.lax.callbacks import debug_breakpoint as breakpoint
from numhlo.library.lax.callbacks import debug_print as print
from numhlo.library.lax.callbacks import shown as _shown

__all__ = ["breakpoint", "callback", "log", "print"]

_LOGGER = logging.getLogger("jax.debug")


def log(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Log values when the program runs, as `logging.info` does, by a format string.

    Parameters
    ----------
    fmt : str
        As of `str.format`.
    *args, **kwargs : pytrees of arrays
        What is logged.
    ordered : bool, optional
        Taken for compatibility: callbacks are always in order.

    Examples
    --------
    >>> log("loss {loss:.2f} after {} steps", 3, loss=0.5)
    """
    del ordered

    def tell(*args: Any, **kwargs: Any) -> None:
        _LOGGER.info(fmt.format(*map(_shown, args), **{key: _shown(value) for key, value in kwargs.items()}))

    callback(tell, *args, **kwargs)


__getattr__ = _refusing(__name__)
