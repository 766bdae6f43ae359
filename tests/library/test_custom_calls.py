"""Functions registered as custom calls: in Python and native, eager, compiled, interpreted, from text, and their rules."""

import ctypes
import itertools
import threading

import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from numhlo.lowering.ir.native_errors import NativeCallError

PLAIN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
STATUS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
SCALAR = numhlo.ShapeDtypeStruct((), np.float64)


def at(address, count, dtype=np.float64):
    """Return the array at an address."""
    data = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(data, dtype)


def addresses(address, count):
    return list((ctypes.c_void_p * count).from_address(address))


def fail(status, message):
    data = message.encode()
    ctypes.c_int64.from_address(status).value = len(data)
    ctypes.memmove(status + 8, data, len(data))


def every_way(function, *args):
    """Yield what a function gives: interpreted, compiled at first and as machine code, and read from its own text."""
    with numhlo.debugging(engine="interpreter"):
        yield numhlo.jit(function)(*args)
    f = numhlo.jit(function)
    yield f(*args)
    f.wait()
    yield f(*args)
    module = numhlo.stablehlo.parse(numhlo.jit(function).lower(*args).as_text())
    yield module.callable()(*args)


NUMBERS = itertools.count()


@PLAIN
def scale_rows(out, ins):
    """Multiply a (3, 4) matrix's rows by numbers."""
    matrix, factors = addresses(ins, 2)
    at(out, 12).reshape(3, 4)[...] = at(matrix, 12).reshape(3, 4) * at(factors, 3)[:, None]


scaled_rows = numhlo.custom_call(
    "test.scaled_rows",
    scale_rows,
    result=lambda x, s: x,
    jvp=lambda primals, tangents, result: tangents[0] * primals[1][:, None] + primals[0] * tangents[1][:, None],
)


@PLAIN
def split(out, ins):
    """Return the sum and the greatest of four numbers."""
    (x,) = addresses(ins, 1)
    total, greatest = addresses(out, 2)
    at(total, 1)[...] = at(x, 4).sum()
    at(greatest, 1)[...] = at(x, 4).max()


both = numhlo.custom_call("test.both", split, result=(SCALAR, SCALAR))

reversed_scaled = numhlo.custom_call(
    "test.reversed_scaled",
    lambda x, factor=1.0: factor * x[..., ::-1],
    result=lambda x, factor=1.0: x,
    batching="broadcast_all",
    transpose=lambda ct, x, factor=1.0: (reversed_scaled(ct, factor=factor),),
)


@pytest.mark.specifies("CustomCall")
def test_python_everywhere(rng):
    x = rng.normal(size=4)
    for found in every_way(lambda x: reversed_scaled(np.sin(x), factor=2.5) + 1, x):
        np.testing.assert_array_equal(found, 2.5 * np.sin(x)[::-1] + 1)
    assert type(reversed_scaled(x)) is numhlo.Array


@pytest.mark.specifies("native custom calls")
def test_native_everywhere(rng):
    x, s = rng.normal(size=(3, 4)), rng.normal(size=3)
    for found in every_way(lambda x, s: scaled_rows(x + 1, s) * 2, x, s):
        np.testing.assert_array_equal(found, (x + 1) * s[:, None] * 2)
    f = numhlo.jit(lambda x, s: scaled_rows(x, s))
    f(x, s)
    f.wait()
    for _ in range(3):
        x, s = rng.normal(size=(3, 4)), rng.normal(size=3)
        np.testing.assert_array_equal(f(x, s), x * s[:, None])
    assert "in Python" not in f.explain() and "on NumPy" not in f.explain()


def test_several_results_and_the_same_operand_twice(rng):
    x = rng.normal(size=4)
    for total, greatest in every_way(lambda x: both(x * 2), x):
        assert (total, greatest) == ((x * 2).sum(), (x * 2).max())
    square = rng.normal(size=(3, 4))
    for found in every_way(lambda x: scaled_rows(x, lax.slice(x, (0, 0), (3, 1)).reshape(3)), square):
        np.testing.assert_array_equal(found, square * square[:, :1])


def test_in_loops_and_plans_that_are_proved(rng):
    x, s = rng.normal(size=(3, 4)), np.array([0.5, 2.0, 1.0])
    with numhlo.debugging(verify=True):
        f = numhlo.jit(lambda x, s: lax.fori_loop(0, 10, lambda _, y: scaled_rows(y, s), x))
        first = f(x, s)
        f.wait()
        np.testing.assert_array_equal(first, x * s[:, None] ** 10)
        np.testing.assert_array_equal(f(x, s), first)


