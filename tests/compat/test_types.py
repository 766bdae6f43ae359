"""Types under JAX's names: dtypes and weak types of results beside JAX's own, with 32 bits and with 64."""

from __future__ import annotations

import itertools
import threading

import jax
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo.errors import TypePromotionError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.switches import using

BITS = pytest.mark.parametrize("x64", [False, True], ids=["32 bits", "64 bits"])

DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "bfloat16", "float16", "float32", "complex64")
WIDE = ("int64", "uint64", "float64", "complex128")
MIXED = (("int32", "float32"), ("int8", "bfloat16"), ("float16", "bfloat16"), ("uint32", "int32"), (1, "int8"))
NUMBERS = ((1, "float16"), (1.0, "int32"), (1.0, "float32"), (2, 3), (2.0, 3), (1j, "float32"), (True, "int8"))

UNARY = [
    "abs",
    "ceil",
    "conj",
    "exp",
    "floor",
    "isfinite",
    "isnan",
    "log10",
    "log2",
    "logical_not",
    "negative",
    "reciprocal",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sqrt",
    "square",
    "tanh",
    "cumsum",
    "cumprod",
    "max",
    "mean",
    "prod",
    "sum",
    "std",
    "var",
    "median",
    "argmax",
    "argsort",
    "sort",
    "diff",
    "ravel",
    "zeros_like",
    "unwrap",
    "nan_to_num",
    "fft.fft",
    "linalg.norm",
    "nansum",
    "nanmean",
    "imag",
    "real",
    "angle",
    "deg2rad",
    "trapezoid",
    "asarray",
    "array",
]
BINARY = [
    "add",
    "arctan2",
    "bitwise_and",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "float_power",
    "fmod",
    "hypot",
    "left_shift",
    "logaddexp",
    "logical_and",
    "maximum",
    "multiply",
    "nextafter",
    "power",
    "remainder",
    "subtract",
    "append",
    "concatenate",
    "stack",
    "dot",
    "inner",
    "outer",
    "convolve",
    "polyadd",
    "polyval",
    "isclose",
    "searchsorted",
    "where",
    "kron",
    "linspace",
    "interp",
    "clip",
]
ONE_ARGUMENT = {"concatenate": 1, "stack": 1}


def both_in(x64):
    """Let both packages have these bits for a block."""
    return jax.enable_x64(x64), compat.enable_x64(x64)


def argument(module, kind, shape=(3,)):
    if not isinstance(kind, str):
        return kind if not shape else module.numpy.full(shape, kind)
    values = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    return module.numpy.asarray(values > 1 if kind == "bool" else values.astype(module.numpy.dtype(kind)))


def types_of(module, tree):
    return [f"{x.dtype}{' weak' * bool(x.weak_type)}" for x in module.tree.leaves(tree)]


def call(module, name, arguments):
    function = module.numpy
    for part in name.split("."):
        function = getattr(function, part)
    if name == "where":
        return function(module.numpy.array([True, False, True]), *arguments)
    return function(list(arguments)) if name in ONE_ARGUMENT else function(*arguments)


def require_same_types(name, kinds, shapes, x64):
    """Compare the types of a function's results, at once and traced, where JAX takes the arguments."""
    theirs, ours = both_in(x64)
    with theirs, ours:
        given = [argument(jax, kind, shape) for kind, shape in zip(kinds, shapes, strict=True)]
        try:
            wanted = types_of(jax, jax.eval_shape(lambda *xs: call(jax, name, xs), *given))
            if name == "argmax":  # of complex numbers it is refused when it is compiled
                call(jax, name, given)
        except (TypeError, ValueError):
            return
        mine = [argument(compat, kind, shape) for kind, shape in zip(kinds, shapes, strict=True)]
        assert types_of(compat, call(compat, name, mine)) == wanted, (name, kinds)
        with using(engine="interpreter"):  # types are the trace's, whatever runs it
            traced = compat.jit(lambda *xs: call(compat, name, xs))(*mine)
        assert types_of(compat, traced) == wanted, (name, kinds)


