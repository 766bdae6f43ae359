"""The namespace as a program sees it: names, aliases, inspection, what is absent, and that each name runs."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n
from numhlo.numpy.absent import ADVICE
from tests.library.agreement import check_all, refusal, run_traced

STANDARD = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "astype",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "take",
    "take_along_axis",
    "matmul",
    "matrix_transpose",
    "tensordot",
    "vecdot",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    "argmax",
    "argmin",
    "count_nonzero",
    "nonzero",
    "searchsorted",
    "where",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "argsort",
    "sort",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
    "all",
    "any",
    "diff",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
]

ALIASES = [
    "arccos acos", "arccosh acosh", "arcsin asin", "arcsinh asinh", "arctan atan", "arctan2 atan2", "arctanh atanh",
    "concatenate concat", "power pow", "amax max", "amin min", "around round", "absolute abs", "conjugate conj",
    "mod remainder", "invert bitwise_invert", "true_divide divide", "permute_dims transpose", "degrees rad2deg",
]  # fmt: skip


def test_the_standards_names():
    assert not [name for name in STANDARD if not hasattr(n, name)]
    assert n.__array_api_version__ == "2024.12"
    for pair in ALIASES:
        first, second = pair.split()
        assert getattr(n, first) is getattr(n, second)


@pytest.mark.oracle("numpy>=2.2")
def test_all_lists_what_is_there():
    assert len(n.__all__) > 350 and not [name for name in n.__all__ if not hasattr(n, name)]
    assert not {"annotations", "Any", "methods", "constants", "inspection"} & set(n.__all__)
    unknown = [
        name for name in n.__all__ if not hasattr(np, name) and name not in ("Array", "bfloat16", "sliding_window_view")
    ]
    assert unknown == []
    undocumented = [name for name in n.__all__ if callable(getattr(n, name)) and not getattr(n, name).__doc__]
    assert undocumented == []


def test_inspection():
    info = n.__array_namespace_info__()
    assert info.default_device() == "cpu" and info.devices() == ["cpu"]
    assert info.default_dtypes()["real floating"] == np.float64
    assert set(info.dtypes(kind="integral")) == {f"{sign}int{width}" for sign in ("", "u") for width in (8, 16, 32, 64)}
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64", "complex128"]
    assert len(info.dtypes()) == 13 and info.capabilities()["max dimensions"] == 64
    with pytest.raises(ValueError, match="use one of bool, signed integer"):
        info.dtypes(kind="nonsense")


def test_limits():
    assert type(n.finfo("float32").eps) is float and n.finfo(np.complex64(1)).bits == 32
    assert n.finfo("bfloat16").max > 3e38 and n.finfo("float16").nmant == 10 and n.iinfo(np.int8(3)).max == 127
    assert "finfo(min=" in repr(n.finfo("float64"))


def test_absent_names_say_what_to_write():
    assert not [name for name in ("nonsense", *ADVICE, "float8_e5m2") if hasattr(n, name)]
    with pytest.raises(
        AttributeError, match=r"^module 'numhlo.numpy' has no attribute 'matrix'; use two-dimensional arrays and @$"
    ):
        _ = n.matrix
    for name, advice in (
        ("emath", "the dtype can't follow values"),
        ("asarray_chkfinite", r"isfinite\(x\).all\(\) as a result"),
        ("float8_e4m3fn", "in ml_dtypes"),
        ("frompyfunc", "use vectorize"),
        ("longdouble", "use float64"),
    ):
        with pytest.raises(AttributeError, match=advice):
            getattr(n, name)
    with pytest.raises(AttributeError, match=r"^module 'numhlo' has no attribute 'pmap'; use vmap"):
        _ = numhlo.pmap
    with pytest.raises(AttributeError, match=r"^module 'numhlo' has no attribute 'nonsense'$"):
        _ = numhlo.nonsense
    with pytest.raises(AttributeError, match="keys make draws part of the program"):
        _ = n.random


@pytest.mark.oracle("numpy>=2.4")
def test_every_name_of_numpy_is_there_or_says_what_to_write():
    """The names are NumPy's own; those that it warns of itself are on their way out."""
    silent = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for theirs, ours in (
            (np, n),
            (np.linalg, n.linalg),
            (np.fft, n.fft),
            (np.random, numhlo.random),
            (np.random.Generator, numhlo.random),
        ):
            for name in dir(theirs):
                if name.startswith("_") or name == "test" or not hasattr(theirs, name):
                    continue
                try:
                    getattr(ours, name)
                except AttributeError as error:
                    silent += [] if "; " in str(error) else [f"{theirs.__name__}.{name}"]
    assert silent == []
    with pytest.raises(
        AttributeError, match=r"^module 'numhlo.random' has no attribute 'randn'; use normal\(key, ...\)$"
    ):
        _ = numhlo.random.randn


