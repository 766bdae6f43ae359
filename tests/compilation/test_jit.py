"""`jit`: what may be passed and returned, NumPy's semantics of writes, statics, nesting, methods, donation, threads."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import namedtuple

import numpy as np
import pytest

import numhlo
from numhlo import ShapeDtypeStruct, tree_util
from numhlo.lowering.ir.errors import (
    ArgumentError,
    DTypeError,
    LeakedTracerError,
    MutationError,
    StaticArgumentError,
)

Pair = namedtuple("Pair", "first second")


def traced_count(f):
    return f.cache_info().misses


def test_pytrees_in_and_out():
    @numhlo.jit
    def f(params, *rest, scale, **options):
        w, b = params["w"], params["b"]
        return Pair(w * scale + b[0], None), [r + 1 for r in rest], {"o": options["k"] * 2, "n": 3}

    params = {"w": np.ones(2), "b": (np.float32(1), [])}
    out = f(params, 1, np.arange(2), scale=2.0, k=np.int8(4))
    assert isinstance(out[0], Pair) and out[0].second is None
    assert out[0].first.tolist() == [3.0, 3.0]
    assert [r.tolist() for r in out[1]] == [2, [1, 2]]
    assert out[2]["o"].dtype == np.int8 and out[2]["o"] == 8 and out[2]["n"] == 3
    assert all(type(x) is numhlo.Array and x.flags.owndata for x in tree_util.tree_leaves(out))
    assert numhlo.jit(lambda: ())() == () and numhlo.jit(lambda x: None)(1) is None


def test_python_scalars_are_weak_and_keyed_by_class():
    f = numhlo.jit(lambda x, s: x * s)
    x = np.ones(2, np.float32)
    assert f(x, 2.0).dtype == np.float32 and f(x, 3.5)[0] == 3.5 and traced_count(f) == 1
    assert f(x, 2).dtype == np.float32 and f(x, True).dtype == np.float32 and traced_count(f) == 3
    assert f(x, np.float64(2)).dtype == np.float64 and f(x, np.array(2.0)).dtype == np.float64 and traced_count(f) == 4
    assert f(x, 1j).dtype == np.complex64 and f(2, 3).dtype == np.int64
    with pytest.raises(ArgumentError, match=r"argument s is 36893488147419103232, which int64 can't hold"):
        f(2, 2**65)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(">f8"),
        lambda x: np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(x.shape),
        lambda x: np.broadcast_to(x, x.shape),
        lambda x: x.view(np.recarray),
        lambda x: np.ma.array(x).data,
        lambda x: x.view(numhlo.Array),
    ],
)
def test_any_memory_layout(make):
    x = np.arange(6.0).reshape(2, 3)
    f = numhlo.jit(lambda x: (x * 2, x))
    result = f(make(x))
    for r, expected in zip(result, (x * 2, x), strict=True):
        assert r.dtype == np.float64 and r.flags.c_contiguous and r.flags.writeable and type(r) is numhlo.Array
        np.testing.assert_array_equal(r, expected)


def test_results_never_alias():
    f = numhlo.jit(lambda x: (x, x, x.T, x[0], x.reshape(-1)))
    x = np.ones((2, 2))
    out = f(x)
    for k, r in enumerate(out):
        r[...] = k + 5
    assert x.tolist() == [[1, 1], [1, 1]]
    assert [int(r.flat[0]) for r in out] == [5, 6, 7, 8, 9]
    constant = numhlo.jit(lambda: np.zeros(3))
    constant()[:] = 1
    assert constant().tolist() == [0, 0, 0]


def test_writes_reach_the_caller():
    @numhlo.jit
    def f(x, params):
        x[1:] += 10
        view = x[::2]
        view *= 2
        params["w"][0] = x[0]
        return x.sum()

    def plain(x, params):
        return f.__wrapped__(x, params)

    for make in (lambda a: a, lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(">f8")):
        x, w = make(np.arange(4.0)), np.zeros(2)
        y, v = np.arange(4.0), np.zeros(2)
        assert f(x, {"w": w}) == plain(y, {"w": v})
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(w, v)
    f(np.float64(3) * np.ones(4), {"w": np.zeros(1)})
    add = numhlo.jit(lambda x: np.add(x, 1, out=x))
    x = np.arange(3)
    add(x)
    assert x.tolist() == [1, 2, 3]
    increment = numhlo.jit(in_place)
    assert increment(5) == 6 and increment(np.float32(5)) == 6


def in_place(x):
    x += 1
    return x


def test_whether_a_reshape_is_a_view_depends_on_the_layout():
    @numhlo.jit
    def f(x):
        x.reshape(-1)[0] = 99
        return x

    def same_layout(x):
        return np.lib.stride_tricks.as_strided(np.zeros(100), x.shape, x.strides)

    for x in (np.zeros((2, 2)), np.zeros((2, 4))[:, ::2], np.zeros((2, 3))[:, :2], np.asfortranarray(np.zeros((2, 2)))):
        expected = f.__wrapped__(same_layout(x))
        assert f(same_layout(x)).tolist() == expected.tolist()
        y = same_layout(x)
        f(y)
        assert y.tolist() == expected.tolist()
    assert traced_count(f) == 4
    assert "layout: x was laid out differently" in f.explain()

    @numhlo.jit
    def g(x):
        y = x[:, :2]
        y.reshape(2, 8)[0] = 1
        y.reshape(4, 4)[0] = 2
        y.T.reshape(-1)[0] = 3
        y.flat[-1] = 4
        y.ravel()[0] = 5
        x[0].ravel()[-1] = 6
        return x

    x = np.zeros((2, 3, 4))
    expected = g.__wrapped__(x.copy())
    np.testing.assert_array_equal(g(x), expected)
    np.testing.assert_array_equal(x, expected)


def test_writes_that_can_not_be():
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(MutationError) as caught:
        numhlo.jit(in_place)(x)
    assert str(caught.value).splitlines()[0] == "in_place writes into argument x, which is read-only"
    assert str(caught.value).splitlines()[2] == (
        "  arrays that a jitted function writes into are updated for the caller, as NumPy does; "
        "pass a copy, or don't write into the argument"
    )

    @numhlo.jit
    def two(x, y):
        x += y
        return x

    base = np.arange(6.0)
    with pytest.raises(MutationError, match="two writes into argument x, which shares memory with argument y"):
        two(base[:3], base[1:4])
    assert base.tolist() == [0, 1, 2, 3, 4, 5]
    two(base[::2], base[1::2])
    assert base.tolist() == [1, 1, 5, 3, 9, 5]
    reading = numhlo.jit(lambda x, y: x + y)
    assert reading(base, base).tolist() == (2 * base).tolist()
    captured = numhlo.jit(lambda x: np.add(x, base, out=x))
    with pytest.raises(MutationError, match="shares memory with an array that it captures"):
        captured(base)


def test_static_arguments():
    traced = []

    @functools.partial(numhlo.jit, static_argnames=("n", "mode"))
    def f(x, n, *, mode="a"):
        traced.append((n, mode))
        return x * n if mode == "a" else x + n

    assert f(1.0, 2) == 2 and f(1.0, n=2) == 2 and f(1.0, 3, mode="b") == 4
    assert traced == [(2, "a"), (2, "a"), (3, "b")]  # by number and by name are two signatures
    f(1.0, 2)
    assert len(traced) == 3
    f(1.0, True)
    f(1.0, 1)
    f(1.0, 1.0)
    assert traced[3:] == [(True, "a"), (1, "a"), (1.0, "a")]
    g = numhlo.jit(lambda x, shape: np.zeros_like(x) + np.ones(shape), static_argnums=-1)
    assert g(np.float32(0), (2, 3)).shape == (2, 3)
    assert numhlo.jit(lambda x, s: x[s], static_argnums=1)(np.arange(4), slice(1, 3)).tolist() == [1, 2]
    with pytest.raises(StaticArgumentError) as caught:
        g(1.0, [2, 3])
    assert str(caught.value) == (
        "static argument 1 is of class list, which can't be hashed\n"
        f"  at {caught.value.where.describe()}\n"
        "  a static value is part of the key under which the compiled function is kept; pass a tuple instead of a list"
    )
    with pytest.raises(ArgumentError, match="static_argnames names 'y', but the arguments are x"):
        numhlo.jit(lambda x: x, static_argnames="y")
    with pytest.raises(ArgumentError, match="static_argnums has 2, but the function takes 1 positional arguments"):
        numhlo.jit(lambda x: x, static_argnums=2)


def test_arguments_that_can_not_be_traced():
    f = numhlo.jit(lambda x, y=None: x)
    for bad, dtype in [
        (np.array("a"), "<U1"),
        (np.array([None]), "object"),
        (np.zeros(2, "M8[s]"), r"datetime64\[s\]"),
    ]:
        with pytest.raises(DTypeError, match=rf"argument x\['k'\] has dtype {dtype}, which can't be traced"):
            f({"k": bad})
    with pytest.raises(DTypeError, match="has dtype float128"):
        f(np.longdouble(1))
    with pytest.raises(DTypeError) as caught:
        f(1, y=[object()])
    assert str(caught.value) == (
        "argument y[0] is of class object, which can't be traced\n"
        f"  at {caught.value.where.describe()}\n"
        "  arguments are arrays, numbers, and containers of them; "
        "make it a static argument (static_argnums, static_argnames), or register its class as a pytree"
    )
    with pytest.raises(DTypeError, match=r"the result\[1\] of lambda is of class str"):
        numhlo.jit(lambda x: (x, "a"))(1)


def test_nested_jit_is_one_function_called_twice():
    inner = numhlo.jit(lambda x, k: {"y": x * k})
    outer = numhlo.jit(lambda x: inner(inner(x, 2)["y"], 3)["y"] + inner(np.ones(2), 4)["y"])
    assert outer(np.arange(2.0)).tolist() == [4, 10]
    text = outer.lower(np.arange(2.0)).as_text()
    assert text.count("func.func private") == 1 and text.count("call @") == 3
    flat = numhlo.jit(lambda x: numhlo.jit(lambda y: y + 1, inline=True)(x))
    assert "call" not in flat.lower(1.0).as_text() and flat(1.0) == 2
    assert inner.cache_info().currsize == 0


def test_nested_jit_writes_and_captures():
    @numhlo.jit
    def scale(x, k):
        x *= k

    @numhlo.jit
    def f(x):
        y = x + 0
        scale(y[1:], 10)
        total = y.sum()
        add = numhlo.jit(lambda z: z + total)
        first = add(x)
        total = total * 2
        return y, first, add(x)

    def plain(x):
        with numhlo.disable_jit():
            return f(x)

    x = np.arange(3.0)
    for a, b in zip(f(x), plain(x), strict=True):
        np.testing.assert_array_equal(a, b)
    overlapping = numhlo.jit(lambda x: two_views(x[1:], x[:-1]))
    two_views = numhlo.jit(lambda a, b: np.add(a, b, out=a))
    with pytest.raises(MutationError, match="argument leaf 0, which shares memory with leaf 1"):
        overlapping(x)


class Model:
    def __init__(self, scale):
        self.scale = scale
        self.calls = 0

    @numhlo.jit
    def apply(self, x):
        return x * self.scale

    @functools.partial(numhlo.jit, static_argnames="n")
    def power(self, x, n):
        """Return the power."""
        return x**n * self.scale

    @classmethod
    @numhlo.jit
    def build(cls, x):
        return cls(2).apply(x)

    @staticmethod
    @numhlo.jit
    def plain(x):
        return x + 1


@pytest.mark.not_every_call  # looks at what is kept alive
def test_methods():
    a, b = Model(2), Model(3)
    assert a.apply(2.0) == 4 and b.apply(2.0) == 6 and a.apply(1.0) == 2
    assert Model.apply.cache_info()[:2] == (1, 2)
    assert a.power(2.0, n=3) == 16 and Model.apply(b, 1.0) == 3
    assert Model.build(2.0) == 4 and Model.plain(1) == 2 and a.plain(1) == 2
    assert "multiply" in a.apply.lower(1.0).as_text() and a.apply.eval_shape(1.0) == ShapeDtypeStruct(
        (), float, weak_type=True
    )
    assert numhlo.jit(a.apply.__self__.power, static_argnames="n")(1.0, n=1) == 2
    before = Model.apply.cache_info().currsize
    del a, b
    Model(5).apply(1.0)
    assert Model.apply.cache_info().currsize < before  # entries of dead objects go


def test_bound_methods_show_what_they_have():
    method = Model(2).power
    assert {"explain", "lower", "wait"} <= set(dir(method))
    assert str(inspect.signature(method)) == "(x, n)" and method.__doc__ == "Return the power."


def test_methods_of_pytrees_and_of_values():
    @tree_util.register_pytree_node_class
    class Weights:
        def __init__(self, w):
            self.w = w

        def tree_flatten(self):
            return (self.w,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

        @numhlo.jit
        def dot(self, x):
            return (self.w * x).sum()

    assert Weights(np.ones(2)).dot(3.0) == 6 and Weights(np.zeros(2)).dot(3.0) == 0
    assert Weights.dot.cache_info().misses == 1

    class Config(namedtuple("ConfigBase", "k")):
        @numhlo.jit
        def scale(self, x):
            return self.k * x

    assert Config(2.0).scale(3.0) == 6 and Config(4.0).scale(3.0) == 12 and Config.scale.cache_info().misses == 1

    class ByValue:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return self.k == other.k

        def __hash__(self):
            return hash(self.k)

        @numhlo.jit
        def scale(self, x):
            return self.k * x

    assert ByValue(2).scale(3.0) == 6 and ByValue(2).scale(1.0) == 2 and ByValue.scale.cache_info().misses == 1


def test_callables_of_every_kind():
    assert numhlo.jit(functools.partial(lambda k, x: x * k, 3))(2.0) == 6
    assert numhlo.jit(np.sin)(0.0) == 0
    assert numhlo.jit(numhlo.jit(lambda x: x + 1))(1) == 2
    m = Model(7)
    m.__class__.__call__ = lambda self, x: x - self.scale
    assert numhlo.jit(m)(10.0) == 3
    assert numhlo.jit(inline=True)(lambda x: x)(1) == 1
    with pytest.raises(TypeError, match="jit: fun is of class int, no function"):
        numhlo.jit(3)

    @numhlo.jit
    def documented(x):
        """Say so."""
        return x

    assert documented.__name__ == "documented" and documented.__doc__ == "Say so." and documented.__wrapped__(3) == 3
    assert repr(documented).startswith("<jitted <function test_callables_of_every_kind.<locals>.documented")


def test_one_cache_for_all_wrappers_of_a_function():
    traced = []

    def f(x):
        traced.append(1)
        return x

    for _ in range(3):
        numhlo.jit(f)(1.0)
    assert len(traced) == 1


def test_donation():
    f = numhlo.jit(lambda x, y: x + y, donate_argnums=0)
    assert f(np.ones(3), np.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(ArgumentError, match="was given argument x to reuse its memory, but it is of class float"):
        f(1.0, 2.0)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ArgumentError, match="was given argument x to reuse its memory, but it is read-only"):
        f(frozen, np.ones(3))
    g = numhlo.jit(lambda *, state: {"a": state["a"] * 2}, donate_argnames="state")
    assert g(state={"a": np.ones(2)})["a"].tolist() == [2, 2]


def test_disable_jit():
    seen = []

    @numhlo.jit
    def f(x):
        seen.append(str.__str__(f"{x}"))
        return x

    with numhlo.disable_jit():
        f(1.0)
        with numhlo.disable_jit(False):
            f(1.0)
    assert seen == ["1.0", "Traced<float64[]>"] and f.cache_info().misses == 1


def test_eval_shape():
    f = lambda x, k: {"a": x.sum(axis=0) * k, "b": 1}
    expected = {"a": ShapeDtypeStruct((3,), np.float32), "b": ShapeDtypeStruct((), np.int64, weak_type=True)}
    assert numhlo.eval_shape(f, ShapeDtypeStruct((2, 3), "float32"), 2.0) == expected
    assert numhlo.jit(f).eval_shape(np.ones((2, 3), np.float32), k=2) == expected


def test_first_calls_from_many_threads_trace_once():
    traced, barrier, results = [], threading.Barrier(8), []

    @numhlo.jit
    def f(x):
        traced.append(1)
        return x * 2

    def call(k):
        barrier.wait()
        results.append(float(f(float(k))))

    threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(traced) == 1 and sorted(results) == [2.0 * k for k in range(8)]


def test_leaked_tracers():
    kept = []

    @numhlo.jit
    def f(x):
        kept.append(x * 2)
        return x

    f(1.0)
    with pytest.raises(LeakedTracerError) as caught:
        numhlo.jit(lambda y: y + kept[0])(1.0)
    lines = str(caught.value).splitlines()
    assert lines[0] == "a traced array float64[] was used after its trace had ended"
    assert "in test_leaked_tracers.<locals>.<lambda>:  numhlo.jit(lambda y: y + kept[0])(1.0)" in lines[1]
    assert "in test_leaked_tracers.<locals>.f:  kept.append(x * 2)" in lines[2]
    with pytest.raises(LeakedTracerError):
        f(kept[0])
    with pytest.raises(LeakedTracerError):
        kept[0] + 1


def test_a_failed_trace_leaves_nothing_behind():
    fail = [True]

    @numhlo.jit
    def f(x):
        if fail.pop():
            raise ValueError("mine")
        return x

    with pytest.raises(ValueError, match="mine"):
        f(1.0)
    fail[:] = [False]
    assert f(1.0) == 1 and f.cache_info().currsize == 1


def test_recursion_of_values_through_two_wrappers():
    f = numhlo.jit(lambda x: x + 1)
    assert numhlo.jit(lambda x: f(f(x)))(1) == 3
