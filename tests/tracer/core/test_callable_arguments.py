"""What must be a function, and isn't: one error, at the call, that names the argument."""

import numpy as np
import pytest

import numhlo
from numhlo.errors import ArgumentError, NotCallableError

MISTAKES = {
    "checkpoint": lambda: numhlo.checkpoint(3),
    "closure_convert": lambda: numhlo.closure_convert(3, 1.0),
    "custom_gradient": lambda: numhlo.custom_gradient(3),
    "custom_jvp": lambda: numhlo.custom_jvp(3),
    "custom_vjp": lambda: numhlo.custom_vjp(3),
    "custom_vmap": lambda: numhlo.custom_vmap(3),
    "debug.callback": lambda: numhlo.debug.callback(3),
    "eval_shape": lambda: numhlo.eval_shape(3, 1.0),
    "export": lambda: numhlo.export(3, 1.0),
    "fwd_and_bwd": lambda: numhlo.fwd_and_bwd(3, 0),
    "grad": lambda: numhlo.grad(3),
    "hessian": lambda: numhlo.hessian(3),
    "io_callback": lambda: numhlo.io_callback(3, None),
    "jacfwd": lambda: numhlo.jacfwd(3),
    "jacrev": lambda: numhlo.jacrev(3),
    "jit": lambda: numhlo.jit(3),
    "jvp": lambda: numhlo.jvp(3, (1.0,), (1.0,)),
    "kernel": lambda: numhlo.kernel(3, result=None),
    "linear_transpose": lambda: numhlo.linear_transpose(3, 1.0),
    "linearize": lambda: numhlo.linearize(3, 1.0),
    "named_call": lambda: numhlo.named_call(3),
    "pure_callback": lambda: numhlo.pure_callback(3, np.ones(2)),
    "vjp": lambda: numhlo.vjp(3, 1.0),
    "vmap": lambda: numhlo.vmap(3),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_no_function(name):
    with pytest.raises(NotCallableError, match=rf"^{name}: \w+ is of class int, no function\n  at test_callable_arg"):
        MISTAKES[name]()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"static_argnums": "x"}, "jit: static_argnums='x'"),
        ({"static_argnums": [0, 1.5]}, r"jit: static_argnums=\[0, 1.5\]"),
        ({"donate_argnums": 1.5}, "jit: donate_argnums=1.5"),
        ({"static_argnames": 3}, "jit: static_argnames=3"),
        ({"donate_argnames": ["x", 0]}, r"jit: donate_argnames=\['x', 0\]"),
    ],
)
def test_positions_and_names_of_arguments(options, message):
    with pytest.raises(ArgumentError, match=rf"{message}\n  at .*\n  give (positions|names) of arguments"):
        numhlo.jit(lambda x: x, **options)


def test_positions_may_be_integers_of_numpy():
    assert numhlo.jit(lambda x, n: x * n, static_argnums=np.int64(1))(2.0, 3) == 6.0
    with pytest.raises(ArgumentError, match=r"argnums=1\.5"):
        numhlo.grad(lambda x: x, argnums=1.5)(1.0)


async def waits(x):
    return x


def yields(x):
    yield x


@pytest.mark.parametrize("transform", [numhlo.jit, numhlo.vmap, numhlo.grad, numhlo.export])
def test_what_runs_nothing_when_it_is_called(transform):
    for fun, called in ((waits, "an async function"), (yields, "a generator")):
        with pytest.raises(NotCallableError, match=rf"{transform.__name__}: fun is {called}\n  at test_callable_arg"):
            transform(fun)


def test_decorators_of_methods():
    class Model:
        @numhlo.jit
        @staticmethod
        def double(x):
            return x * 2

        @numhlo.jit(static_argnames="n")
        @staticmethod
        def times(x, n):
            return x * n

    assert Model.double(1.0) == Model().double(1.0) == 2.0 and Model().times(2.0, n=2) == 4.0
    assert "tensor<3xf64>" in Model.double.lower(np.ones(3)).as_text()
    for decorator in (classmethod, property):
        with pytest.raises(NotCallableError, match=rf"write @{decorator.__name__} above"):
            numhlo.jit(decorator(lambda self: self))
