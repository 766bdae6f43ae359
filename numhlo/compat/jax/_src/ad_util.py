"""`jax._src.ad_util`: zeros, and a primitive that libraries give rules to."""

from numhlo.compat.jax.extend.core.primitives import stop_gradient_p as stop_gradient_p
from numhlo.compat.jax.linear_values import Zero as Zero
from numhlo.compat.jax.linear_values import add_any as add_tangents
from numhlo.compat.jax.linear_values import instantiate_zeros as instantiate
from numhlo.compat.jax.linear_values import zeros_of_aval as zeros_like_aval
from numhlo.library.transformations.symbolic_zeros import SymbolicZero as SymbolicZero

__all__ = ["SymbolicZero", "Zero", "add_tangents", "instantiate", "stop_gradient_p", "zeros_like_aval"]
