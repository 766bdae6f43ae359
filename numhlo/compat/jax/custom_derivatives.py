"""`jax.custom_derivatives`: functions with rules of their own."""

from numhlo.compat.jax.custom_rules import custom_gradient as custom_gradient
from numhlo.compat.jax.custom_rules import custom_jvp as custom_jvp
from numhlo.compat.jax.custom_rules import custom_vjp as custom_vjp
from numhlo.compat.jax.late_modules import late as _late
from numhlo.compat.jax.transformations import closure_convert as closure_convert
from numhlo.library.transformations.symbolic_zeros import CustomVJPPrimal as CustomVJPPrimal
from numhlo.library.transformations.symbolic_zeros import SymbolicZero as SymbolicZero

__all__ = ["CustomVJPPrimal", "SymbolicZero", "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]

_PRIMITIVES = ["custom_jvp_call_p", "custom_vjp_call_p"]

__getattr__, __dir__ = _late(
    __name__,
    (),
    {
        **dict.fromkeys(_PRIMITIVES, "numhlo.compat.jax.extend.core.primitives"),
        "zero_from_primal": "numhlo.compat.jax.linear_values",
    },
    {"linear_call": "use custom_vjp, or lax.custom_linear_solve"},
    __all__,
)