def test_derivatives_of_native_functions(rng):
    x, s, w = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=(3, 4))

    def loss(x, s):
        return (w * scaled_rows(np.sin(x), s)).sum()

    for dx, ds in every_way(numhlo.grad(loss, (0, 1)), x, s):
        np.testing.assert_allclose(dx, w * s[:, None] * np.cos(x), rtol=1e-12)
        np.testing.assert_allclose(ds, (w * np.sin(x)).sum(1), rtol=1e-12)
    second = numhlo.jit(numhlo.grad(lambda s: numhlo.grad(loss)(x, s).sum()))
    np.testing.assert_allclose(second(s), (w * np.cos(x)).sum(1), rtol=1e-12)


def test_derivatives_by_transposition(rng):
    x, w = rng.normal(size=4), rng.normal(size=4)
    for found in every_way(numhlo.grad(lambda x: (w * reversed_scaled(x, factor=3.0)).sum()), x):
        np.testing.assert_allclose(found, 3 * w[::-1], rtol=1e-15)
    out, tangent = numhlo.jvp(lambda x: reversed_scaled(x, factor=3.0), (x,), (w,))
    np.testing.assert_array_equal(tangent, 3 * w[::-1])
    jacobian = numhlo.jit(numhlo.jacrev(reversed_scaled))(x)
    np.testing.assert_array_equal(jacobian, np.eye(4)[::-1])


def test_no_rule_no_derivative():
    with pytest.raises(UnsupportedError, match=r"the derivative of test\.both"):
        numhlo.grad(lambda x: both(x)[0])(np.ones(4))


def test_linear_in_some_operands_only(rng):
    product = numhlo.custom_call(
        "test.product",
        lambda a, x: a * x,
        result=lambda a, x: x,
        linear=(1,),
        transpose=lambda ct, a, x: (None, product(a, ct)),
    )
    a, x = rng.normal(size=(2, 3))
    np.testing.assert_array_equal(numhlo.grad(lambda x: product(a, x).sum())(x), a)
    with pytest.raises(UnsupportedError, match=r"derivative of test\.product with respect to operand 0"):
        numhlo.grad(lambda a: product(a, x).sum())(a)


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_batching(method, rng):
    seen = []

    def multiply(x, s):
        seen.append((x.shape, s.shape))
        return x * s

    f = numhlo.custom_call(f"test.batching.{method}", multiply, result=lambda x, s: x, batching=method)
    x, s = rng.normal(size=(5, 3)), rng.normal(size=3)
    for found in every_way(numhlo.vmap(f, (0, None)), x, s):
        np.testing.assert_array_equal(found, x * s)
    wanted = {
        "sequential": {((3,), (3,))},
        "expand_dims": {((5, 3), (1, 3))},
        "broadcast_all": {((5, 3), (5, 3))},
    }
    assert set(seen) == wanted[method]


def test_batching_by_a_rule(rng):
    f = numhlo.custom_call(
        "test.batching.rule",
        lambda x, k: x.sum() * k,
        result=lambda x, k: SCALAR,
        batching=lambda size, mapped, x, k: (x.sum(axis=1) * k, mapped[0]),
    )
    x = rng.normal(size=(5, 3))
    for found in every_way(numhlo.vmap(lambda x: f(x, k=2.0)), x):
        np.testing.assert_allclose(found, 2 * x.sum(1), rtol=1e-15)


def test_statuses_and_texts(rng):
    @STATUS
    def root(out, ins, status):
        (x,) = addresses(ins, 1)
        if at(x, 1)[0] < 0:
            fail(status, "the number is negative: ±")
        at(out, 1)[...] = np.sqrt(abs(at(x, 1)))

    @TEXT
    def add_text(out, ins, text, length, status):
        (x,) = addresses(ins, 1)
        at(out, 1)[...] = at(x, 1) + float(ctypes.string_at(text, length).decode())

    f = numhlo.custom_call("test.root", root, result=SCALAR, api_version=2)
    g = numhlo.custom_call("test.add_text", add_text, result=SCALAR, api_version=3)
    for found in every_way(lambda x: g(f(x), backend_config="0.25"), 9.0):
        assert found == 3.25
    compiled = numhlo.jit(lambda x: f(x) + 1)
    compiled(1.0)
    compiled.wait()
    for call in (f, numhlo.jit(lambda x: f(x) + 1), compiled):
        with pytest.raises(NativeCallError, match=r"custom_call test\.root: the number is negative: ±"):
            call(-1.0)
    assert compiled(16.0) == 5.0


def test_other_threads_run_meanwhile():
    """A native function that waits for another Python thread: with the GIL, it would wait for ever."""
    started, go = threading.Event(), threading.Event()

    @PLAIN
    def wait(out, ins):
        started.set()
        assert go.wait(60)
        at(out, 1)[...] = 7.0

    f = numhlo.jit(numhlo.custom_call("test.wait", wait, result=SCALAR))
    go.set()
    f()
    f.wait()
    f()
    go.clear()
    thread = threading.Thread(target=f)
    started.clear()
    thread.start()
    assert started.wait(60)
    go.set()
    thread.join()


