import jax
import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self, din, dmid, dout, rngs):
        self.linear = nnx.Linear(din, dmid, rngs=rngs)
        self.bn = nnx.BatchNorm(dmid, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.linear_out = nnx.Linear(dmid, dout, rngs=rngs)

    def __call__(self, x):
        return self.linear_out(nnx.relu(self.dropout(self.bn(self.linear(x)))))


model = Model(2, 8, 3, nnx.Rngs(0))
x = jax.random.normal(jax.random.PRNGKey(0), (5, 2), jnp.float32)
y = jnp.ones((5, 3), jnp.float32)


@nnx.jit
def step(model, x, y):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    nnx.update(model, jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, nnx.state(model, nnx.Param), grads))
    return loss


print(*[float(step(model, x, y)) for _ in range(3)])
print(*[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves(nnx.state(model, nnx.Param))])
