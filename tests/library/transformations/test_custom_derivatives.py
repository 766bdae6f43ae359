"""custom_jvp, custom_vjp, custom_gradient, checkpoint and their kin: the same programs under JAX, in many orders."""

import functools

import jax
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError

pytestmark = pytest.mark.usefixtures("first_answers")

jax.config.update("jax_enable_x64", True)
OURS = numhlo.compat.jax


def make_safe_power(lib):
    """x ** y with a rule whose derivative at zero is zero, and an option."""

    @functools.partial(lib.custom_jvp, nondiff_argnums=(2,))
    def power(x, y, scale):
        return scale * x**y

    @power.defjvp
    def rule(scale, primals, tangents):
        x, y = primals
        dx, dy = tangents
        out = power(x, y, scale)
        safe = lib.numpy.where(x > 0, x, 1.0)
        return out, lib.numpy.where(x > 0, scale * y * safe ** (y - 1) * dx + out * lib.numpy.log(safe) * dy, 7.0 * dx)

    return lambda x: power(x, 2.5, 3.0) + power(lib.numpy.abs(x), x * 0.5, 1.0)


def make_tree_rule(lib):
    """Dictionaries in and out, one tangent unused, and control flow inside the rule."""

    @lib.custom_jvp
    def f(tree):
        return {"s": lib.numpy.sin(tree["a"]) * tree["b"], "n": tree["b"]}

    @f.defjvp
    def rule(primals, tangents):
        (p,), (t,) = primals, tangents
        out = f(p)
        slope, _ = lib.lax.scan(lambda c, k: (c * 0.5 + k * t["a"], None), t["b"], lib.numpy.arange(3.0))
        return out, {"s": slope * lib.numpy.cos(p["a"]), "n": t["b"]}

    def run(x):
        out = f({"a": x, "b": 2.0 * x})
        return out["s"] + out["n"] ** 2

    return run


def make_defjvps(lib):
    @lib.custom_jvp
    def f(x, y, z):
        return lib.numpy.sin(x) * y + z

    f.defjvps(lambda t, ans, x, y, z: 2.0 * lib.numpy.cos(x) * t * y, None, lambda t, ans, x, y, z: ans * t)
    return lambda x: f(x, x * x, 3.0 * x)


def make_clipped_gradient(lib):
    """Residuals in a nested structure, and a cotangent that is left out."""

    @lib.custom_vjp
    def f(x, y):
        return x * lib.numpy.sin(y), y

    def forward(x, y):
        return f(x, y), {"y": (y, lib.numpy.cos(y)), "x": x}

    def backward(residuals, cotangents):
        y, cos = residuals["y"]
        return lib.numpy.clip(cotangents[0] * lib.numpy.sin(y), -0.2, 0.2), residuals["x"] * cos * cotangents[0] * 3

    f.defvjp(forward, backward)

    def run(x):
        a, b = f(x, 0.5 * x)
        return a * b

    return run


