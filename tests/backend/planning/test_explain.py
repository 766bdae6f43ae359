"""The words for a program name its ops, its loops, and what runs on NumPy."""

import re

import jax
import jax.numpy as jnp
import numpy as np

from numhlo.backend.planning import explain
from tests.backend.programs import from_jax, plan


def test_words():
    def function(x, i):
        y = jax.lax.fori_loop(0, 3, lambda _, c: c + c.sum(), x)
        z = jax.lax.cond(i > 0, lambda v: v * 2, lambda v: v[::-1], y)
        square = z[:81].reshape(9, 9).astype(jnp.bfloat16)
        return jax.lax.linalg.triangular_solve(square, square), jnp.sum(jnp.exp(z))

    lines = explain(plan(from_jax(function, np.zeros(9010, np.float32), 1))).splitlines()
    text = "\n".join(lines)
    assert "NumPy: triangular_solve" in text and "(LAPACK has no bfloat16)" in text
    assert "while" in text and "branch 1" in text and "do" in lines
    assert any("exponential" in line and "units" in line for line in lines)
    assert any("goes on" in line for line in lines)
    assert any(line.startswith("note: a loop takes several steps") for line in lines)
    assert lines[-1].startswith("memory: ")


def test_why_values_are_kept():
    def function(x):
        dear = jnp.exp(x)
        both = jnp.sin(x)
        long = x
        for _ in range(120):
            long = long + x
        shared = jnp.tanh(x)
        results = both.sum(axis=0) + both.sum(axis=1), jnp.log(x[0]) * x, shared / shared.sum(), long
        return jnp.sort(dear, axis=1), jax.lax.logistic(x).T.ravel() * 2, *results

    text = explain(plan(from_jax(function, np.ones((50, 50), np.float32))))
    for why in (
        r"keeps float32\[50,50\] of exponential .*: all of it must be there for sort",
        r"keeps float32\[50,50\] of sine .*: it is reduced along other axes than by reduce",
        r"keeps float32\[50\] of log .*: it is dear, and would be computed more than once in multiply",
        r"keeps float32\[50,50\] of tanh .*: more must be there first for divide",
        r"keeps float32\[50\] of reduce .*: it is there when all of it is reduced",
        r"of add .*: one kernel would become too long with add",
        r"it is dear, and not read in the order of memory by",
    ):
        assert re.search(why, text), f"{why}\n{text}"