def test_numbers_round_as_numpy_s_scalars_do():
    x = n.asarray(15.0) / 7
    assert type(round(x)) is int and round(x) == 2 and round(n.asarray(2.5)) == 2
    rounded = round(x, 2)
    assert rounded.dtype == np.float64 and rounded == round(np.float64(15.0) / 7, 2)
    with pytest.raises(TypeError, match="doesn't define __round__"):
        round(n.ones(3))


def test_eager_results_are_arrays():
    results = [
        n.zeros(2),
        n.sum(np.ones(2)),
        n.linalg.norm(np.ones(2)),
        n.stack([np.ones(2)]),
        n.asarray(3),
        n.sqrt(4.0),
    ]
    assert {type(x) for x in results} == {numhlo.Array}
    pair = n.unique_counts(np.array([1, 1]))
    assert type(pair.values) is numhlo.Array and pair.counts.tolist() == [2]
    assert n.shape([[1, 2]]) == (1, 2) and n.ndim(3) == 0 and n.size(np.ones((2, 3)), 1) == 3
    assert n.result_type("float32", 1.0) == np.float32 and n.promote_types("int8", "bfloat16").name == "bfloat16"
    assert n.can_cast("int8", "int16") and n.isrealobj(1.0) and not n.iscomplexobj(np.ones(2))


def test_types_of_traced_arrays():
    def f(x, k):
        kinds = [n.result_type(x, 1j), n.result_type(x, np.int64), n.result_type(k, np.float32)]
        assert [kind.name for kind in kinds] == ["complex64", "float64", "float32"]
        assert n.shape(x) == np.shape(x) == (2, 3) and n.ndim(x) == np.ndim(x) == 2
        assert n.size(x) == np.size(x) == 6 and np.size(x, 0) == 2
        assert n.can_cast(x, np.float64) and n.isrealobj(x) and n.iscomplexobj(x * 1j)
        assert np.isrealobj(x) and not np.iscomplexobj(x) and np.result_type(x, x) == np.float32
        assert n.common_type(x) is np.float32 and n.min_scalar_type(x) == np.float32 and n.finfo(x).bits == 32
        assert x.itemsize == 4 and x.nbytes == 24 and len(x) == 2 and x.__array_namespace__() is n
        return x

    run_traced(f, [np.ones((2, 3), np.float32), 2])


MORE = [
    ("matvec", lambda np, x, v: (np.matvec(x, v), np.vecmat(v[:2], x), np.vecmat(v[:2] * 1j, x)), np.arange(6.0).reshape(2, 3), np.ones(3)),
    ("bits", lambda np, m: (np.packbits(m), np.packbits(m, 1), np.packbits(m, 0, bitorder="little")), np.arange(33).reshape(3, 11) % 3 > 0),
    ("unbits", lambda np, u: (np.unpackbits(u), np.unpackbits(u, 1), np.unpackbits(u, 1, 5), np.unpackbits(u, 0, -3, "little")), np.array([[3, 200], [255, 0]], np.uint8)),
    ("windows", lambda np, x: np.lib.stride_tricks.sliding_window_view(x, (2, 2)) if np is n else sliding(x, (2, 2)), np.arange(12.0).reshape(3, 4)),
    ("sort_complex", lambda np, v: (np.sort_complex(v), np.sort_complex(v.astype("f4")), np.sort_complex(v * 1j)), np.array([3.0, 1, 2])),
]  # fmt: skip


def sliding(x, shape):
    return np.lib.stride_tricks.sliding_window_view(x, shape)


@pytest.mark.oracle("numpy>=2.2")
def test_more_names():
    check_all(MORE)
    assert n.einsum_path("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))[0] == ["einsum_path", (0, 1)]


def test_importing_is_light():
    code = "import sys, numhlo.numpy, numhlo.lax, numhlo.nn, numhlo.scipy.special, numhlo.compat.jax\n"
    code += "print([m for m in ('scipy', 'numba', 'llvmlite', 'jax') if m in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200
    ).stdout
    assert printed.strip() == "[]"


def test_jitted_end_to_end():
    def f(x, k):
        y = n.zeros_like(x)
        y[1:] = n.diff(x, axis=0)
        y[y < 0] *= -1
        parts = np.split(y, 2, axis=1)
        return {
            "sorted": np.sort(parts[0], axis=None),
            "mean": y.mean(1),
            "top": n.argmax(y * k),
            "norm": n.linalg.norm(parts[1]),
        }

    x = np.arange(24.0).reshape(4, 6) ** 1.5 % 7
    plain, jitted = f(x, 2), numhlo.jit(f)(x, 2)
    for key, value in plain.items():
        np.testing.assert_allclose(jitted[key], value, rtol=1e-12)
        assert jitted[key].dtype == value.dtype


def test_leaked_and_unknown_functions():
    assert refusal(lambda _, x: np.histogram_bin_edges(x, "auto"), np.ones(2))
    assert refusal(lambda _, x: np.is_busday(x), np.ones(3)) == (
        "numpy.is_busday of a traced array\n  at test_names.py\n  this NumPy function has no traced meaning yet; "
        "compute it outside the traced function, or from functions of numhlo.numpy"
    )
