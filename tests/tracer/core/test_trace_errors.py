"""The text of errors of code that wants more of a traced array than its shape and dtype."""

from __future__ import annotations

import cmath
import operator
import random
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import (
    ConcretizationError,
    DataDependentShapeError,
    DTypeError,
    EndlessRecursionError,
    LeakedTracerError,
    MutationError,
    ShapeError,
)

BRANCH = (
    "use numpy.where or lax.cond instead of if, lax.while_loop instead of while, logical_and instead of and; "
    "numhlo.jit does so by itself where the source can be read"
)
STATIC = (
    "or mark the argument static (static_argnums, static_argnames); "
    "to write it into an array, make that array with numhlo.numpy"
)
INDEX = "mark the argument static (static_argnums, static_argnames), or use lax.dynamic_slice / lax.fori_loop"
CONVERT = (
    "call the function of this name in numhlo.numpy or numhlo.scipy; to index an array by it, or write it into one, "
    "make that array with numhlo.numpy"
)
OUTER = np.arange(4.0)


def branch(x):
    return 1 if x else 2


def derived(x):
    y = x * 2
    return bool(y)


# function, what, why (without the value's origin), fix, origin
CASES = [
    (branch, "the truth value of a traced array float64[3]", BRANCH, "argument"),
    (derived, "the truth value of a traced array float64[3]", BRANCH, "y = x * 2"),
    (lambda x: x[0].__float__(), "float() of a traced array float64[]", f"use astype(float), {STATIC}", ""),
    (lambda x: x[0].__int__(), "int() of a traced array float64[]", f"use astype(int), {STATIC}", ""),
    (lambda x: cmath.sin(x[0]), "complex() of a traced array float64[]", f"use astype(complex), {STATIC}", ""),
    (
        lambda x: operator.index(x.astype(int)[0]),
        "the use as a Python index or length of a traced array int64[]",
        INDEX,
        "",
    ),
    (
        lambda x: x.tobytes(),
        "tobytes() of a traced array float64[3]",
        "return the array and convert it outside the traced function",
        "argument",
    ),
    (
        lambda x: np.asarray_chkfinite(x),
        "conversion to a NumPy array of a traced array float64[3]",
        CONVERT,
        "argument",
    ),
    (
        lambda x: [*map(OUTER.__getitem__, [x.astype(int)])],
        "conversion to a NumPy array of a traced array i",
        CONVERT,
        "",
    ),
    (
        lambda x: f"{x[0]:.2f}",
        "formatting of a traced array float64[]",
        "return it and format it outside the traced function",
        "",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1][:30])
def test_values_that_are_not_known(case):
    fun, what, fix, origin = case
    with pytest.raises(ConcretizationError) as caught:
        numhlo.jit(fun)(np.ones(3))
    first, where, why = str(caught.value).splitlines()
    assert first.startswith(what)
    assert where.startswith("  at test_trace_errors.py:")
    assert why.endswith("; " + fix) and why.startswith("  its value is not known while tracing")
    name = fun.__name__.strip("<>")
    if origin == "argument":
        assert f"(it belongs to argument x of {name})" in why
    elif origin:
        assert "(it comes from test_trace_errors.py:" in why and f"in derived:  {origin})" in why
    else:
        assert "(it comes" not in why  # the same line


class Counter:
    def __init__(self):
        self.total, self.log = np.zeros(3), []

    def rebind(self, x):
        self.total = self.total + x
        return self.total

    def write(self, x):
        self.total[0] = x[0]
        return x

    def rebind_and_fail(self, x):
        self.total = self.total + x
        return x.reshape(4)