@BITS
@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name, x64):
    for kind in (*DTYPES, *(WIDE if x64 else ()), 2, 2.0):
        if name == "angle" and kind in (2.0, "float16", "bfloat16"):
            continue
        if name == "nan_to_num" and kind == 2:
            continue
        require_same_types(name, (kind,), [(3,)], x64)


@BITS
@pytest.mark.slow
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name, x64):
    alike = [(kind, kind) for kind in (*DTYPES, *(WIDE if x64 else ()))]
    wide = [("int64", "float32"), ("uint64", "int64"), ("float32", "float64")] if x64 else []
    for kinds in (*alike, *MIXED, *NUMBERS, *wide):
        if name in ("interp", "power") and kinds[0] in (1.0, "uint64", 2.0):
            continue
        if name == "linspace":
            require_same_types(name, kinds, [(), ()], x64)
        elif name == "interp":
            require_same_types(name, (*kinds, kinds[1]), [(3,)] * 3, x64)
        else:
            require_same_types(name, kinds, [(3,), (3,)], x64)


KEYS = [dtype for dtype in ELEMENT_TYPES.values() if not dtype.name.startswith("float6")]


@pytest.mark.parametrize("strict", ["standard", "strict"])
def test_promotion_of_every_pair(strict):
    """The lattice is JAX's, over all dtypes and Python's numbers."""
    with jax.numpy_dtype_promotion(strict), compat.numpy_dtype_promotion(strict), jax.enable_x64(True):
        for pair in itertools.product([*KEYS, 1, 1.0, 1j, True], repeat=2):
            theirs = [x if isinstance(x, bool | int | float | complex) else jax.ShapeDtypeStruct((), x) for x in pair]
            mine = [x if isinstance(x, bool | int | float | complex) else np.zeros((), x) for x in pair]
            try:
                wanted = jax.numpy.result_type(*theirs)
            except ValueError:
                with pytest.raises(TypePromotionError, match="no available implicit dtype promotion path"):
                    compat.numpy.result_type(*mine)
            else:
                assert compat.numpy.result_type(*mine) == wanted, pair


def test_of_three_types_no_order_matters():
    u64, i8, f16 = (np.ones(2, d) for d in ("uint64", "int8", "float16"))
    assert {compat.numpy.result_type(*order) for order in itertools.permutations((u64, i8, f16))} == {np.dtype("e")}


