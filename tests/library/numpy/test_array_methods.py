"""Traced arrays as objects: operators, methods, attributes, what Python asks of their values, and what they refuse."""

from __future__ import annotations

import copy
import operator
import pickle

import ml_dtypes
import numpy
import pytest

import numhlo
import numhlo.numpy
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError, ShapeError, UnsupportedError
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal

X = numpy.array([[3.0, -1.0, 2.5], [7.0, 1.5, -2.0]])
I = numpy.array([[3, 1, 2], [7, 5, 6]])
Z = X + 1j * X[::-1]

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]


def test_operators():
    cases = []
    for name in BINARY:
        f = getattr(operator, name)
        cases += [
            (
                name,
                lambda np, x, y, f=f: (f(x, y), f(x, 2), f(3.0, y), f(x, y[0]), f(y, [1, 2, 3])),
                numpy.abs(X),
                numpy.abs(X) + 1,
            )
        ]
    for name in BITS:
        f = getattr(operator, name)
        cases += [(name, lambda np, x, y, f=f: (f(x, y), f(x, 1), f(2, y)), I, I % 3)]
    cases += [("unary", lambda np, x, i: (-x, +x, abs(x), ~i, divmod(x, 2), divmod(7, i)), X, I)]
    cases += [("matmul", lambda np, x, y: (x @ y.T, [1.0, 2.0] @ x, x @ numpy.ones(3)), X, X)]
    check_all(cases)


def test_in_place_operators():
    def f(np, x, i, s):
        view, name = x[0], x
        x += 1
        x *= i
        x /= 2
        x -= view
        i //= 2
        i %= 4
        i |= 8
        i ^= 3
        i &= 7
        i <<= 1
        i >>= 1
        x **= 2
        total = x.sum()
        same = total
        total += 1
        s += 2
        return view + 0, name + 0, i + 0, total, same, s

    check(f, X, I, numpy.array(5))
    same_refusal(lambda np, i: operator.iadd(i, 0.5), I)
    same_refusal(lambda np, x: operator.iadd(x, X.T), X)


def test_in_place_operators_keep_python_numbers_weak():
    def f(x, s, k):
        s += 1
        s *= k
        k -= 1
        return x * s, x + k

    x = numpy.ones(2, numpy.float32)
    assert [y.dtype for y in numhlo.jit(f)(x, 0.5, 2)] == [y.dtype for y in f(x, 0.5, 2)]
    x = x.astype(numpy.int8)
    assert [y.dtype for y in numhlo.jit(f)(x, 1, 2)] == [y.dtype for y in f(x, 1, 2)]


def test_shapes_of_arguments_and_dtypes_are_not_assigned():
    assert refusal(lambda np, x: setattr(x, "shape", (6,)), X, kind=UnsupportedError) == (
        "assignment to the shape of a traced array float64[2,3]\n  at test_array_methods.py\n"
        "  it is an argument; write x = x.reshape(shape)"
    )
    assert "its type is fixed while tracing; write x = x.view(dtype)" in refusal(
        lambda np, x: setattr(x, "dtype", np.int64), X, kind=UnsupportedError
    )


def test_shapes_are_assigned_in_place():
    def f(x):
        y = numpy.ndarray((2, 3), numpy.float32)
        y[:] = 1
        z = x * 2
        other, view = z, z[0]
        z.shape = (3, 2)
        z[0, 1] = 7
        z.shape = -1
        rows = (x + 1)[:, ::2]
        rows.shape = (2, 2, 1)
        return y, z, other, view, rows

    compiled = numhlo.jit(f)
    for k in range(3):
        for found, expected in zip(compiled(X + k), f(X + k), strict=True):
            numpy.testing.assert_array_equal(found, expected, strict=True)


def test_shapes_that_need_a_copy_are_refused_as_by_numpy():
    def f(x):
        y = (x * 2).T
        y.shape = 6
        return y

    for function in (f, numhlo.jit(f)):
        with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
            function(X)


def test_no_element_equals_none_or_text():
    check(lambda np, x: (x == None, x != None, x == "a", x != b"a"), X)  # noqa: E711
    assert numhlo.jit(lambda x: x[0, 0] == None)(X) == False  # noqa: E711, E712


def test_the_method_conjugate_leaves_real_numbers_as_they_are():
    check(lambda np, x, i, b: (x.conj(), i.conjugate(), b.conj(), np.conj(b)), X, I, X > 0)


