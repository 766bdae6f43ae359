"""Python functions called from programs: values, order, how often, under every transformation and on both engines."""

import numpy as np
import pytest

import numhlo
from numhlo import debug, lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError

X = np.array([3.0, 1.0, 2.0])
LIKE_X = numhlo.ShapeDtypeStruct((3,), float)
SCALAR = numhlo.ShapeDtypeStruct((), float)


def calls(run):
    """Return what a jitted function reported in a first call, and in one of compiled code."""
    seen = []
    f = numhlo.jit(lambda x: run(x, seen))
    f(X)
    first = list(seen)
    f.wait()
    seen.clear()
    f(X)
    assert seen == first
    return first


def test_values():
    def several(x, k):
        return np.sort(x), {"n": x.sum() * k}

    def f(x, k):
        result = numhlo.pure_callback(several, (LIKE_X, {"n": SCALAR}), x * 2, k=k)
        return *result, numhlo.pure_callback(np.cumsum, LIKE_X, x)

    for g in (f, numhlo.jit(f)):
        ordered, named, sums = g(X, 2)
        assert ordered.tolist() == [2, 4, 6] and named["n"] == 24 and sums.tolist() == [3, 4, 6]
    got = []
    numhlo.jit(lambda x: numhlo.pure_callback(lambda a: got.append(type(a)) or a, LIKE_X, x))(X)
    assert got == [np.ndarray]


def test_arrays_handed_out_stay_as_they_were():
    kept = []

    def f(x):
        numhlo.io_callback(kept.append, None, x * 2)
        y = x * 3
        numhlo.io_callback(kept.append, None, y)
        return np.exp(y) + 1

    numhlo.jit(f)(X)
    assert [k.tolist() for k in kept] == [(2 * X).tolist(), (3 * X).tolist()]


def test_effects_are_in_order_and_happen_once():
    def straight(x, seen):
        numhlo.io_callback(lambda v: seen.append(("a", float(v))), None, x[0])
        y = np.sin(x) * 2
        debug.callback(lambda v: seen.append(("b", float(v))), x[1])
        n = numhlo.io_callback(lambda: seen.append("c") or np.float64(len(seen)), SCALAR)
        return y * n

    assert calls(straight) == [("a", 3.0), ("b", 1.0), "c"]

    def loop(x, seen):
        def body(i, c):
            debug.callback(lambda i, v: seen.append((int(i), float(v))), i, c[0])
            return c + 1

        x = lax.fori_loop(0, 3, body, x)
        _, ys = lax.scan(lambda c, v: (debug.callback(lambda v: seen.append(float(v)), v) or c + v, c), 0.0, x)
        return lax.cond(ys[1] > 0, lambda: debug.callback(lambda: seen.append("yes")) or 1, lambda: 2)

    assert calls(loop) == [(0, 3.0), (1, 4.0), (2, 5.0), 6.0, 4.0, 5.0, "yes"]


def test_unused_calls():
    seen = []

    def f(x):
        numhlo.pure_callback(lambda x: seen.append("pure") or x, LIKE_X, x)
        numhlo.io_callback(lambda x: seen.append("effect") or x, LIKE_X, x)
        return x

    numhlo.jit(f)(X)
    assert seen == ["effect"]


@pytest.mark.parametrize("jit", [False, True])
def test_vmap(jit):
    wrap = numhlo.jit if jit else lambda f: f
    shapes = []

    def total(x, w):
        shapes.append((x.shape, w.shape))
        return (x * w).sum(-1)

    batch = np.arange(6.0).reshape(2, 3)
    for method, expected in {
        None: [((3,), (3,))] * 2,
        "sequential": [((3,), (3,))] * 2,
        "sequential_unrolled": [((3,), (3,))] * 2,
        "expand_dims": [((2, 3), (1, 3))],
        "broadcast_all": [((2, 3), (2, 3))],
    }.items():
        shapes.clear()
        f = wrap(numhlo.vmap(lambda x, m=method: numhlo.pure_callback(total, SCALAR, x, X, vmap_method=m)))
        np.testing.assert_array_equal(f(batch), batch @ X)
        assert shapes == expected
    nested = numhlo.vmap(numhlo.vmap(lambda x: numhlo.pure_callback(np.sin, SCALAR, x, vmap_method="broadcast_all")))
    np.testing.assert_array_equal(wrap(nested)(batch), np.sin(batch))


