import flax.linen as nn
import jax
import numpy as np
import optax
from sklearn.datasets import load_digits

x, y = load_digits(return_X_y=True)
x, y = (x / 16).astype(np.float32), y.astype(np.int32)
count = len(x) // 100 * 100


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (64, 64):
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(10)(x)


network = Network()
params = network.init(jax.random.PRNGKey(0), x[:1])
optimizer = optax.adam(3e-3)
state = optimizer.init(params)


def loss(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(network.apply(params, x), y).mean()


@jax.jit
def step(params, state, x, y):
    value, slopes = jax.value_and_grad(loss)(params, x, y)
    updates, state = optimizer.update(slopes, state, params)
    return optax.apply_updates(params, updates), state, value


for epoch in range(20):
    order = np.random.default_rng(epoch).permutation(count)
    for k in range(0, count, 100):
        rows = order[k : k + 100]
        params, state, value = step(params, state, x[rows], y[rows])
print(f"{float(value):.4f} {float((jax.jit(network.apply)(params, x).argmax(1) == y).mean()):.4f}")
