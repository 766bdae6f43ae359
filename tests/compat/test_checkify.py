"""`jax.experimental.checkify`: what fails is told as JAX tells it, and results are those of the program without checks."""

from __future__ import annotations

import jax
import jax.experimental.checkify
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.compat.jax.experimental import checkify
from numhlo.lowering.ir.errors import ControlFlowTypeError, UnsupportedError

jax.config.update("jax_enable_x64", True)
jnp = compat.numpy


def programs(jax, checkify):
    """Return checkified programs with arguments."""
    jnp = jax.numpy

    def log(x):
        checkify.check(x > 0, "x must be positive, got {x}", x=x)
        return jnp.log(x)

    def add(total, x):
        checkify.check(x < 3, "{} is too big", x)
        return total + x, total

    def count(n):
        checkify.check(n < 3, "n is {n}", n=n)
        return n + 1

    checked = checkify.checkify
    return [
        (checked(log), (np.array(2.0),)),
        (jax.jit(checked(log)), (np.array(-1.0),)),
        (checked(jax.jit(log)), (np.array(-1.0),)),
        (checked(jax.vmap(log)), (np.array([1.0, -2.0, 3.0]),)),
        (checked(jax.grad(log)), (np.array(-2.0),)),
        (checked(lambda xs: jax.lax.scan(add, 0.0, xs)), (np.arange(5.0),)),
        (jax.jit(checked(lambda n: jax.lax.while_loop(lambda n: n < 5, count, n))), (np.array(0),)),
        (checked(lambda p, x: jax.lax.cond(p, log, lambda x: x, x)), (np.array(False), np.array(-3.0))),
        (checked(lambda x: checkify.debug_check(x > 0, "not so") or x), (np.array(-1.0),)),
        (checked(log, errors=checkify.nan_checks), (np.array(-1.0),)),
        (checked(lambda x, y: x / y, errors=checkify.float_checks), (np.array(1.0), np.array(0.0))),
        (checked(lambda x, y: x / y, errors=checkify.div_checks), (np.array(0.0), np.array(0.0))),
        (checked(lambda x: jnp.exp(x) / 2, errors=checkify.div_checks), (np.array(1000.0),)),
        (checked(jnp.log, errors=checkify.div_checks), (np.array(-1.0),)),
        (jax.jit(checked(lambda x, i: x[i], errors=checkify.all_checks)), (np.arange(3.0), np.array(7))),
    ]


@pytest.mark.slow
def test_what_fails_is_told():
    from_jax = programs(jax, jax.experimental.checkify)
    for (f, args), (wanted, _) in zip(programs(compat, checkify), from_jax, strict=True):
        error, value = f(*args)
        other, expected = wanted(*map(jax.numpy.asarray, args))
        message, others = error.get(), other.get()
        assert message == others or message.startswith(others.split(" for array")[0])
        for mine, theirs in zip(compat.tree.leaves(value), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-14)
        if others is None:
            error.throw()
            checkify.check_error(error)
        else:
            for again in (error.throw, lambda error=error: checkify.check_error(error)):
                with pytest.raises(checkify.JaxRuntimeError) as caught:
                    again()
                assert str(caught.value) == message


def test_outside_checkified_functions():
    checkify.check(True, "fine")
    checkify.debug_check(False, "nobody asks")
    for f in (checkify.check, compat.jit(checkify.check, static_argnums=1)):
        with pytest.raises(ValueError, match=r"^not so \(`check` failed\)"):
            f(False, "not so")
    with pytest.raises(ControlFlowTypeError, match=r"check takes a bool scalar, got bool\[2\]\n.*\n  use jnp.all"):
        checkify.check(jnp.ones(2) > 0, "not so")
    with pytest.raises(UnsupportedError, match=r"called inside a traced one\n.*\n.*call it outside: jit\(checkify"):
        compat.vmap(checkify.checkify(lambda x: x))(np.ones(2))


def test_options_of_jit():
    @checkify.checkify
    def f(x, n):
        checkify.check(x < n, "{} is too big", x)
        return x * n

    error, value = compat.jit(f, static_argnums=1)(np.array(5), 3)
    assert error.get() == "5 is too big (`check` failed)" and value == 15 and "too big" in repr(error)