def test_values_do_not_leave_in_objects_and_globals():
    counter, outside, count = Counter(), OUTER, np.zeros(3)

    def rebind_global(x):
        global OUTER  # noqa: PLW0603
        OUTER = OUTER[:3] + x
        return x

    def rebind_variable(x):
        nonlocal count
        count = count + x
        return x

    for fun, name in ((counter.rebind, "self.total"), (rebind_global, "global OUTER"), (rebind_variable, "variable")):
        with pytest.raises(MutationError, match=f"^{name}.* was rebound to a traced array\n  at test_trace_errors.py"):
            numhlo.jit(fun)(np.ones(3))
    with pytest.raises(ShapeError, match="cannot reshape"):
        numhlo.jit(counter.rebind_and_fail)(np.ones(3))
    with pytest.raises(MutationError, match="an array that does not belong to the traced program\n  at test_trace_err"):
        numhlo.jit(counter.write)(np.ones(3))
    assert counter.total.tolist() == count.tolist() == [0, 0, 0] and OUTER is outside


def test_what_arrays_of_other_classes_would_lose():
    masked, matrix = np.ma.array([1.0, 2.0], mask=[0, 1]), np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    double = numhlo.jit(lambda x: x * x)
    for x in (masked, matrix):
        double(np.asarray(x))
        with pytest.raises(DTypeError, match=r"argument x is of class \w+, whose arithmetic is not that of"):
            double(x)


@pytest.mark.parametrize(
    ("fun", "kind", "text"),
    [
        (lambda x: {x[0]: 1}, ConcretizationError, "hash of a traced array float64[]"),
        (lambda x: x.data, AttributeError, "traced array float64[3] has no attribute 'data': a traced array has"),
        (lambda x: x.nonsense, AttributeError, "traced array float64[3] has no attribute 'nonsense'"),
        (lambda x: x.__setitem__(0, 1j), DTypeError, "a complex number is written into float64[3]"),
        (
            lambda x: x.__setitem__(slice(2), x),
            ShapeError,
            "could not broadcast input array from shape (3,) into shape",
        ),
        (lambda x: "text", DTypeError, "the result of <lambda> is of class str"),
        (lambda x: {"a": {1, 2}}, DTypeError, "the result['a'] of <lambda> is of class set"),
    ],
)
def test_other_mistakes(fun, kind, text):
    with pytest.raises(kind) as caught:
        numhlo.jit(fun)(np.ones(3))
    assert str(caught.value).startswith(text.replace("<lambda>", "lambda"))


def test_the_full_text():
    with pytest.raises(ConcretizationError) as caught:
        numhlo.jit(branch)(np.ones(3))
    line = branch.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        "the truth value of a traced array float64[3]\n"
        f"  at test_trace_errors.py:{line} in branch:  return 1 if x else 2\n"
        f"  its value is not known while tracing (it belongs to argument x of branch); {BRANCH}"
    )


def test_iteration_and_length():
    f = numhlo.jit(lambda x: [row * 2 for row in x])
    assert [r.tolist() for r in f(np.ones((2, 2)))] == [[2, 2], [2, 2]]
    assert numhlo.jit(lambda x: x * len(x))(np.ones(3)).tolist() == [3, 3, 3]
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        numhlo.jit(lambda x: list(x.sum()))(np.ones(3))
    with pytest.raises(TypeError, match=r"len\(\) of unsized object"):
        numhlo.jit(lambda x: len(x[0]))(np.ones(3))


def test_shapes_that_depend_on_values():
    for fun, what in [
        (lambda x: x[x > 0].reshape(-1), r"x\[mask\] with a traced boolean mask bool\[3\]"),
        (lambda x: np.nonzero(x)[0].reshape(-1), r"nonzero of a traced array float64\[3\]"),
        (lambda x: x[: x.astype(int)[0]].reshape(-1), "a slice with a traced bound"),
    ]:
        with pytest.raises(DataDependentShapeError, match=what) as caught:
            numhlo.jit(fun)(np.ones(3))
        assert caught.value.where is not None and caught.value.why and caught.value.fix


def test_captured_arrays_of_unsupported_dtype():
    words = np.array(["a", "b"])
    with pytest.raises(DTypeError, match="<U1"):
        numhlo.jit(lambda x: x + words)(1.0)
    swapped = np.arange(3).astype(">i8")
    assert numhlo.jit(lambda x: x + swapped)(1).tolist() == [1, 2, 3]