@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (np.zeros(3), ShapeError, r"custom_call test\.wrong\.\d+ returned an array of shape \[3\]"),
        (np.zeros(2, np.float32), DTypeError, r"returned an array of float32\n.*described as float64\[2\]"),
        (np.array(["a", "b"]), DTypeError, "returned an array of <U1"),
        ((np.zeros(2), np.zeros(2)), ShapeError, "returned 2 results"),
        (None, ShapeError, "returned 0 results"),
    ],
)
def test_results_that_are_not_as_described(returned, error, text):
    f = numhlo.custom_call(f"test.wrong.{next(NUMBERS)}", lambda x: returned, result=lambda x: x)
    for call in (f, numhlo.jit(f)):
        with pytest.raises(error, match=text):
            call(np.ones(2))


def test_bad_registrations():
    with pytest.raises(
        ArgumentError, match=r"custom_call test\.both: it is registered already\n.*\n  at test_custom_call"
    ):
        numhlo.custom_call("test.both", split, result=SCALAR)
    with pytest.raises(ArgumentError, match=r"registered already\n.*\n  by numhlo"):
        numhlo.custom_call("numhlo.kernel", split, result=SCALAR)
    with pytest.raises(TypeError, match=r"implementation is of class int, no function"):
        numhlo.custom_call("test.bad", 3, result=SCALAR)
    with pytest.raises(ArgumentError, match=r"batching='all'"):
        numhlo.custom_call("test.bad", split, result=SCALAR, batching="all")
    with pytest.raises(ArgumentError, match=r"api_version=1 of a Python function"):
        numhlo.custom_call("test.bad", print, result=SCALAR, api_version=1)
    with pytest.raises(ArgumentError, match=r"api_version=5"):
        numhlo.custom_call("test.bad", split, result=SCALAR, api_version=5)
    with pytest.raises(ArgumentError, match=r"linear=\(0,\)"):
        numhlo.custom_call("test.bad", split, result=SCALAR, linear=(0,))
    with pytest.raises(ArgumentError, match="the name ''"):
        numhlo.custom_call("", split, result=SCALAR)


def test_bad_calls():
    with pytest.raises(ArgumentError, match=r"custom_call test\.both: options k\n"):
        both(np.ones(4), k=1)
    with pytest.raises(ArgumentError, match=r"the option factor is of class traced array"):
        numhlo.jit(lambda x: reversed_scaled(x, factor=x))(np.ones(4))
    with pytest.raises(UnsupportedError, match=r"elements of int4"):
        numhlo.custom_call("test.narrow", scale_rows, result=lambda x: x)(np.ones(2, ml_dtypes.int4))


@PLAIN
def columns(out, ins):
    """Number the 6 elements of a matrix as they lie, and add the matrix's own, which lies in columns."""
    (x,) = addresses(ins, 1)
    at(out, 6)[...] = at(x, 6) + np.arange(6)


@pytest.mark.specifies("native custom calls")
def test_layouts_of_native_functions(rng):
    f = numhlo.custom_call(
        "test.columns", columns, result=lambda x: x, operand_layouts=[(0, 1)], result_layouts=[numhlo.Layout((0, 1))]
    )
    x = rng.normal(size=(2, 3))
    numbers = np.arange(6).reshape(3, 2).T
    np.testing.assert_array_equal(f(x), x + numbers)
    for found in every_way(lambda x: f(np.sin(x)) * 2, x):
        np.testing.assert_array_equal(found, 2 * (np.sin(x) + numbers))
    g = numhlo.jit(lambda x: f(np.sin(x)) * 2)
    assert "operand_layouts = [dense<[0, 1]> : tensor<2xindex>]" in g.lower(x).as_text()
    g(x)
    g.wait()
    assert "in Python" not in g.explain() and "on NumPy" not in g.explain()
    for found in every_way(numhlo.vmap(f), np.stack([x, -x])):
        np.testing.assert_array_equal(found, [x + numbers, numbers - x])


def test_layouts_of_python_functions(rng):
    seen = []

    def look(x):
        seen.append(x.strides)
        return x

    f = numhlo.custom_call("test.look", look, result=lambda x: x, operand_layouts=[(1, 2, 0)])
    x = rng.normal(size=(2, 3, 4))
    for found in every_way(f, x):
        np.testing.assert_array_equal(found, x)
    assert set(seen) == {(96, 8, 24)}