def program(module):
    """What has a type at every step: defaults, captured arrays, carries, derivatives, batches."""
    j, lax = module.numpy, module.lax
    table = np.arange(3.0)
    step = lambda carry, x: (carry + x, carry * 2)
    return (
        [j.zeros(3), j.ones((2,)), j.arange(3), j.arange(3.0), j.linspace(0, 1, 3), j.eye(2), j.full((2,), 3)],
        [j.asarray(2.0), j.asarray(2), j.asarray(True), j.array([1, 2.5]), j.zeros_like(1.0), j.asarray(table)],
        [j.asarray(np.float64(1)), j.asarray(np.int64(7)), j.ones(2) * np.float64(2), 2 * j.arange(3) / 3],
        module.jit(lambda x: (x + 1, x * table, x > 0, x.sum(), x.mean(), x.argmax(), 3, 2.5))(table),
        module.jit(lambda x: x * 2)(3.0),
        module.jit(lambda x, y: x * y)(j.asarray(2.0), j.ones(2, "float16")),
        lax.scan(step, j.zeros(()), j.arange(3.0)),
        module.jit(lambda xs: lax.scan(step, 0.0, xs))(j.ones(3, "float32")),
        module.jit(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(j.float32(1.5)),
        module.jit(lambda x: lax.cond(x.sum() > 0, lambda: x, lambda: -x))(j.ones(2, "int8")),
        module.grad(lambda x: (x**2).sum())(j.ones(2, "float16")),
        module.grad(lambda x: (x * table).sum())(table),
        module.vmap(lambda x: x + 1)(j.arange(3, dtype="uint8")),
        module.jvp(j.sin, (j.ones(2),), (j.ones(2),)),
        [j.float32(3), j.int32([1, 2]), j.bfloat16(1.5)],
    )


@BITS
@pytest.mark.slow
def test_types_through_a_program(x64):
    theirs, ours = both_in(x64)
    with theirs, ours:
        wanted, found = program(jax), program(compat)
        assert [x.dtype for x in compat.tree.leaves(found)] == [x.dtype for x in jax.tree.leaves(wanted)]
        for mine, other in zip(compat.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(np.asarray(mine, float), np.asarray(other, float), rtol=1e-5)


def test_arrays_show_their_types():
    for x64 in (False, True):
        theirs, ours = both_in(x64)
        with theirs, ours:
            for make in (
                lambda j: j.asarray(2.0),
                lambda j: j.zeros(3),
                lambda j: j.arange(3),
                lambda j: j.zeros((0, 2)),
                lambda j: j.array([True]),
                lambda j: j.arange(30.0).reshape(2, 15),
            ):
                assert repr(make(compat.numpy)) == repr(make(jax.numpy))
            for x in (compat.numpy.asarray(1.0), compat.numpy.ones(2)):
                assert x.aval.weak_type == x.weak_type == compat.typeof(x).weak_type == (x.ndim == 0)


def test_requested_dtypes_are_truncated_with_a_warning():
    with jax.enable_x64(False), compat.enable_x64(False):
        for make in (
            lambda j: j.zeros(3, "float64"),
            lambda j: j.ones(2).astype("complex128"),
            lambda j: j.arange(3, dtype=j.int64),
            lambda j: j.float64(2),
            lambda j: j.result_type("uint64"),
        ):
            for module in (jax, compat):
                with pytest.warns(
                    UserWarning, match="Explicitly requested dtype .* is not available, and will be trunc"
                ):
                    found = make(module.numpy)
            assert found == np.dtype("uint32") if isinstance(found, np.dtype) else found.dtype.itemsize in (4, 8)
        assert compat.numpy.zeros(2, float).dtype == np.float32  # Python's own classes say no width
        for module in (jax, compat):
            with pytest.raises(OverflowError):
                module.numpy.asarray(2**40)
            assert module.numpy.asarray(np.array([2**40, 1])).tolist() == [0, 1]


@pytest.mark.not_every_call("it would be called again under other settings")
def test_settings_are_part_of_what_is_compiled():
    f = compat.jit(lambda x: compat.numpy.arange(3) * x)
    x = np.ones(3, np.float32)
    for _ in range(3):
        for x64, wanted in ((True, "float32"), (False, "float32")):
            with compat.enable_x64(x64):
                assert f(x).dtype == wanted and f(2.0).dtype == ("float64" if x64 else "float32")
                assert f(2).dtype == ("int64" if x64 else "int32") and f(compat.numpy.asarray(2)).weak_type is False
    compat.config.update("jax_enable_x64", False)
    try:
        assert f(2).dtype == "int32" and compat.config.jax_enable_x64 is False and not compat.config.x64_enabled
        f.wait()
        assert [f(2).dtype for _ in range(3)] == ["int32"] * 3
        compat.config.update("jax_enable_x64", True)
        assert [f(2).dtype for _ in range(3)] == ["int64"] * 3
    finally:
        compat.config.update("jax_enable_x64", True)


def test_weak_arguments_have_machine_code_of_their_own():
    f = compat.jit(lambda x, y: x * y)
    weak, strong, halves = compat.numpy.asarray(2.0), compat.numpy.ones(()), compat.numpy.ones(2, "float16")
    f(strong, halves), f(weak, halves)
    f.wait()
    for _ in range(3):
        assert f(weak, halves).dtype == np.float16 and f(strong, halves).dtype == np.float64
    assert f(weak, weak).weak_type and not f(weak, strong).weak_type


def test_contexts_are_the_threads_own():
    seen = []
    with compat.enable_x64(False):
        thread = threading.Thread(target=lambda: seen.append(compat.numpy.ones(1).dtype))
        thread.start()
        thread.join()
        assert compat.numpy.ones(1).dtype == np.float32
        with compat.enable_x64(True):
            assert compat.numpy.ones(1).dtype == np.float64
    assert seen == [np.float64]


@pytest.mark.not_every_call("it would be called again under other settings")
def test_numhlos_own_names_keep_numpys_rules():
    with compat.enable_x64(False):
        found = numhlo.jit(lambda x, y: (x + y, numhlo.numpy.sin(x), numhlo.numpy.zeros(2)))(
            np.ones(2, np.int32), np.ones(2, np.float32)
        )
        assert [x.dtype for x in found] == [np.float64] * 3
        assert numhlo.numpy.ones(2).dtype == np.float64


DRAWS = {
    "bits": lambda j, key: (j.random.bits(key, (5,)), j.random.bits(key, (5,), "uint8")),
    "uniform": lambda j, key: (j.random.uniform(key, (9,)), j.random.uniform(key, (9,), "bfloat16")),
    "integers": lambda j, key: (j.random.randint(key, (9,), 0, 100), j.random.randint(key, (9,), 0, 100, "uint8")),
    "keys": lambda j, key: (j.random.split(key, 3), j.random.fold_in(key, 7)),
    "seeds": lambda j, key: [j.random.PRNGKey(seed) for seed in (2**40 + 5, -3, 2**31)],
    "orders": lambda j, key: (j.random.permutation(key, 10), j.random.choice(key, 10, (4,))),
    "chances": lambda j, key: (j.random.bernoulli(key, 0.3, (9,)), j.random.rademacher(key, (9,))),
    "counts": lambda j, key: (
        j.random.poisson(key, 4.0, (9,)),
        j.random.categorical(key, j.numpy.zeros(4), shape=(9,)),
    ),
}


@BITS
@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_are_jaxs_bit_by_bit(name, x64):
    theirs, ours = both_in(x64)
    with theirs, ours:
        wanted = jax.tree.leaves(DRAWS[name](jax, jax.random.PRNGKey(3)))
        found = compat.tree.leaves(DRAWS[name](compat, compat.random.PRNGKey(3)))
        traced = compat.tree.leaves(compat.jit(lambda key: DRAWS[name](compat, key))(compat.random.PRNGKey(3)))
        for mine, in_a_trace, other in zip(found, traced, wanted, strict=True):
            assert mine.dtype == in_a_trace.dtype == other.dtype
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))
            np.testing.assert_array_equal(np.asarray(in_a_trace), np.asarray(other))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2"])