@pytest.mark.parametrize("jit", [False, True])
def test_derivatives_and_effects(jit, capsys):
    wrap = numhlo.jit if jit else lambda f: f

    @numhlo.custom_jvp
    def sine(x):
        return numhlo.pure_callback(np.sin, SCALAR, x, vmap_method="expand_dims")

    sine.defjvp(lambda p, t: (sine(*p), numhlo.pure_callback(np.cos, SCALAR, p[0], vmap_method="expand_dims") * t[0]))

    def f(x):
        debug.print("x = {:.2f}, {y}", x, y=x * 2)
        return sine(x) ** 2

    assert np.isclose(wrap(numhlo.grad(f))(0.5), np.sin(1.0))
    assert capsys.readouterr().out == "x = 0.50, 1.0\n"
    np.testing.assert_allclose(wrap(numhlo.vmap(numhlo.grad(f)))(X), np.sin(2 * X))
    assert capsys.readouterr().out == "x = 3.00, 6.0\nx = 1.00, 2.0\nx = 2.00, 4.0\n"
    scan = numhlo.grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0])
    expected = np.sin(1.0) * np.sin(2 * np.sin(0.5) ** 2)
    assert np.isclose(wrap(scan)(0.5), expected)
    assert capsys.readouterr().out == f"x = 0.50, 1.0\nx = {np.sin(0.5) ** 2:.2f}, {2 * np.sin(0.5) ** 2}\n"
    with pytest.raises(UnsupportedError):
        wrap(numhlo.grad(lambda x: numhlo.pure_callback(np.sin, SCALAR, x)))(0.5)


def test_what_callbacks_raise_is_raised():
    def bad(x):
        raise KeyError("mine")

    f = numhlo.jit(lambda x: numhlo.pure_callback(bad, LIKE_X, x))
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(X)
    assert numhlo.jit(lambda x: x + 1)(X).tolist() == (X + 1).tolist()


MISTAKES = [
    (lambda x: x[:2], LIKE_X, ShapeError, r"(?s)of shape \[2\].* at test_callbacks.py.*describe the result as it is"),
    (lambda x: x * 1j, LIKE_X, DTypeError, "(?s)complex128.* at test_callbacks.py"),
    (lambda x: (x, x), LIKE_X, ArgumentError, "(?s) at test_callbacks.py.*its results were described"),
    (lambda x: x, 3, ArgumentError, "describe each result by a ShapeDtypeStruct"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[3][:12])
def test_mistakes(mistake):
    callback, result, error, text = mistake
    for wrap in (lambda f: f, numhlo.jit):
        with pytest.raises(error, match=text):
            wrap(lambda x: numhlo.pure_callback(callback, result, x))(X)
    with pytest.raises(ArgumentError, match="vmap_method"):
        numhlo.pure_callback(callback, LIKE_X, X, vmap_method="all")


def test_a_program_read_from_text_has_lost_the_function():
    text = numhlo.jit(lambda x: numhlo.pure_callback(np.sin, LIKE_X, x)).lower(X).as_text()
    module = numhlo.stablehlo.parse(text)
    with pytest.raises(UnsupportedError, match="does not hold the function"):
        module.interpret("main", X)


def test_breakpoints_have_the_values(monkeypatch, capsys):
    seen = []

    def interact(console, banner, exitmsg):
        seen.append((banner, dict(console.locals)))
        raise SystemExit

    monkeypatch.setattr("code.InteractiveConsole.interact", interact)

    @numhlo.jit
    def fun(x):
        pair = {"y": x * 2, "n": 3}
        debug.breakpoint()
        return pair["y"] + 1

    assert float(fun(2.0)) == 5
    banner, values = seen[0]
    assert "test_callbacks.py" in banner and "in fun" in banner
    assert float(values["pair"]["y"]) == 4 and values["pair"]["n"] == 3 and values["numhlo"] is numhlo
    numhlo.vmap(fun)(np.arange(2.0))
    assert [float(v["x"]) for _, v in seen[1:]] == [0, 1]
