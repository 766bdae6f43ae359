import jax
import jax.numpy as jnp
import optax


@jax.jit
def predict(params, x):
    return jnp.dot(x, params)


def loss(params, x, y):
    return optax.squared_error(predict(params, x), y).mean()


keys = jax.random.split(jax.random.key(0), 2)
xs = jax.random.uniform(keys[0], (16, 3), jnp.float32)
ys = xs @ jnp.array([1.0, -2.0, 0.5], jnp.float32)
makers = [
    optax.adam(1e-1),
    optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-1, 50), weight_decay=1e-3)),
    optax.sgd(1e-1, momentum=0.9, nesterov=True),
    optax.lbfgs(),
]
for optimizer in makers:
    params = jnp.zeros(3, jnp.float32)
    state = optimizer.init(params)
    for _ in range(20):
        value, grads = jax.value_and_grad(loss)(params, xs, ys)
        further = (
            {"value": value, "grad": grads, "value_fn": lambda p: loss(p, xs, ys)} if optimizer is makers[-1] else {}
        )
        updates, state = optimizer.update(grads, state, params, **further)
        params = optax.apply_updates(params, updates)
    print(*map(float, params), float(loss(params, xs, ys)))
