"""`jax._src.api`: transformations."""

from numhlo.compat.jax import grad, jit, jvp, linearize, make_jaxpr, value_and_grad, vjp, vmap

__all__ = ["grad", "jit", "jvp", "linearize", "make_jaxpr", "value_and_grad", "vjp", "vmap"]