METHODS = [
    ("reductions", lambda np, x: (x.sum(), x.sum(0), x.mean(1), x.max(), x.min(axis=0, keepdims=True), x.prod(), x.std(), x.var(ddof=1))),
    ("truth", lambda np, x: ((x > 0).all(), (x > 0).any(1), x.argmax(), x.argmin(1), x.argsort(), x.cumsum(), x.cumprod(1))),
    ("shapes", lambda np, x: (x.reshape(3, 2), x.reshape((6,)), x.ravel(), x.flatten(), x.T, x.transpose(1, 0), x.swapaxes(0, 1), x.squeeze())),
    ("values", lambda np, x: (x.clip(0, 2), x.round(1), x.take([0, 5]), x.repeat(2), x.diagonal(), x.trace(), x.dot(x.T), x.conj())),
    ("copies", lambda np, x: (x.copy(), x.astype("f4"), x.astype(int), copy.copy(x), copy.deepcopy(x), x.astype(x.dtype))),
    ("choice", lambda np, x: (x[0].searchsorted(2.0), (x[0] > 1).choose([x[0], 0]), x.conjugate())),
    ("attributes", lambda np, x: (x.real, x.imag, x.flat[3], x.flat[::2], x.mT, len(x), x.ndim, x.size, x.itemsize, x.nbytes)),
    ("iteration", lambda np, x: ([row.sum() for row in x], [e for row in x for e in row], list(x[0]))),
    ("bits", lambda np, x: (x.view("i8"), x.astype("f4").view("u4"), x.astype("f4").view("f8") if x.shape[1] % 2 == 0 else 0)),
]  # fmt: skip


def test_methods():
    check_all([(name, f, X) for name, f in METHODS])


def test_parts_of_flat_are_copies():
    def f(np, x):
        part, whole = x.flat[1::2], x.flat[:]
        part += 1
        whole[0] = 9
        x.flat[::2] += 5
        np.fill_diagonal(x, [7, 8])
        return part, x

    check_all([("flat", f, X.copy())])


def test_scalars_out_of_arrays_without_dimensions_are_copies():
    def f(np, x):
        scalar = x[()]
        scalar.reshape(1, 1)[0] = 5
        return scalar, x

    check_all([("scalar", f, numpy.array(3.5))])


def test_writing_methods_and_attributes():
    def f(np, x, z):
        x.flat[1] = 9
        x.flat = [1.0, 2.0]
        x[:, 1].fill(5)
        z.real = 1
        z.imag[0] = 7
        part = z.real
        part += 1
        x[0].sort()
        x.put([0, -1], [-5.0, 6.0])
        x.partition(1)
        x[1].view("i8")[0] = 0
        return numpy.float64(0) if np is None else x + 0, z + 0, part + 0

    check(f, X, Z)


def test_bit_views_of_other_widths():
    wide = numpy.arange(8, dtype=numpy.int32).reshape(2, 4)
    check(lambda np, x: (x.view("i2"), x.view("i8"), x.view("u1"), x.view("f4")), wide)
    check(lambda np, z: (z.view("f8"), z.view("f8").view("c16")), Z)
    check(lambda np, x: x.view(bool) if x.dtype == numpy.int8 else x, (wide[0] > 2).view("i1"))

    def write(np, x, z):
        x.view("i2")[:, ::2] = 1
        z.view("f8")[0, 1] = 9.0
        return x + 0, z + 0

    check(write, wide, Z)
    assert refusal(lambda np, x: x.T.view("i8"), wide, kind=ShapeError) == (
        "view of int32[4,2] as int64\n  at test_array_methods.py\n"
        "  to change the width, the last axis must be contiguous and a multiple of the new one; make it contiguous with copy()"
    )


def test_unsupported_operands():
    def f(x):
        for name in ("__add__", "__radd__", "__iadd__", "__matmul__", "__lt__", "__pow__"):
            assert getattr(x, name)(numpy.polynomial.Polynomial([1.0])) is NotImplemented
            for other in (None, object(), {}):
                with pytest.raises(DTypeError, match=f"a traced array and a {type(other).__name__}"):
                    getattr(x, name)(other)
        for operation in (operator.add, operator.lt, operator.iadd):
            with pytest.raises(TypeError, match=r"not supported.*'traced array'|unsupported operand.*'traced array'"):
                operation(x, operator.itemgetter(0))
            with pytest.raises(TypeError, match="arithmetic of a traced array and a str"):
                operation(x, "text")
        assert (x == {}) is False and (x != object()) is True
        return x

    run_traced(f, [X])


