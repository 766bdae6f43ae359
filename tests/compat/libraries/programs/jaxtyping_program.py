import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, jaxtyped


@jaxtyped(typechecker=None)
def product(x: Float[Array, "a b"], y: Float[Array, "b c"]) -> Float[Array, "a c"]:
    return x @ y


x = jnp.ones((2, 3), jnp.float32)
print(float(jax.jit(product)(x, x.T).sum()), isinstance(x, Float[Array, "2 3"]), isinstance(x, Float[Array, "3 2"]))
seen = []
jax.jit(lambda x: seen.append(isinstance(x, Float[Array, "2 3"])) or x)(x)
print(*seen)
