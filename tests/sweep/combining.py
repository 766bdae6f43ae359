"""Random ops that combine elements: reductions, windows, sorts, products, convolutions, transforms, factorizations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers, DotDimensionNumbers
from tests.sweep.program import DTYPES, EIGHT_BITS, Program

SUMMED = set(DTYPES) - {BOOL} - set(EIGHT_BITS)
REAL = set(DTYPES) - COMPLEX
WIDE = {np.dtype("float32"), np.dtype("float64")}


def _one_or_two(p: Program) -> list[np.dtype]:
    """Return the dtypes of what is reduced together; XLA wants floats of one precision."""
    first = p.dtype(SUMMED | {BOOL})
    return [first] if p.chance(0.7) else [first, p.dtype(INTEGERS | {BOOL})]


def _combination(p: Program, dtype: np.dtype) -> str:
    if dtype == BOOL:
        return p.pick(["and", "or", "xor"])
    return p.pick(["add"] if dtype in COMPLEX else ["add", "maximum", "minimum"])


def reduce(p: Program) -> None:
    """Reduce any axes, one array or two."""
    shape = p.shape(0, 5)
    dtypes = _one_or_two(p)
    names = [_combination(p, d) for d in dtypes]
    inputs = [p.operand(TensorType(shape, d), "small") for d in dtypes]
    axes = tuple(d for d in range(len(shape)) if p.chance())
    if math.prod(shape[d] for d in axes) == 1:  # XLA forgets the initial values of a reduction of one element
        initial = [p.argument(_neutral(name, d)) for name, d in zip(names, dtypes, strict=True)]
    else:
        initial = [p.operand(TensorType((), d), "small") for d in dtypes]
    count = len(dtypes)

    def combine(*values: Value) -> list[Value]:
        return [p.op(names[k], values[k], values[k + count]) for k in range(count)]

    region = p.scalar_region(dtypes * 2, combine)
    p.add("reduce", *inputs, *initial, regions=[region], dimensions=axes)


def extreme(p: Program) -> None:
    """Find the first of the greatest or least, and where: a reduction of two arrays by comparing."""
    dtype = p.dtype(REAL - {BOOL})
    shape = p.shape(1, 4)
    axis = p.below(0, len(shape))
    if shape[axis] == 1:  # as in `reduce`
        return
    direction = p.pick(["GT", "LT"])
    number = np.dtype(p.pick(["int32", "int64"]))
    x = p.operand(TensorType(shape, dtype), "small")
    places = p.op("iota", result=TensorType(shape, number), iota_dimension=axis)
    first = p.argument(np.array(-100 if direction == "GT" and dtype not in _unsigned() else 0).astype(dtype))
    zero = p.builder.constant(np.zeros((), number))

    def combine(x: Value, i: Value, y: Value, j: Value) -> list[Value]:
        better = p.op("compare", x, y, comparison_direction=direction)
        tie = p.op("and", p.op("compare", x, y, comparison_direction="EQ"), _less(p, i, j))
        keep = p.op("or", better, tie)
        return [p.op("select", keep, x, y), p.op("select", keep, i, j)]

    region = p.scalar_region([dtype, number] * 2, combine)
    p.add("reduce", x, places, first, zero, regions=[region], dimensions=(axis,))


def _less(p: Program, i: Value, j: Value) -> Value:
    return p.op("compare", i, j, comparison_direction="LT")


def _unsigned() -> set[np.dtype]:
    return {d for d in DTYPES if d in INTEGERS and d.kind == "u"}


def _window(p: Program, ndim: int, dilated: bool) -> dict[str, Any]:
    """Return random attributes of a sliding window."""
    made: dict[str, Any] = {"window_dimensions": tuple(p.below(1, 4) for _ in range(ndim))}
    if p.chance(0.7):
        made["window_strides"] = tuple(p.below(1, 4) for _ in range(ndim))
    if dilated and p.chance():
        made["base_dilations"] = tuple(p.below(1, 3) for _ in range(ndim))
    if dilated and p.chance():
        made["window_dilations"] = tuple(p.below(1, 3) for _ in range(ndim))
    if p.chance(0.7):
        made["padding"] = np.array([[p.below(-1, 3), p.below(-1, 3)] for _ in range(ndim)]).reshape(ndim, 2)
    return made


def _fits(shape: tuple[int, ...], padding: Any) -> bool:
    """Return whether negative padding leaves something."""
    if padding is None:
        return True
    return all(n + min(0, int(a)) + min(0, int(b)) > 0 for n, (a, b) in zip(shape, padding, strict=True))


def _neutral(name: str, dtype: np.dtype) -> np.ndarray:
    """Return what changes nothing: the specification counts it once for every element of padding, and XLA does not."""
    number = {"and": 1, "maximum": 0 if dtype in _unsigned() else -100, "minimum": 100}.get(name, 0)
    return np.array(number).astype(dtype)


def reduce_window(p: Program) -> None:
    """Reduce windows: strided, dilated, padded by any amount, one array or two."""
    shape = p.shape(1, 4, 6)
    attributes = _window(p, len(shape), dilated=True)
    if not _fits(shape, attributes.get("padding")) and "base_dilations" in attributes:
        return
    if math.prod(attributes["window_dimensions"]) == 1:  # XLA makes an addition of another shape of it, and aborts
        return
    dtypes = _one_or_two(p)
    names = [_combination(p, d) for d in dtypes]
    inputs = [p.operand(TensorType(shape, d), "small") for d in dtypes]
    initial = [p.argument(_neutral(name, d)) for name, d in zip(names, dtypes, strict=True)]
    count = len(dtypes)

    def combine(*values: Value) -> list[Value]:
        return [p.op(names[k], values[k], values[k + count]) for k in range(count)]

    p.add("reduce_window", *inputs, *initial, regions=[p.scalar_region(dtypes * 2, combine)], **attributes)


def select_and_scatter(p: Program) -> None:
    """Send values to the elements that windows select, the first of ties."""
    dtype = p.dtype(SUMMED - COMPLEX)
    shape = tuple(max(1, n) for n in p.shape(1, 4, 6))
    attributes = _window(p, len(shape), dilated=False)
    padding = attributes.get("padding", np.zeros((len(shape), 2), int))
    steps = attributes.get("window_strides", (1,) * len(shape))
    sizes = attributes["window_dimensions"]
    if (np.asarray(padding) < 0).any() or (np.asarray(padding).max(1) >= np.array(sizes)).any():
        return  # windows that lie in the padding alone: nothing to select
    extents = [
        max(0, (n + int(a) + int(b) - w) // s + 1) for n, (a, b), w, s in zip(shape, padding, sizes, steps, strict=True)
    ]
    x = p.operand(TensorType(shape, dtype), "small")
    source = p.operand(TensorType(tuple(extents), dtype), "small")
    direction = p.pick(["GE", "LE", "GT", "LT"])
    choose = p.scalar_region([dtype] * 2, lambda a, b: [p.op("compare", a, b, comparison_direction=direction)])
    add = p.scalar_region([dtype] * 2, lambda a, b: [p.op("add", a, b)])
    p.add(
        "select_and_scatter", x, source, p.operand(TensorType((), dtype), "small"), regions=[choose, add], **attributes
    )


def sort(p: Program) -> None:
    """Sort one to three arrays together, by one or by two keys, in any order."""
    shape = p.shape(1, 4, 9)
    dtypes = [p.dtype(REAL - {BOOL})] + [p.dtype() for _ in range(p.below(0, 3))]
    inputs = [p.operand(TensorType(shape, d), "small" if p.chance() else "plain") for d in dtypes]
    direction = p.pick(["LT", "GT"])
    two_keys = len(dtypes) > 1 and dtypes[1] in REAL and p.chance()
    total = "TOTALORDER" if dtypes[0] in FLOATS and p.chance() else None

    def compare(*values: Value) -> list[Value]:
        x, y = values[:2]
        first = p.op("compare", x, y, comparison_direction=direction, compare_type=total)
        if not two_keys:
            return [first]
        equal = p.op("compare", x, y, comparison_direction="EQ", compare_type=total)
        second = p.op("compare", *values[2:4], comparison_direction="GT")
        return [p.op("select", equal, second, first)]

    region = p.scalar_region([d for d in dtypes for _ in range(2)], compare)
    axis = p.below(-1, len(shape))  # XLA knows no negative one but -1
    p.add("sort", *inputs, regions=[region], dimension=axis, is_stable=True)


def dot(p: Program) -> None:
    """Multiply with any batching and contracting dimensions, in any order."""
    dtype = p.dtype(set(DTYPES) - {BOOL})
    extents = [p.below(1, 5) for _ in range(6)]
    if p.chance(0.06):
        extents[p.below(0, 6)] = 0
    batch, contracted = p.below(0, 3), p.below(0, 3)
    shared = extents[: batch + contracted]
    left = [*shared, *extents[4 : 4 + p.below(0, 2)]]
    right = [*shared, *extents[5 : 5 + p.below(0, 2)]]
    a, b = ([int(k) for k in p.rng.permutation(len(side))] for side in (left, right))
    numbers = DotDimensionNumbers(
        tuple(a.index(k) for k in range(batch)),
        tuple(b.index(k) for k in range(batch)),
        tuple(a.index(k) for k in range(batch, batch + contracted)),
        tuple(b.index(k) for k in range(batch, batch + contracted)),
    )
    x = p.operand(TensorType(tuple(left[k] for k in a), dtype), "small")
    y = p.operand(TensorType(tuple(right[k] for k in b), dtype), "small")
    shape = (*shared[:batch], *left[len(shared) :], *right[len(shared) :])
    wider = [
        d for d in ("int32", "float32") if np.dtype(d).itemsize > dtype.itemsize and (dtype in FLOATS) == (d[0] == "f")
    ]
    result = (
        np.dtype(p.pick(wider)) if wider and p.chance(0.4) and dtype not in COMPLEX | {np.dtype("float16")} else dtype
    )
    p.add("dot_general", x, y, result=TensorType(shape, result), dot_dimension_numbers=numbers, error=None)


def convolution(p: Program) -> None:
    """Convolve: everything that the op has, at once."""
    spatial = p.below(1, 4) if p.chance(0.3) else p.below(1, 3)
    dtype = p.pick(
        [np.dtype(n) for n in ("float32", "float32", "float64", "int32", "int8", "uint8", "float16", "complex64")]
    )
    groups, batch_groups = (p.pick([1, 2, 3]), 1) if p.chance(0.7) else (1, p.pick([1, 2]))
    features = p.below(1, 3) * groups
    out = p.below(1, 3) * groups * batch_groups
    batch = p.below(1, 3) * batch_groups
    sizes, window = [p.below(2, 7) for _ in range(spatial)], [p.below(1, 4) for _ in range(spatial)]
    letters = [str(k) for k in range(spatial)]
    layouts = [[str(k) for k in p.rng.permutation(np.array([*pair, *letters]))] for pair in ("bf", "io", "bf")]
    lengths = {"b": batch, "f": features, **dict(zip(letters, sizes, strict=True))}
    kernel = {"i": features // groups, "o": out, **dict(zip(letters, window, strict=True))}
    attributes: dict[str, Any] = {
        "window_strides": tuple(p.below(1, 3) for _ in letters),
        "padding": np.array([[p.below(-1, 3), p.below(-1, 3)] for _ in letters]),
        "lhs_dilation": tuple(p.below(1, 3) for _ in letters),
        "rhs_dilation": tuple(p.below(1, 3) for _ in letters),
        "window_reversal": tuple(p.chance(0.3) for _ in letters),
    }
    for name in list(attributes):
        if p.chance(0.4) or (name == "window_reversal" and groups > 1):  # XLA forgets to reverse where there are groups
            del attributes[name]
    result: dict[str, int] = {"b": batch // batch_groups, "f": out}
    for k, letter in enumerate(letters):
        dilated = (sizes[k] - 1) * attributes.get("lhs_dilation", [1] * 3)[k] + 1
        padded = dilated + int(np.sum(attributes.get("padding", np.zeros((3, 2), int))[k]))
        covered = (window[k] - 1) * attributes.get("rhs_dilation", [1] * 3)[k] + 1
        if padded < 0:
            return
        result[letter] = (
            0 if padded < covered else (padded - covered) // attributes.get("window_strides", [1] * 3)[k] + 1
        )
    x = p.operand(TensorType(tuple(lengths[k] for k in layouts[0]), dtype), "small")
    y = p.operand(TensorType(tuple(kernel[k] for k in layouts[1]), dtype), "small")
    p.add(
        "convolution", x, y, error=None,
        result=TensorType(tuple(result[k] for k in layouts[2]), dtype),
        dimension_numbers=ConvolutionDimensionNumbers.from_letters(*map("".join, layouts)),
        feature_group_count=groups, batch_group_count=batch_groups, **attributes,
    )  # fmt: skip


def fft(p: Program) -> None:
    """Transform one to three dimensions of any length."""
    count = p.below(1, 4)
    length = [p.pick([1, 2, 3, 4, 5, 7, 11, 13, 16]) for _ in range(count)]
    kind = p.pick(["FFT", "IFFT", "RFFT", "IRFFT"])
    part = p.pick(["float32", "float64"])
    whole = np.dtype("complex64" if part == "float32" else "complex128")
    before = [p.below(1, 3) for _ in range(p.below(0, 3))]
    half = [*length[:-1], length[-1] // 2 + 1]
    shape = (*before, *(half if kind == "IRFFT" else length))
    x = p.operand(TensorType(shape, np.dtype(part) if kind == "RFFT" else whole), "plain")
    if kind == "IRFFT" and length[-1] == 1:
        return
    p.add("fft", x, fft_type=kind, fft_length=tuple(length), error=None)


def solve(p: Program) -> None:
    """Factor a positive matrix, or solve a triangular system, on stacks too."""
    dtype = p.pick([np.dtype(n) for n in ("float32", "float64", "complex64", "complex128")])
    stack, n = tuple(p.below(1, 3) for _ in range(p.below(0, 3))), p.below(1, 6)
    base = p.rng.standard_normal((*stack, n, n)) + (
        1j * p.rng.standard_normal((*stack, n, n)) if dtype.kind == "c" else 0
    )
    if p.chance(0.4):
        positive = base @ np.conj(np.swapaxes(base, -1, -2)) + n * np.eye(n)
        factor = p.op("cholesky", p.argument(positive.astype(dtype)), lower=p.chance())
        p.look(factor, 1e-3 if dtype.itemsize <= 8 and dtype != np.dtype("float64") else 1e-9)
        return
    a = p.argument((base + 4 * n * np.eye(n)).astype(dtype))
    left, k = p.chance(), p.below(1, 4)
    b = p.operand(TensorType((*stack, n, k) if left else (*stack, k, n), dtype), "plain")
    transpose = p.pick(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    unit = False
    p.add(
        "triangular_solve", a, b, left_side=left, lower=p.chance(), unit_diagonal=unit, transpose_a=transpose,
        error=1e-3 if dtype in {np.dtype("float32"), np.dtype("complex64")} else 1e-9,
    )  # fmt: skip


def batch_norm(p: Program) -> None:
    """Normalize along any feature dimension."""
    dtype = p.pick([np.dtype("float32"), np.dtype("float64")])
    shape = tuple(max(1, n) for n in p.shape(1, 5))
    axis = p.below(0, len(shape))
    x = p.operand(TensorType(shape, dtype), "plain")
    vectors = [p.operand(TensorType((shape[axis],), dtype), "plain") for _ in range(3)]
    spread = p.argument(p.rng.uniform(0.5, 2, shape[axis]).astype(dtype))
    options = {"epsilon": 0.125, "feature_index": axis, "error": 1e-3 if dtype.itemsize == 4 else 1e-9}
    match p.below(0, 3):
        case 0:
            p.add("batch_norm_inference", x, *vectors, spread, **options)
        case 1:
            p.add("batch_norm_training", x, *vectors[:2], **options)
        case _:
            p.add("batch_norm_grad", x, vectors[0], vectors[1], spread, p.operand(x.tensor, "plain"), **options)


def random_bits(p: Program) -> None:
    """Draw bits from a state."""
    algorithm = p.pick(["THREE_FRY", "PHILOX", "DEFAULT"])
    words = p.pick([2, 3]) if algorithm == "PHILOX" else 2 if algorithm == "THREE_FRY" else p.pick([2, 3])
    state = p.argument(p.rng.integers(0, 2**64, words, np.uint64))
    dtype = p.pick([np.dtype(f"uint{n}") for n in (8, 16, 32, 64)])
    results = [state.type, TensorType(p.shape(), dtype)]
    p.add("rng_bit_generator", state, results=results, rng_algorithm=algorithm)


MAKERS = [
    reduce, reduce, extreme, reduce_window, reduce_window, select_and_scatter, sort, sort, dot, dot, convolution,
    convolution, fft, solve, batch_norm, random_bits,
]  # fmt: skip