def test_values_that_are_known():
    def f(x):
        n = numhlo.numpy.asarray([2, 3])
        assert (
            int(n[0]) == 2 and float(n[1]) == 3.0 and complex(n[0]) == 2 and bool(n[0] < n[1]) and [5, 6, 7][n[0]] == 7
        )
        assert n.tolist() == [2, 3] and n[0].item() == 2 and n.tobytes() == numpy.array([2, 3]).tobytes()
        assert (
            f"{n[0]:03d}" == "002" and "Traced<int64[2] = array([2, 3])>" == repr(n) == f"{n}" and 3 in n and 9 not in n
        )
        return numpy.asarray(n) + x.sum()

    assert_same(run_traced(f, [X])[0], numpy.array([2, 3]) + X.sum())


@pytest.mark.parametrize(
    ("ask", "what", "fix"),
    [
        (bool, "the truth value", "use numpy.where or lax.cond instead of if, lax.while_loop instead of while, logical_and instead of and; numhlo.jit does so by itself where the source can be read"),
        (int, "int()", "use astype(int), or mark the argument static (static_argnums, static_argnames); to write it into an array, make that array with numhlo.numpy"),
        (float, "float()", "use astype(float), or mark the argument static (static_argnums, static_argnames); to write it into an array, make that array with numhlo.numpy"),
        (range, "the use as a Python index or length", "mark the argument static (static_argnums, static_argnames), or use lax.dynamic_slice / lax.fori_loop"),
        (lambda x: x.tobytes(), "tobytes()", "return the array and convert it outside the traced function"),
        (lambda x: f"{x:.2f}", "formatting", "return it and format it outside the traced function"),
        (pickle.dumps, "pickling", "return it from the traced function first"),
        (lambda x: x.__dlpack__(), "DLPack export", "return it from the traced function first"),
    ],
)  # fmt: skip
def test_values_that_are_not(ask, what, fix):
    message = refusal(lambda np, x: ask(x), 3, kind=ConcretizationError)
    assert message.startswith(
        f"{what} of a traced array int64[]\n  at test_array_methods.py\n  its value is not known while tracing"
    )
    assert message.endswith(f"; {fix}")


def test_what_has_no_dimensions():
    same_refusal(lambda np, x: len(x.sum()), X, plain=False)
    same_refusal(lambda np, x: list(x.sum()), X, plain=False)
    same_refusal(lambda np, x: x[0].mT, X, plain=False)
    same_refusal(lambda np, x: hash(x), X)
    assert run_traced(lambda x: x.block_until_ready().to_device("cpu"), [X])[0].tolist() == X.tolist()
    assert "Unsupported device" in refusal(lambda np, x: x.to_device("gpu"), X, kind=ValueError)


def test_bfloat16_methods():
    x = X.astype(ml_dtypes.bfloat16)
    f = lambda x: (
        x.sum(),
        x.mean(1),
        x.max(),
        x.argmax(),
        x.argsort(),
        x @ x.T,
        x.astype("f4"),
        x[0] > 1,
        x.cumsum(1),
        abs(x),
        x.sort(),
    )
    found, _ = run_traced(lambda x: f(x.copy())[:-1], [x])
    assert [a.dtype.name for a in found[:4]] == ["bfloat16", "bfloat16", "bfloat16", "int64"]
    assert float(found[2]) == 7.0 and found[3] == 3 and found[4].tolist() == numpy.argsort(X, stable=True).tolist()


def test_jitted_methods_update_the_caller():
    @numhlo.jit
    def f(x, out):
        x[x < 0] = 0
        numpy.multiply(x, 2, out=out)
        out.T[0] += 100
        return x.sum()

    x, out = X.copy(), numpy.zeros((2, 3), order="F")
    total = f(x, out[:, ::-1])
    clipped = numpy.maximum(X, 0)
    assert x.tolist() == clipped.tolist() and total == clipped.sum()
    expected = clipped * 2
    expected[:, 0] += 100
    assert out[:, ::-1].tolist() == expected.tolist()
