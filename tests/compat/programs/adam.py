"""An optimizer as two pure functions."""

import jax
import jax.numpy as jnp


def adam(rate, b1=0.9, b2=0.999, eps=1e-8):
    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return zeros, zeros, 0

    def update(grads, state):
        m, v, count = state
        count = count + 1
        m = jax.tree.map(lambda a, g: b1 * a + (1 - b1) * g, m, grads)
        v = jax.tree.map(lambda a, g: b2 * a + (1 - b2) * g**2, v, grads)
        change = lambda a, s: -rate * (a / (1 - b1**count)) / (jnp.sqrt(s / (1 - b2**count)) + eps)
        return jax.tree.map(change, m, v), (m, v, count)

    return init, update


def rosenbrock(p):
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


def main():
    init, update = adam(0.05)
    params = {"x": jnp.array(-1.0), "y": jnp.array(1.0)}

    def step(carry, _):
        params, state = carry
        value, grads = jax.value_and_grad(rosenbrock)(params)
        change, state = update(grads, state)
        return (jax.tree.map(jnp.add, params, change), state), value

    (params, state), values = jax.lax.scan(step, (params, init(params)), length=20)
    return params, state, values