@pytest.mark.parametrize("generator", [np.random.MT19937, np.random.PCG64])
def test_draws_from_the_global_generator_are_refused(generator):
    before = np.random.get_bit_generator()
    np.random.set_bit_generator(generator(1))
    try:
        with pytest.raises(ConcretizationError, match=r"noisy draws random numbers from np.random while it is traced"):
            numhlo.jit(noisy)(np.ones(3))
        seeded = numhlo.jit(lambda x: x + np.random.default_rng(0).normal(size=3))(np.ones(3))
        np.testing.assert_array_equal(seeded, 1 + np.random.default_rng(0).normal(size=3))
    finally:
        np.random.set_bit_generator(before)


GENERATOR, STATE, PYTHONS = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)


def helper(generator, x):
    return x + generator.normal(size=x.shape)


class Holder:
    def __init__(self):
        self.generator = np.random.default_rng(0)

    @numhlo.jit
    def draws(self, x):
        return helper(self.generator, x)


@pytest.mark.parametrize(
    ("draw", "source"),
    [
        (lambda x: x + GENERATOR.normal(size=3), "global GENERATOR"),
        (lambda x: helper(GENERATOR, x), "global GENERATOR"),
        (lambda x: x + STATE.rand(3), "global STATE"),
        (lambda x: x + PYTHONS.random(), "global PYTHONS"),
        (lambda x: x + random.random(), "the module random"),
        (lambda x: x + np.random.default_rng().normal(size=3), "a generator without a seed"),
    ],
)
def test_draws_from_generators_around_the_function_are_refused(draw, source):
    f = numhlo.jit(draw)
    for _ in range(2):
        with pytest.raises(ConcretizationError, match=f"draws random numbers from {source} while it is traced"):
            f(np.ones(3))
    holder = Holder()
    with pytest.raises(ConcretizationError, match=r"draws draws random numbers from self.generator while"):
        holder.draws(np.ones(3))
    assert numhlo.jit(lambda x: (GENERATOR, x)[1])(1.0) == 1.0


@pytest.mark.parametrize("generator", [GENERATOR, PYTHONS, np.random])
def test_draws_are_refused_where_they_are(generator):
    tracer = sys.gettrace()
    sys.settrace(None)  # that of coverage, under which the line is not looked for
    try:
        with pytest.raises(ConcretizationError) as caught:
            numhlo.jit(lambda x: times(generator, x + 1) * 2)(np.ones(3))
    finally:
        sys.settrace(tracer)
    assert caught.value.where.describe().endswith(" in times:  return x * generator.random()")


def times(generator, x):
    return x * generator.random()


def noisy(x):
    return x + np.random.random_sample(3)  # noqa: NPY002 - what is tested


def test_draws_in_the_process_that_loads_the_generator():
    code = "import numpy as np, numhlo\ntry: numhlo.jit(lambda x: x + np.random.rand(3))(np.ones(3))\nexcept Exception as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert "draws random numbers" in done.stdout, done.stderr


def test_draws_of_other_threads_are_not_the_functions():
    stop, drawn = threading.Event(), threading.Event()

    def draw():
        while not stop.is_set():
            np.random.random_sample(3)  # noqa: NPY002
            random.random()
            drawn.set()

    thread = threading.Thread(target=draw)
    thread.start()

    def waits(x):
        if not drawn.is_set():
            drawn.wait(10)  # the other thread draws here for sure, the first time
        return x + 1

    interval = sys.getswitchinterval()
    try:
        for n in range(1, 6):
            drawn.clear()
            assert numhlo.jit(waits)(np.ones(n)).tolist() == [2.0] * n
        with pytest.raises(ConcretizationError, match="noisy draws random numbers from"):
            numhlo.jit(noisy)(np.ones(3))
    finally:
        stop.set()
        thread.join()
    assert sys.getswitchinterval() == interval


