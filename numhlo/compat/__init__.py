"""`numhlo.compat`: numhlo under other libraries' names and rules."""

from numhlo.compat import jax

__all__ = ["jax"]