def make_fixed_point(lib):
    """An implicit function: the root of a contraction, with the rule that the implicit function theorem gives."""

    @functools.partial(lib.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        def unfinished(carry):
            before, now = carry
            return lib.numpy.abs(before - now) > 1e-12

        return lib.lax.while_loop(unfinished, lambda c: (c[1], f(a, c[1])), (guess, f(a, guess)))[1]

    def forward(f, a, guess):
        root = fixed_point(f, a, guess)
        return root, (a, root)

    def backward(f, residuals, cotangent):
        a, root = residuals
        _, pull_root = lib.vjp(lambda x: f(a, x), root)
        total = lib.lax.fori_loop(0, 60, lambda _, w: cotangent + pull_root(w)[0], cotangent)
        _, pull_a = lib.vjp(lambda a: f(a, root), a)
        return pull_a(total)[0], lib.numpy.zeros_like(root)

    fixed_point.defvjp(forward, backward)
    return lambda x: fixed_point(lambda a, x: 0.5 * (x + a / x), x * x + 1.0, 1.0)


def make_custom_gradient(lib):
    @lib.custom_gradient
    def f(x, y):
        e = lib.numpy.exp(x)
        return lib.numpy.log1p(e) * y, lambda g: (g * y * (1 - 1 / (1 + e)), g)

    return lambda x: f(x, 2.0 * x) * f(2.0, x)


def make_checkpointed(lib):
    @lib.checkpoint
    def layer(x, w):
        return lib.numpy.sin(x * w) + x

    @functools.partial(lib.checkpoint, static_argnums=(1,))
    def twice(x, times):
        for _ in range(times):
            x = layer(x, 0.5)
        return x

    return lambda x: lib.lax.scan(lambda c, w: (layer(twice(c, 2), w), c), x, lib.numpy.linspace(0.1, 1.0, 4))[0]


FORWARD = [make_safe_power, make_tree_rule, make_defjvps, make_checkpointed]
BACKWARD = [make_clipped_gradient, make_fixed_point, make_custom_gradient]
POINTS = np.array([0.7, 1.3, 2.1])


def results_of(lib, make, jit):
    """Return the program under the transformations that it allows."""
    f = make(lib)
    wrap = lib.jit if jit else lambda g: g
    x = lib.numpy.asarray(POINTS)
    found = [
        wrap(f)(0.7),
        wrap(lib.grad(f))(0.7),
        wrap(lib.vmap(f))(x),
        wrap(lib.vmap(lib.grad(f)))(x),
        wrap(lib.grad(lambda x: lib.vmap(f)(x).sum()))(x),
        wrap(lib.jacrev(lib.vmap(f)))(x),
        wrap(lib.grad(lambda x: lib.lax.cond(x > 1, f, lambda x: 2 * x, x)))(1.5),
        wrap(lib.grad(lambda x: lib.lax.scan(lambda c, k: (f(c) * 0.3 + k, f(c)), x, lib.numpy.arange(3.0))[1].sum()))(
            0.7
        ),
    ]
    if make in FORWARD:
        found += [
            wrap(lib.jacfwd(f))(0.7),
            wrap(lib.grad(lib.grad(f)))(0.7),
            *wrap(lambda x: lib.jvp(f, (x,), (2.0,)))(0.7),
        ]
    return [np.asarray(r) for r in found]


@functools.cache
def expected_of(make):
    return results_of(jax, make, jit=True)


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", [*FORWARD, *BACKWARD], ids=lambda make: make.__name__[5:])
def test_same_as_jax(make, jit):
    expected = expected_of(make)
    found = results_of(OURS, make, jit)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"result {k}")


def test_rules_say_whose_they_are():
    for kind in (numhlo.custom_jvp, numhlo.custom_vjp, numhlo.custom_vmap):
        assert repr(kind(np.sin)) == f"<{kind.__name__} <ufunc 'sin'>>"


def test_outside_tracing_the_function_itself_runs():
    f = numhlo.custom_jvp(lambda x: type(x))
    assert f(3.0) is float and numhlo.custom_vjp(lambda x: type(x))(np.ones(2)) is np.ndarray
    assert numhlo.checkpoint(lambda x: type(x))(1) is int


def test_python_control_flow_in_a_rule():
    @numhlo.custom_jvp
    def f(x):
        return x if x > 0 else 0.0 * x

    @f.defjvp
    def rule(primals, tangents):
        return f(*primals), tangents[0] * (5.0 if primals[0] > 0 else -5.0)

    assert [float(numhlo.grad(f)(x)) for x in (2.0, -2.0)] == [5.0, -5.0]


def test_a_rule_that_calls_the_function_with_tangents():
    weights, x = np.array([[2.0, 1.0], [0.5, 3.0], [1.0, 1.0]]), np.array([1.0, 2.0])

    @numhlo.custom_jvp
    def product(x):
        return weights @ x * 4.0

    product.defjvp(lambda p, t: (product(*p), product(*t)))
    square, slopes = lambda x: (product(x) ** 2).sum(), 4 * weights
    np.testing.assert_allclose(numhlo.jacrev(product)(x), slopes)
    np.testing.assert_allclose(numhlo.hessian(square)(x), 2 * slopes.T @ slopes)
    np.testing.assert_allclose(numhlo.linearize(product, x)[1](x), slopes @ x)


