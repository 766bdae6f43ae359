"""Blocks that check or say more: NaN, infinities, leaks, compilations, names; and what is computed while tracing."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n
from numhlo.lowering.ir.errors import (
    ArgumentError,
    ConcretizationError,
    InvalidValueError,
    LeakedTracerError,
)


def test_nans_and_infinities_are_found_in_compiled_functions():
    f = numhlo.jit(lambda x, y: n.log(x) + 1 / y)
    assert np.isnan(f(-1.0, 1.0)) and np.isinf(f(1.0, 0.0))
    with numhlo.debug_nans():
        with pytest.raises(InvalidValueError, match=r"^log: nan in a float64\[\], of -1.0\n  at test_looking.py:"):
            f(-1.0, 1.0)
        assert np.isinf(f(1.0, 0.0))
        with numhlo.debug_infs(), pytest.raises(InvalidValueError, match=r"^divide: inf"):
            f(1.0, 0.0)
        with numhlo.debug_infs(), pytest.raises(InvalidValueError, match=r"^log: nan"):
            f(-1.0, 1.0)
        with numhlo.debug_nans(False):
            assert np.isnan(f(-1.0, 1.0))
        seen = []
        thread = threading.Thread(target=lambda: seen.append(f(-1.0, 1.0)))
        thread.start()
        thread.join()
        assert np.isnan(seen[0])
    assert np.isnan(f(-1.0, 1.0)) and f.cache_info().misses == 1

    class Model:
        scale = 2.0

        @numhlo.jit
        def __call__(self, x):
            return n.sqrt(x) * self.scale

    model = Model()
    assert np.isnan(model(-1.0))
    with numhlo.debug_nans(), pytest.raises(InvalidValueError):
        model(-1.0)
    own = numhlo.jit(lambda x: n.log(x), check="inf")
    with numhlo.debug_nans():  # the function's own choice holds
        assert np.isnan(own(-1.0))


@pytest.mark.slow
def test_leaks_are_found_when_tracing_ends():
    kept = []

    class Holder:
        pass

    holder = Holder()

    def clean(x):
        def body(carry, a):
            return carry + a, carry

        carry, sums = numhlo.lax.scan(body, x[0], x)
        inner = numhlo.jit(lambda v: v * x + helper(v))
        helper = lambda v: v + carry
        pulled = numhlo.vjp(lambda t: n.sum(inner(t)), sums)[1](1.0)
        return pulled, numhlo.vmap(lambda t: t * carry)(sums), {"a": sums[1:3]}

    def leaking(x):
        holder.view = x[1:] * 2
        return x

    with numhlo.checking_leaks():
        wanted = numhlo.jit(clean)(np.ones(4))
        with pytest.raises(LeakedTracerError) as caught:
            numhlo.jit(leaking)(np.ones(3))
        with pytest.raises(LeakedTracerError, match="list"):
            numhlo.jit(lambda x: kept.append(x + 1))(2.0)
        with numhlo.checking_leaks(False):
            numhlo.jit(lambda x: kept.append(x + 1))(2.0)
    numhlo.jit(lambda x: kept.append(x + 1))(2.0)
    text = str(caught.value)
    assert text.startswith("leaking leaks a traced array float64[2]\n  at test_looking.py:")
    assert "tracing has ended, and a Holder" in text and text.endswith(
        "return it from the traced function instead of storing it"
    )
    assert wanted[0][0].shape == (4,)


def test_compilations_are_logged(capsys):
    f = numhlo.jit(lambda x: x + 1)
    with numhlo.log_compiles():
        f(np.ones(3))
        f(np.ones(3))
        with numhlo.log_compiles(False):
            f(np.ones(4))
    said = capsys.readouterr().err
    assert said.count("is traced") == 1 and "float64[3]" in said


def test_caches_are_cleared():
    traces = []

    @numhlo.jit
    def f(x):
        traces.append(x.shape)
        return x * 2

    partial = numhlo.jit(f.__wrapped__.__get__(np.ones(2)))
    f(1.0), f(2.0), partial()
    assert len(traces) == 2
    numhlo.clear_caches()
    assert f.cache_info().currsize == partial.cache_info().currsize == 0
    assert f(3.0) == 6 and len(traces) == 3


def test_scopes_name_locations(capsys):
    @numhlo.named_scope("block")
    def inner(x):
        with numhlo.named_scope("attention"):
            y = n.sin(x)
        return y + 1

    f = numhlo.jit(lambda x: numhlo.named_call(inner)(x) * 2)
    with numhlo.debugging(dump="trace"):
        f(np.ones(3))
    places = [line.partition("// ")[2].split(":  ")[0] for line in capsys.readouterr().err.splitlines()]
    scopes = [place.partition(", ")[2] for place in places if place]
    assert scopes == ["inner/block/attention", "inner/block", ""]
    for wrong in ("", 3):
        with pytest.raises(ArgumentError, match="names are strings"), numhlo.named_scope(wrong):
            pass
    with pytest.raises(TypeError, match="named_call: fun is of class int"):
        numhlo.named_call(3)
    assert numhlo.named_call(max, name="largest")(1, 2) == 2


def test_known_values_are_computed_while_tracing():
    @numhlo.jit
    def f(x):
        y = n.zeros(3)
        with numhlo.ensure_compile_time_eval():
            z = n.ones(3) + y
            doubled = numhlo.jit(lambda v: v * 2)(z)
            assert type(z) is numhlo.Array and type(doubled) is numhlo.Array
            assert float(n.linalg.norm(z)) == np.sqrt(3) and y.sum() == 0
            for operation in (lambda: x + 1, lambda: n.sum(x), lambda: numhlo.jit(n.sin)(x), lambda: np.sort(x)):
                with pytest.raises(ConcretizationError) as caught:
                    operation()
                assert str(caught.value).startswith(
                    "an operation at once of a traced array float64[3]\n  at test_looking.py:"
                )
                assert "belongs to argument x of f" in str(caught.value)
        return x + doubled

    assert f(np.ones(3)).tolist() == [3, 3, 3]


def test_types_and_devices():
    assert numhlo.typeof(np.ones((2, 3), "f4")) == numhlo.ShapeDtypeStruct((2, 3), "f4")
    assert numhlo.typeof(2) == numhlo.ShapeDtypeStruct((), "i8", weak_type=True)
    seen = []
    numhlo.jit(lambda x, k: seen.extend([numhlo.typeof(x[0]), numhlo.typeof(k)]))(np.ones((2, 3), "f4"), 1.5)
    assert seen == [numhlo.ShapeDtypeStruct((3,), "f4"), numhlo.ShapeDtypeStruct((), "f8", weak_type=True)]
    x = np.ones(2)
    put = numhlo.device_put({"a": x}, "cpu")["a"]
    put[0] = 5
    assert type(put) is numhlo.Array and x.tolist() == [1, 1]
    assert type(numhlo.device_get(put)) is np.ndarray and numhlo.jit(numhlo.device_put)(x).tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="this machine's processor"):
        numhlo.device_put(x, "gpu")