def test_integers_of_few_bits(dtype):
    for module in (jax, compat):
        j = module.numpy
        a, b = j.array([0, 1, 1], dtype), j.array([1, 0, 1], dtype)
        for compare, wanted in ((j.greater, [False, True, False]), (j.less_equal, [True, False, True])):
            assert compare(a, b).tolist() == module.jit(compare)(a, b).tolist() == wanted
        assert (a + b).dtype == (a + 1).dtype == j.eye(2, dtype=dtype).dtype == dtype
        with pytest.raises(ValueError, match="no available implicit dtype promotion path"):
            a + j.ones(3, "int8")
        assert j.issubdtype(a.dtype, j.integer) and not j.issubdtype(a.dtype, j.inexact)
        assert j.iinfo(dtype).max == jax.numpy.iinfo(dtype).max


@pytest.mark.parametrize("dtype", [d.name for d in KEYS])
def test_kinds_of_dtypes(dtype):
    kinds = (
        "floating",
        "inexact",
        "number",
        "integer",
        "signedinteger",
        "unsignedinteger",
        "complexfloating",
        "generic",
    )
    for kind in kinds:
        answers = [j.issubdtype(np.dtype(dtype), getattr(j, kind)) for j in (jax.numpy, compat.numpy)]
        assert answers[0] == answers[1], kind