def test_keyword_arguments_and_names():
    @functools.partial(numhlo.custom_jvp, nondiff_argnames=["kind"])
    def f(x, kind="sin"):
        return getattr(np, kind)(x)

    f.defjvp(lambda kind, p, t: (f(*p, kind), t[0] * (1.0 if kind == "sin" else 2.0)))
    assert [float(numhlo.grad(lambda x, k=k: f(x, kind=k))(0.0)) for k in ("sin", "cos")] == [1.0, 2.0]
    g = numhlo.custom_gradient(lambda x, y: (x * y, lambda slope: (slope * 3.0, slope)))
    assert g(2.0, y=5.0) == 10.0 and float(numhlo.grad(lambda x: g(y=5.0, x=x))(2.0)) == 3.0


def test_rules_are_given_defaults():
    scaled = numhlo.custom_jvp(lambda x, y=2.0: x * y)
    scaled.defjvp(lambda p, t: (scaled(*p), 7 * t[0] + t[1] * p[0]))
    assert numhlo.grad(scaled)(1.0) == 7 and numhlo.grad(lambda x: scaled(3.0, x))(1.0) == 3
    shifted = OURS.custom_vjp(lambda x, y=2.0: x + y)
    shifted.defvjp(lambda x, y=2.0: (x + y, y), lambda y, g: (g * y, None))
    assert OURS.grad(shifted)(1.0) == 2 and OURS.vmap(OURS.grad(shifted))(np.ones(2)).tolist() == [2, 2]


def test_text_is_plain_stablehlo():
    f = numhlo.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (np.sin(x), x), lambda x, g: (g * np.cos(x),))
    text = numhlo.jit(numhlo.vmap(f)).lower(np.ones(3)).as_text()
    assert 'stablehlo.composite "numhlo.custom_vjp"' in text and "forward_derivative" not in text
    assert "custom" not in numhlo.jit(numhlo.grad(f)).lower(1.0).as_text()


def test_linear_transpose():
    f = lambda x, y: {"a": x[:2] * 3.0 + y, "b": np.cumsum(x)}
    x, y = np.arange(3.0), np.ones(2)
    cotangents = {"a": np.array([1.0, 2.0]), "b": np.array([1.0, 0.5, 0.25])}
    found = numhlo.linear_transpose(f, x, numhlo.ShapeDtypeStruct((2,), np.dtype(float)))(cotangents)
    _, pull = numhlo.vjp(f, x, y)
    for a, b in zip(found, pull(cotangents), strict=True):
        np.testing.assert_allclose(a, b)
    assert numhlo.jit(numhlo.linear_transpose(lambda x: 2 * x, 1.0))(3.0)[0] == 6.0
    several = numhlo.jit(lambda x, y: (x[1:] * 2 + y, np.ones(2), x))
    of_calls = lambda x: several(x, several(x, x[0])[0])[0] + x[:2]
    (turned,) = numhlo.linear_transpose(of_calls, np.ones(3))(np.array([1.0, 10.0]))
    np.testing.assert_array_equal(turned, np.array([1.0, 10.0]) @ np.array([of_calls(row) for row in np.eye(3)]).T)
    with pytest.raises(UnsupportedError):
        numhlo.linear_transpose(lambda x: x * x, 1.0)(1.0)
    with pytest.raises(UnsupportedError, match=r"linear_transpose of a lax.fori_loop(?s:.)*numhlo.vjp of the function"):
        numhlo.linear_transpose(lambda x: numhlo.lax.fori_loop(0, 3, lambda i, c: c * 2.0, x), 1.0)(1.0)
    with pytest.raises(ArgumentError, match="structure"):
        numhlo.linear_transpose(lambda x: 2 * x, 1.0)((1.0, 2.0))


def test_forward_and_backward_functions():
    def f(x, n, y):
        return (np.sin(x["w"]) * y).sum() * n, x["w"].max()

    args = ({"w": np.array([0.1, 0.4])}, 3, 2.0)
    expected = numhlo.grad(f, argnums=(0, 2), has_aux=True)(*args)
    forward, backward = numhlo.fwd_and_bwd(f, argnums=(0, 2), has_aux=True)
    value, residuals, aux = numhlo.jit(forward)(*args)
    assert aux == expected[1] and np.isclose(value, f(*args)[0])
    for b in (backward, numhlo.jit(backward)):
        gradient = b(residuals, 1.0)
        np.testing.assert_allclose(gradient[0]["w"], expected[0][0]["w"])
        np.testing.assert_allclose(gradient[1], expected[0][1])


