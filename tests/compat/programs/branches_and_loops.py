"""Control flow with pytrees: older forms of cond, switches, loops with traced bounds, scans over dictionaries."""

import jax
import jax.numpy as jnp
from jax import lax


def main():
    add_all = jax.jit(lambda n: lax.fori_loop(0, n, lambda i, total: total + i, 0))
    halve = lax.while_loop(lambda c: c["x"] > 1e-3, lambda c: {"x": c["x"] / 2, "n": c["n"] + 1}, {"x": 1.0, "n": 0})
    outputs = lax.scan(lambda c, x: (c + x["u"], {"sum": c, "twice": 2 * x["u"]}), 0.0, {"u": jnp.arange(3.0)})
    return (
        lax.cond(True, lambda x: x + 1, lambda x: x - 1, operand=jnp.array([0.0])),
        lax.cond(jnp.sum(jnp.ones(2)) > 3, 1.0, jnp.sin, 2.0, jnp.cos),
        lax.switch(7, [lambda x: x, lambda x: -x, lambda x: x**2], 3.0),
        add_all(5),
        halve,
        outputs,
        lax.associative_scan(jnp.add, jnp.arange(5)),
        lax.select(jnp.array([True, False]), jnp.ones(2), jnp.zeros(2)),
        jnp.piecewise(jnp.linspace(-1, 1, 4), [jnp.linspace(-1, 1, 4) < 0], [lambda x: -x, lambda x: x * 2]),
    )