@pytest.mark.parametrize(
    ("fun", "kind", "text"),
    [
        (lambda x: x.sum(axis=2), np.exceptions.AxisError, "axis 2 is out of bounds for array of dimension 1"),
        (lambda x: np.einsum("ij,jk", x, x), ValueError, "einstein sum subscripts string 'ij' does not match"),
        (lambda x: np.linalg.cholesky(x), np.linalg.LinAlgError, "1-dimensional array given"),
        (lambda x: len(x[0]), TypeError, "len() of unsized object"),
        (lambda x: numhlo.vmap(lambda y: y.sum(axis=3))(x), np.exceptions.AxisError, "axis 3 is out of bounds"),
    ],
)
def test_numpys_errors_have_the_line(fun, kind, text):
    with pytest.raises(kind) as error:
        numhlo.jit(fun)(np.ones(3))
    first, where = str(error.value).splitlines()
    assert first.startswith(text)
    assert where.startswith("  at test_trace_errors.py:")
    if isinstance(error.value, np.exceptions.AxisError):
        assert error.value.axis in (2, 3)


def test_the_users_own_errors_stay_as_they_are():
    def f(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        numhlo.jit(f)(np.ones(3))
    with pytest.raises(TypeError, match=r"argument: 'y'$"):
        numhlo.jit(lambda x, y: x)(np.ones(3))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x[0], lambda x: list(x), lambda x: x.copy(), lambda x: float(x[0]), lambda x: np.asarray(x),
        lambda x: x.__setitem__(0, 1.0), lambda x: x.tolist(), lambda x: x.sum(), lambda x: numhlo.jit(lambda y: y + x[0])(1.0),
    ],
)  # fmt: skip
def test_uses_of_leaked_arrays(use):
    kept = []

    @numhlo.jit
    def f(x):
        kept.append(x)
        return x + 1

    f(np.ones(3))
    with pytest.raises(LeakedTracerError, match=r"used after its trace had ended\n  at test_trace_errors.py"):
        use(kept[0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: lax.top_k(x, 9), ShapeError, r"k is 9\n  at test_trace_errors.py"),
        (lambda x: lax.scan(lambda c, y: (c, y), x, None, length=-3), ValueError, "length=-3"),
        (lambda x: lax.pad(x, 0.0, [(1, 1)]), ValueError, r"padding_config=\[\(1, 1\)\] for float64\[4\]"),
        (lambda x: x.reshape(2**33, 2**31), ShapeError, r"size 4 into shape \(8589934592, 2147483648\)"),
        (lambda x: x.reshape(-2, -2), ShapeError, r"size 4 into shape \(-2, -2\)"),
        (lambda x: lax.associative_scan(lambda a, b: 2.0, x), ShapeError, r"fn gives shapes \[\(\)\] for \[\(2,\)\]"),
        (lambda x: np.add(x, lax.cond(True, lambda: None, lambda: None)), TypeError, "what a function without return gives"),
        (lambda _: numhlo.ShapeDtypeStruct((2.5,), float), TypeError, "'float' object cannot be interpreted"),
        (lambda _: numhlo.threads("2").__enter__(), ValueError, r"threads\('2'\)"),
    ],
)  # fmt: skip
def test_sizes_that_nothing_has(call, error, text):
    with pytest.raises(error, match=text):
        numhlo.jit(call)(np.ones(4))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.tile(x, -1), lambda x: np.repeat(x, -1), lambda x: np.zeros(-3) + x, lambda x: np.full((2, -1), x[0]),
        lambda x: np.eye(-1) + x, lambda x: numhlo.random.normal(numhlo.random.key(0), (-1,)), lambda x: lax.iota(int, -1),
        lambda x: numhlo.random.split(numhlo.random.key(0), -2), lambda x: numhlo.numpy.nonzero(x, size=-1),
        lambda x: np.broadcast_to(x, (-1, 4)), lambda x: numhlo.nn.one_hot(x.astype(int), -1),
        lambda x: numhlo.numpy.unique(x, size=-1), lambda x: np.zeros((2**40, 2**40)), lambda x: np.eye(2**32) + x[0],
        lambda x: np.tile(x, 2**61),
    ],
)  # fmt: skip
@pytest.mark.parametrize("run", [numhlo.jit, lambda f: f], ids=["traced", "at_once"])
def test_sizes_below_none_and_beyond_memory(call, run):
    with pytest.raises((ValueError, MemoryError)) as error:
        run(call)(np.ones(4))
    assert run is not numhlo.jit or re.fullmatch(
        r"(negative dimensions are not allowed|the array is too big)\n  at test_trace_errors.py:.*\n.*",
        str(error.value),
    )