def test_closures_are_converted():
    def outer(w):
        f = lambda x: x * w + 1.0
        converted, arrays = numhlo.closure_convert(f, 1.0)
        return converted(3.0, *arrays) * len(arrays)

    assert float(outer(2.0)) == 0.0  # w is a number: a constant of the function
    assert float(numhlo.grad(outer)(2.0)) == 3.0
    assert float(numhlo.jit(outer)(2.0)) == 7.0


def with_rules(fwd, bwd):
    f = numhlo.custom_vjp(lambda x: x * 2.0)
    f.defvjp(fwd, bwd)
    return f


def with_jvp(rule):
    f = numhlo.custom_jvp(lambda x: x * 2.0)
    f.defjvp(rule)
    return f


MISTAKES = [
    (
        with_jvp(lambda p, t: t[0]),
        ArgumentError,
        "of the jvp rule of <lambda> is a traced array, where a pair is meant",
    ),
    (numhlo.custom_jvp(lambda x: x * 2.0), ArgumentError, "custom_jvp function without a rule"),
    (numhlo.custom_vjp(lambda x: x * 2.0), ArgumentError, "custom_vjp function without rules"),
    (with_rules(lambda x: x * 2.0, None), ArgumentError, "return a pair"),
    (with_rules(lambda x: ((x, x), x), lambda r, g: (g,)), ArgumentError, "structure"),
    (with_rules(lambda x: (x * 2.0, x), lambda r, g: g), ArgumentError, "return a tuple with one cotangent"),
    (with_rules(lambda x: (x * 2.0, x), lambda r, g: (g, g)), ArgumentError, "tuple of 2"),
    (with_rules(lambda x: (x * 2.0, x), lambda r, g: (np.ones(3),)), ShapeError, "shape"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[2][:20])
def test_mistakes(mistake):
    f, error, text = mistake
    with pytest.raises(error, match=text):
        numhlo.grad(f)(1.0)


def closing_over(lib):
    """Return programs whose rules read arrays from around them that have no tangent, or one that is not read."""

    def forward(x, w):
        scale, rows = lib.lax.stop_gradient(x.sum()), w * 2.0

        @lib.custom_jvp
        def f(x):
            return x * scale

        f.defjvp(lambda p, t: (f(*p), t[0] * rows[1] + scale * 0 * x.shape[0]))
        return f(x).sum()

    def backward(x, w):
        pair = {"a": [w + 1.0]}

        f = lib.custom_vjp(lambda g, x: g(x) * 2.0, nondiff_argnums=(0,))
        f.defvjp(lambda g, x: (g(x), pair["a"][0]), lambda g, r, ct: (ct * r * g(pair["a"][0][::-1]),))
        return f(lambda y: y * w[2], x).sum()

    return forward, backward


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_rules_read_what_is_around_them(number):
    ours, theirs = (closing_over(lib)[number] for lib in (OURS, jax))
    x, w = np.array([0.5, 1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    xs, ws = np.stack([x, x + 1]), np.stack([w, 2 * w])
    expected = jax.grad(theirs)(x, w)
    for derive in (OURS.grad, lambda f: OURS.jit(OURS.grad(f)), lambda f: OURS.grad(OURS.jit(f))):
        np.testing.assert_allclose(derive(ours)(x, w), expected)
    expected = jax.vmap(jax.grad(theirs))(xs, ws)
    np.testing.assert_allclose(OURS.vmap(OURS.grad(ours))(xs, ws), expected)
    lanes = lambda lib, f: lib.grad(lambda x: lib.vmap(f)(x, ws).sum())
    np.testing.assert_allclose(lanes(OURS, ours)(xs), expected)
    scanned = lambda x: OURS.lax.scan(lambda c, w: (c + ours(x, w), None), 0.0, ws)[0]
    np.testing.assert_allclose(OURS.grad(scanned)(x), sum(jax.grad(theirs)(x, w) for w in ws))
    with pytest.raises(UnsupportedError, match="from around it"):
        OURS.grad(ours, argnums=(0, 1))(x, w)


def test_what_rules_can_not_do():
    f = with_rules(lambda x: (x * 2.0, x), lambda r, g: (g,))
    for run in (lambda x: numhlo.jvp(f, (x,), (1.0,))[1], numhlo.jacfwd(f), numhlo.jit(numhlo.jacfwd(f))):
        with pytest.raises(UnsupportedError, match="forward-mode derivative"):
            run(1.0)

    def closing_over(w):
        @numhlo.custom_jvp
        def g(x):
            return x * w

        g.defjvp(lambda p, t: (g(*p), t[0]))
        return g(3.0)

    with pytest.raises(UnsupportedError, match="array from around it"):
        numhlo.grad(closing_over)(2.0)


def asking_what_is_zero(lib, seen):
    """Return functions with rules that are told what is zero, and note it in ``seen``."""
    zero = lib.custom_derivatives.SymbolicZero
    backward = lib.custom_vjp(lambda x, y, n: (x * y * n, x + y))

    def fwd(x, y, n):
        seen.add((x.perturbed, y.perturbed, n.perturbed))
        x, y, n = x.value, y.value, n.value
        return (x * y * n, x + y), (x, y, n)

    def bwd(kept, cotangents):
        x, y, n = kept
        seen.add(tuple([type(c) is zero for c in cotangents]))
        a, b = (0.0 if type(c) is zero else c for c in cotangents)
        return a * y * n + b, cotangents[0] if type(cotangents[0]) is zero else a * x * n + b, None

    backward.defvjp(fwd, bwd, symbolic_zeros=True)
    forward = lib.custom_jvp(lambda x, y: (x * y, lib.numpy.sin(x)))

    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        still = tuple([type(t) is zero and t.shape == t.aval.shape == () for t in tangents])
        seen.add(still)
        terms = [0.0 * x, *[t * other for t, other, none in ((dx, y, still[0]), (dy, x, still[1])) if not none]]
        return forward(x, y), (sum(terms), dx if still[0] else lib.numpy.cos(x) * dx)

    forward.defjvp(rule, symbolic_zeros=True)
    return backward, forward


def test_symbolic_zeros():
    def program(lib, seen):
        f, g = asking_what_is_zero(lib, seen)
        lanes = lib.numpy.arange(3.0)
        return [
            lib.grad(lambda x: f(x, 3.0, 2)[0])(2.0),
            lib.vmap(lib.grad(lambda x: f(x, 3.0, 2)[0]))(lanes),
            lib.grad(lambda x: lib.vmap(lambda v: f(v, 3.0, 2)[1])(x).sum())(lanes),
            lib.grad(lambda y: f(2.0, y, 2)[0] + f(y, 1.0, 3)[0])(2.0),
            lib.grad(lambda x: lib.lax.scan(lambda c, _: (f(c, 1.5, 1)[0], c), x, None, length=3)[0])(2.0),
            [lib.grad(lambda x, y, k=k: g(x, y)[k], argnums=(0, 1))(2.0, 3.0) for k in (0, 1)],
            lib.jvp(lambda y: g(2.0, y), (3.0,), (1.0,)),
            lib.hessian(lambda x: sum(g(x, x)))(2.0),
            lib.vmap(lib.grad(lambda x: sum(g(x, 3.0))))(lanes),
        ]

    seen, expected = set(), set()
    theirs = jax.jit(lambda: program(jax, expected))()  # one compilation
    pairs = zip(*map(jax.tree_util.tree_leaves, (program(OURS, seen), theirs)), strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted)
    assert seen == expected


def test_float0_says_that_there_is_no_derivative():
    x, index, none = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 0]), np.zeros(3, jax.dtypes.float0)
    assert jax.dtypes.float0 == OURS.float0 == OURS.dtypes.float0

    def program(lib):
        @lib.custom_vjp
        def taken(x, index):
            return lib.numpy.asarray(x)[index]

        back = lambda index, g: (lib.numpy.zeros(3).at[index].add(2 * g), np.zeros(3, OURS.float0))
        taken.defvjp(lambda x, index: (taken(x, index), index), back)
        slope = lib.grad(lambda x: (taken(x, index) * lib.numpy.arange(3.0)).sum())
        pull = lib.vjp(lambda x: (lib.numpy.sin(x), lib.numpy.arange(3)), x)[1]
        moved = lib.jvp(lambda x, k: lib.numpy.asarray(x)[k], (x, index), (x + 1, none))
        return slope(x), lib.jit(slope)(x), pull((x, none)), moved

    for found, expected in zip(*map(jax.tree_util.tree_leaves, map(program, (OURS, jax))), strict=True):
        np.testing.assert_allclose(found, expected)
