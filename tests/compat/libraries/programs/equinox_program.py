import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jrandom


class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, in_size, out_size, key):
        first, second = jrandom.split(key)
        self.weight = jrandom.uniform(first, (out_size, in_size), jnp.float32)
        self.bias = jrandom.uniform(second, (out_size,), jnp.float32)

    def __call__(self, x):
        return self.weight @ x + self.bias


@eqx.filter_jit
@eqx.filter_grad
def gradient(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


key = jrandom.PRNGKey(0)
x = jrandom.uniform(jrandom.PRNGKey(1), (5, 2), jnp.float32)
y = jnp.sum(x, axis=1, keepdims=True)
model = Linear(2, 1, key)
for _ in range(10):
    model = eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.1 * g, gradient(model, x, y)))
print(*map(float, model.weight.ravel()), float(model.bias[0]))

mlp = eqx.nn.MLP(2, 1, 8, 2, key=key, activation=jnp.tanh)
value, slopes = eqx.filter_jit(eqx.filter_value_and_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2)))(mlp)
print(float(value), *[float(jnp.sum(g)) for g in jax.tree_util.tree_leaves(slopes)])


@eqx.filter_jit
def checked(x):
    return eqx.error_if(x, x < 0, "x must be >= 0")


print(float(checked(jnp.float32(1.0))))
try:
    float(checked(jnp.float32(-1.0)))
except Exception as error:
    print("x must be >= 0" in str(error))
closed = eqx.filter_closure_convert(lambda a: a * jnp.sin(x), jnp.float32(1.0))
print(float(closed(jnp.float32(2.0)).sum()), float(eqx.filter_jit(closed)(jnp.float32(3.0)).sum()))