def test_layouts_that_do_not_fit():
    f = numhlo.custom_call("test.unfit", lambda x: x, result=lambda x: x, operand_layouts=[(0, 1)])
    with pytest.raises(ArgumentError, match=r"the layout \{0,1\} of operand 0, of 1 dimensions"):
        f(np.ones(3))
    f = numhlo.custom_call("test.unfit.count", lambda x: x, result=lambda x: x, operand_layouts=[])
    with pytest.raises(ArgumentError, match="operand_layouts has 0, and there are 1 operands"):
        f(np.ones(3))
    with pytest.raises(ArgumentError, match=r"Layout\(\(0, 2\)\)"):
        numhlo.custom_call("test.unfit.order", lambda x: x, result=lambda x: x, operand_layouts=[(0, 2)])(
            np.ones((2, 2))
        )


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_results_in_the_memory_of_operands(dtype, rng):
    def up(out, ins):
        """Add 1, 2, 3 to what lies in the first result, and tell whether that is the second operand."""
        _, x = addresses(ins, 2)
        total, same = addresses(out, 2)
        at(total, 3, dtype)[...] += np.arange(1.0, 4.0)
        at(same, 1)[...] = x == total

    f = numhlo.custom_call(
        f"test.counted.{np.dtype(dtype)}",
        PLAIN(up),
        result=lambda k, x: (x, SCALAR),
        input_output_aliases={1: 0},
    )
    x = rng.normal(size=3).astype(dtype)
    for total, same in every_way(lambda x: f(1.0, x), x):
        np.testing.assert_array_equal(total, x + np.arange(1, 4))
        assert same == 1
    text = numhlo.jit(lambda x: f(1.0, x)).lower(x).as_text()
    assert "output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []" in text
    absent = numhlo.custom_call(f"test.absent.{np.dtype(dtype)}", PLAIN(up), result=SCALAR, input_output_aliases={1: 0})
    with pytest.raises(ArgumentError, match=r"aliases of operand 1 and result 0: not there"):
        absent(x)
    orders = {"operand_layouts": [(0, 1)], "result_layouts": [(1, 0)], "input_output_aliases": {0: 0}}
    mixed = numhlo.custom_call(f"test.mixed.{np.dtype(dtype)}", PLAIN(up), result=lambda x: x, **orders)
    for call in (mixed, numhlo.jit(mixed)):
        with pytest.raises(UnsupportedError, match=r"result 0 in the memory of operand 0, in another layout"):
            call(np.ones((2, 2), dtype))
    wrong = numhlo.custom_call(f"test.up.{np.dtype(dtype)}", PLAIN(up), result=SCALAR, input_output_aliases={0: 0})
    with pytest.raises(ArgumentError, match=r"aliases of operand 0 and result 0: \w+\[3\], float64\[\]"):
        wrong(x)


def test_options_in_texts_have_the_types_that_they_say():
    seen = []
    numhlo.custom_call("test.seen", lambda x, **options: seen.append(options) or x, result=lambda x: x)
    text = """func.func public @main(%x: tensor<3xf64>) -> tensor<3xf64> {
      %0 = stablehlo.custom_call @test.seen(%x) {api_version = 4 : i32, backend_config = {
        a = array<i32: 1, 2>, b = dense<[1.0, 2.0]> : tensor<2xf32>, c = 3 : ui8, d = true, e = {f = "g", h = [1, 2]}
      }} : (tensor<3xf64>) -> tensor<3xf64>
      return %0 : tensor<3xf64>
    }"""
    numhlo.stablehlo.parse(text).run("main", np.ones(3))
    (found,) = seen
    assert found["a"].dtype == np.int32 and found["a"].tolist() == [1, 2]
    assert found["b"].dtype == np.float32 and found["c"].dtype == np.uint8
    assert found["d"] is True and found["e"] == {"f": "g", "h": (1, 2)}


def test_tokens_order_calls():
    seen = []
    numhlo.custom_call("test.ordered", lambda x: seen.append(x.tolist()) or x + 1, result=lambda x: x)
    text = """func.func public @main(%x: tensor<f64>) -> tensor<f64> {
      %t = stablehlo.after_all : !stablehlo.token
      %0:2 = stablehlo.custom_call @test.ordered(%x, %t) : (tensor<f64>, !stablehlo.token) -> (tensor<f64>, !stablehlo.token)
      %1:2 = stablehlo.custom_call @test.ordered(%0#0, %0#1) : (tensor<f64>, !stablehlo.token) -> (tensor<f64>, !stablehlo.token)
      return %1#0 : tensor<f64>
    }"""
    module = numhlo.stablehlo.parse(text)
    assert module.run("main", 1.0)[0] == module.interpret("main", 1.0)[0] == 3.0
    assert seen == [1.0, 2.0, 1.0, 2.0]
