"""`jax._src.dispatch`: primitives are evaluated by what they are lowered to; nothing runs behind a call."""

from numhlo.compat.jax.devices import effects_barrier as wait_for_tokens
from numhlo.compat.jax.primitives import apply_primitive

__all__ = ["apply_primitive", "wait_for_tokens"]
