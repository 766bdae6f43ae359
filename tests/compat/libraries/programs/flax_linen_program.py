import flax.linen as nn
import jax
import jax.numpy as jnp


class Network(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(8)(x)
        x = nn.LayerNorm()(nn.gelu(x))
        return nn.Dropout(0.2, deterministic=not train)(nn.Dense(3)(x))


key = jax.random.PRNGKey(0)
x = jax.random.normal(key, (2, 6, 6, 1), jnp.float32)
model = Network()
variables = model.init(jax.random.PRNGKey(1), x, train=False)
print(*[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves(variables)])


@jax.jit
def loss(params, stats):
    out, new = model.apply(
        {"params": params, "batch_stats": stats},
        x,
        train=True,
        mutable=["batch_stats"],
        rngs={"dropout": jax.random.PRNGKey(2)},
    )
    return jnp.mean(out**2), new["batch_stats"]


(value, stats), slopes = jax.value_and_grad(loss, has_aux=True)(variables["params"], variables["batch_stats"])
print(float(value), *[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves((slopes, stats))])


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, xs):
        cell = nn.scan(nn.LSTMCell, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1)(4)
        carry = cell.initialize_carry(jax.random.PRNGKey(0), xs[:, 0].shape)
        return cell(carry, xs)[1]


xs = jax.random.normal(key, (2, 5, 3), jnp.float32)
recurrent = Recurrent()
params = recurrent.init(jax.random.PRNGKey(3), xs)
print(float(jnp.sum(recurrent.apply(params, xs))), float(jnp.sum(jax.jit(recurrent.apply)(params, xs))))
