"""A recurrent cell in a scan, its gradient through time, remat, reversed and unrolled scans, second derivatives."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def cell(params, hidden, x):
    hidden = jnp.tanh(x @ params["input"] + hidden @ params["hidden"] + params["bias"])
    return hidden, hidden


def main():
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = {
        "input": 0.3 * jax.random.normal(keys[0], (3, 4)),
        "hidden": 0.3 * jax.random.normal(keys[1], (4, 4)),
        "bias": jnp.zeros(4),
    }
    xs = jax.random.normal(keys[2], (7, 5, 3))

    def loss(params, wrap=lambda f: f):
        step = wrap(partial(cell, params))
        last, states = lax.scan(step, jnp.zeros((5, 4)), xs, unroll=2)
        return jnp.mean(states**2) + jnp.sum(last)

    value, slopes = jax.value_and_grad(loss)(params)
    saved = jax.grad(partial(loss, wrap=jax.checkpoint))(params)
    curvature = jax.hessian(lambda bias: loss({**params, "bias": bias}))(params["bias"])
    backwards = lax.scan(lambda carry, x: (carry + x.sum(), carry), 0.0, xs, reverse=True)
    doubled, _ = lax.scan(lambda carry, _: (carry * 2, None), 1.0, None, length=5)
    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    kept = jax.grad(partial(loss, wrap=partial(jax.checkpoint, policy=policy, prevent_cse=False)))(params)
    return value, slopes, saved, curvature, backwards, doubled, kept
