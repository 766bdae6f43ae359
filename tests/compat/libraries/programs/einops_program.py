import jax
import jax.numpy as jnp
from einops import einsum, rearrange, reduce, repeat

x = jnp.arange(24.0, dtype=jnp.float32).reshape(2, 3, 4)
print(*map(float, rearrange(x, "a b c -> (a c) b").ravel()[:5]), float(reduce(x, "a b c -> b", "mean")[1]))
print(float(jax.grad(lambda x: einsum(x, x, "a b c, a d c -> b d").sum())(x).sum()))
print(repeat(x, "a b c -> a b c k", k=2).shape)