def test_seeds_beyond_64_bits():
    with pytest.raises(OverflowError, match=r"the seed 2361\d+ has more than 64 bits\n  at test_trace_errors.py"):
        numhlo.random.key(2**71)


@pytest.mark.parametrize(("out", "shape"), [(2, "[2]"), ((3, 1), "[3,1]"), ((), "[]")])
def test_an_out_that_is_too_small_is_named(out, shape):
    with pytest.raises(
        ShapeError, match=re.escape(f"add: cannot write float64[3] into out of float64{shape}\n  at test_")
    ):
        numhlo.jit(lambda x: np.add(x, 1, out=np.zeros(out)))(np.ones(3))


def endless(x):
    return numhlo.jit(endless)(x) + 1.0


def endless_slopes(x):
    return numhlo.grad(endless_slopes)(x)


def in_turns(x):
    return other_turn(x) + 1.0


def other_turn(x):
    return in_turns(x * 2.0)


@pytest.mark.parametrize("fun", [endless, endless_slopes, in_turns])
def test_functions_that_call_themselves_without_end(fun):
    with pytest.raises(
        EndlessRecursionError, match=r" calls itself without end\n  at test_trace_errors.py:\d+ in "
    ) as error:
        numhlo.jit(fun)(1.0)
    assert isinstance(error.value, RecursionError) and len(str(error.value).splitlines()) == 3
    assert numhlo.jit(lambda x: x + 1.0)(1.0) == 2.0


def test_other_threads_are_named():
    def f(x):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: x + 1.0).result()

    with pytest.raises(ConcretizationError, match=r"^an operation in another thread of a traced array float64\[3\]\n"):
        numhlo.jit(f)(np.ones(3))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x + None, "a NoneType\n.*None is what a function without return gives"),
        (lambda x: {1.0} - x, "a set\n.*convert it with numpy.array"),
        (lambda x: (x, np.array(["a"])), r"the result\[1\] of lambda has dtype <U1"),
        (lambda x: {"y": 2**70}, r"the result\['y'\] of lambda has dtype object"),
        (lambda x: x.reshape((1,) * 65), "an array of 65 dimensions"),
    ],
)
def test_values_that_are_no_arrays(call, text):
    with pytest.raises((TypeError, ValueError), match=text) as error:
        numhlo.jit(call)(1.0)
    assert "\n  at test_trace_errors.py:" in str(error.value)


def test_objects_that_numpy_takes_for_arrays():
    other = jax.numpy.arange(3.0)
    f = numhlo.jit(lambda x: (x + range(3), memoryview(b"abc") * x, x - other, other - x, x == range(3)))
    found = f(np.array([0.0, 2.0, 2.0]))
    assert [x.tolist() for x in found[:2]] == [[0, 3, 4], [0, 196, 198]]
    assert [x.tolist() for x in found[2:]] == [[0, 1, 0], [0, -1, 0], [True, False, True]]
    with pytest.raises(TypeError, match="'traced array' and 'Event'"):
        numhlo.jit(lambda x: x + threading.Event())(1.0)


@pytest.mark.parametrize("transform", [numhlo.jit, numhlo.vmap, numhlo.grad])
def test_containers_without_end(transform):
    inside = [1.0]
    inside.append(inside)
    with pytest.raises(EndlessRecursionError, match=r"containers are nested too deeply.*\n  at test_trace_errors.py:"):
        transform(lambda x: 1.0)(inside)
