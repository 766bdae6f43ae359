"""Two classes told apart, with value and gradient at once."""

import jax.numpy as jnp
from jax import jit, value_and_grad
from jax.nn import sigmoid


@jit
def loss(w, inputs, targets):
    predictions = sigmoid(inputs @ w)
    likelihood = predictions * targets + (1 - predictions) * (1 - targets)
    return -jnp.sum(jnp.log(likelihood))


def main():
    inputs = jnp.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
    targets = jnp.array([True, True, False, True])
    w = jnp.zeros(3)
    values = []
    for _ in range(3):
        value, gradient = value_and_grad(loss)(w, inputs, targets)
        w -= 0.1 * gradient
        values.append(value)
    return w, jnp.stack(values)
