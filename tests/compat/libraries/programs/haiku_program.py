import haiku as hk
import jax
import jax.numpy as jnp


def network(images):
    mlp = hk.Sequential([hk.Flatten(), hk.Linear(16), jax.nn.relu, hk.Linear(10)])
    return mlp(images)


transformed = hk.without_apply_rng(hk.transform(network))
images = jax.random.normal(jax.random.PRNGKey(0), (4, 5, 5), jnp.float32)
labels = jnp.array([1, 2, 3, 4])
params = transformed.init(jax.random.PRNGKey(42), images)


@jax.jit
def loss(params):
    logits = transformed.apply(params, images)
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 10) * jax.nn.log_softmax(logits), axis=-1))


for _ in range(5):
    grads = jax.grad(loss)(params)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
print(float(loss(params)), *[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves(params)])


def recurrent(xs):
    core = hk.LSTM(6)
    out, _ = hk.dynamic_unroll(core, xs, core.initial_state(xs.shape[1]))
    return hk.BatchNorm(True, True, 0.9)(out, is_training=True)


model = hk.transform_with_state(recurrent)
xs = jax.random.normal(jax.random.PRNGKey(1), (3, 2, 4), jnp.float32)
params, state = model.init(jax.random.PRNGKey(2), xs)
out, state = jax.jit(model.apply)(params, state, None, xs)
print(float(jnp.sum(out**3)), *[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves(state)])
