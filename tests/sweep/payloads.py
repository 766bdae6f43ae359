"""All bits of every element type: each op, compiled beside interpreted. ``python -m tests.sweep.payloads --help``.

Operands are all values of types of up to 16 bits, and all pairs of values of up to 8 bits; of wider types they are
special values, NaNs of many payloads and both signs, and random bits. Where an op only moves elements, or changes a
sign, results are compared bit by bit; where it computes them, one NaN is as good as another. A kernel that does not
compile is an error. `test_payloads` is the short form.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

import numhlo
from numhlo import stablehlo
from numhlo.lowering.ir import Module, TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, FLOATS, INTEGERS, element_spelling
from numhlo.lowering.ops import PRIMITIVES, FunctionBuilder
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from tests.sweep.elementwise import ARITHMETIC, DIRECTIONS, FUNCTIONS, UNARY
from tests.sweep.program import tolerance
from tests.sweep.sweep import differ

TYPES = {name: dtype for name, dtype in ELEMENT_TYPES.items() if dtype not in COMPLEX | {BOOL}}
FLOAT_TYPES = [name for name, dtype in TYPES.items() if dtype in FLOATS]
MOST = 1 << 16
"""Values, or pairs of values, of one operand."""

I32 = np.dtype(np.int32)
SIGNS = frozenset({"negate", "abs", "optimization_barrier", "real"})
"""Unary ops after which a NaN has the payload that it had."""


def words_of(dtype: np.dtype) -> np.dtype:
    """Return the unsigned integers that hold an element's bits."""
    return np.dtype(f"u{dtype.itemsize}")


def values_of(dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Return all values of a type, or special and random ones where there are too many."""
    width = BIT_WIDTHS[dtype]
    if width <= 16:
        codes = np.arange(1 << width).astype(words_of(dtype))
        if dtype in INTEGERS and width < 8:  # a byte holds the sign, too
            limits = ml_dtypes.iinfo(dtype)
            return np.arange(limits.min, limits.max + 1).astype(dtype)
        return codes.view(dtype)
    special = _special(dtype)
    random = rng.integers(0, 1 << width, MOST - len(special), words_of(dtype), endpoint=False)
    return np.concatenate([special, random]).view(dtype)


def _special(dtype: np.dtype) -> np.ndarray:
    """Return bits of special values: for floats with a NaN for each bit of the payload, quiet and signaling."""
    width, words = BIT_WIDTHS[dtype], words_of(dtype)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        numbers = [limits.min, limits.min + 1, -1 & ((1 << width) - 1), 0, 1, 2, limits.max - 1, limits.max]
        return np.array([n & ((1 << width) - 1) for n in numbers], words)
    mantissa = int(ml_dtypes.finfo(dtype).nmant)
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    payloads = [p for k in range(mantissa) for p in (1 << k, (1 << (k + 1)) - 1, (1 << k) | 1 << (mantissa - 1))]
    magnitudes = [0, 1, (1 << mantissa) - 1, 1 << mantissa, infinity - 1, infinity, *[infinity | p for p in payloads]]
    ones = [int(np.array(x, dtype).view(words)) for x in (1.0, 1.5, 2.0, 3.0)]
    return np.array([m | s << (width - 1) for m in [*magnitudes, *ones] for s in (0, 1)], words)


def pairs_of(dtype: np.dtype, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of values, or those of special ones and random ones."""
    if BIT_WIDTHS[dtype] <= 8:
        values = values_of(dtype, rng)
        return np.repeat(values, len(values)), np.tile(values, len(values))
    special = _special(dtype)[:: 1 + (dtype.itemsize > 2)][:160]
    x, y = np.repeat(special, len(special)), np.tile(special, len(special))
    rest = MOST - len(x)
    random = [rng.integers(0, 1 << BIT_WIDTHS[dtype], rest, words_of(dtype), endpoint=False) for _ in range(2)]
    random[1][: rest // 4] = random[0][: rest // 4]
    return np.concatenate([x, random[0]]).view(dtype), np.concatenate([y, random[1]]).view(dtype)


@dataclass
class Result:
    """One value of a program: how exact it is, and whether a NaN's bits are those of an operand."""

    name: str
    value: Value
    error: float = 0.0
    bits: bool = False


class Cases:
    """A program under construction, all of whose results are compared.

    Parameters
    ----------
    name : str
    arrays : sequence of numpy.ndarray
        Its arguments.
    """

    def __init__(self, name: str, arrays: Sequence[np.ndarray]) -> None:
        self.name, self.arrays = name, list(arrays)
        self.builder = FunctionBuilder("main", [TensorType(a.shape, a.dtype) for a in arrays])
        self.results: list[Result] = []

    def op(self, name: str, *operands: Value, **options: object) -> Value:
        """Append an op of one result."""
        return self.builder.op(PRIMITIVES[name], *operands, **options)

    def look(self, name: str, value: Value, error: float = 0.0, *, bits: bool = False) -> None:
        """Compare a value."""
        self.results.append(Result(name, value, error, bits))

    def module(self) -> stablehlo.Module:
        """Return the program."""
        function = self.builder.finish([r.value for r in self.results], visibility="public")
        return stablehlo.Module(Module([function], "payloads"))


def comparisons(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Compare pairs in every direction and order, and choose by that."""
    cases = Cases("comparisons", pairs_of(dtype, rng))
    x, y = cases.builder.arguments
    for direction in DIRECTIONS:
        for kind in ("FLOAT", "TOTALORDER") if dtype in FLOATS else (None,):
            found = cases.op("compare", x, y, comparison_direction=direction, compare_type=kind)
            cases.look(f"compare {direction} {kind}", found)
            if direction in ("LT", "EQ"):
                cases.look(f"select by {direction} {kind}", cases.op("select", found, x, y), bits=True)
    return cases


def arithmetic(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Combine pairs."""
    cases = Cases("arithmetic", pairs_of(dtype, rng))
    x, y = cases.builder.arguments
    for name, dtypes in ARITHMETIC.items():
        if dtype in dtypes:
            inexact = name in ("divide", "remainder") and dtype.itemsize > 2 and dtype in FLOATS
            cases.look(name, cases.op(name, x, y), tolerance(dtype) if inexact else 0.0)
    cases.look("clamp", cases.op("clamp", cases.op("minimum", x, y), x, cases.op("maximum", x, y)))
    return cases


def unary(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Change every value."""
    cases = Cases("unary", [values_of(dtype, rng)])
    (x,) = cases.builder.arguments
    for name, dtypes in UNARY.items():
        if dtype in dtypes:
            cases.look(name, cases.op(name, x), bits=name in SIGNS)
    if dtype in FLOATS:
        for bits in ((5, 2), (8, 7), (4, 10)):
            reduced = cases.op("reduce_precision", x, exponent_bits=bits[0], mantissa_bits=bits[1])
            cases.look(f"reduce_precision {bits}", reduced)
    return cases


def functions(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Apply elementary functions to every value; the results of narrow floats are a unit in the last place apart."""
    cases = Cases("functions", [values_of(dtype, rng)])
    (x,) = cases.builder.arguments
    for name in FUNCTIONS if dtype in FLOATS else ():
        cases.look(name, cases.op(name, x), tolerance(dtype))
    return cases


def conversions(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Convert every value to every type, and look at its bits."""
    cases = Cases("conversions", [values_of(dtype, rng)])
    (x,) = cases.builder.arguments
    for name, target in TYPES.items():
        cases.look(f"convert to {name}", cases.op("convert", x, result=x.tensor.with_dtype(target)))
        if BIT_WIDTHS[target] == BIT_WIDTHS[dtype]:
            moved = cases.op("reverse", x, dimensions=(0,))
            seen = cases.op("bitcast_convert", moved, result=x.tensor.with_dtype(target))
            cases.look(f"bitcast to {name}", seen, bits=True)
    return cases


def moves(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Move every value in each way there is; one that is a constant, too."""
    values = values_of(dtype, rng)
    size = len(values)
    cases = Cases("moves", [values, np.arange(size, dtype=I32)[::-1].copy(), np.array(size // 3, I32)])
    x, places, start = cases.builder.arguments
    last = values[-1:]
    constant = cases.builder.constant(last)
    for k in range(0, size, max(1, size // 16)) if dtype in FLOATS else ():  # finite, infinite, signaling, quiet
        one = cases.builder.constant(np.sort(values.view(words_of(dtype))).view(dtype)[k])
        spread = cases.op("broadcast_in_dim", one, result=x.tensor.with_shape((3,)), broadcast_dimensions=())
        cases.look(f"constant {k}", spread, bits=True)
    cases.look(
        "constant", cases.op("broadcast_in_dim", constant, result=x.tensor, broadcast_dimensions=(0,)), bits=True
    )
    cases.look(
        "table", cases.op("reverse", cases.builder.constant(values[:: 1 + size // 300]), dimensions=(0,)), bits=True
    )
    cases.look("reverse", cases.op("reverse", x, dimensions=(0,)), bits=True)
    cases.look("slice", cases.op("slice", x, start_indices=(1,), limit_indices=(size,), strides=(2,)), bits=True)
    square = cases.op("reshape", x, result=x.tensor.with_shape((2, size // 2)))
    cases.look("transpose", cases.op("transpose", square, permutation=(1, 0)), bits=True)
    cases.look("concatenate", cases.op("concatenate", x, constant, x, dimension=0), bits=True)
    padding = cases.op("reshape", constant, result=x.tensor.with_shape(()))
    padded = cases.op("pad", x, padding, edge_padding_low=(1,), edge_padding_high=(0,), interior_padding=(1,))
    cases.look("pad", padded, bits=True)
    half = cases.op("dynamic_slice", x, start, slice_sizes=(size // 2,))
    cases.look("dynamic_slice", half, bits=True)
    cases.look("dynamic_update_slice", cases.op("dynamic_update_slice", x, half, start), bits=True)
    cases.look("gather", _gathered(cases, x, places), bits=True)
    return cases


def _gathered(cases: Cases, x: Value, places: Value) -> Value:
    numbers = GatherDimensionNumbers(collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
    return cases.op("gather", x, places, dimension_numbers=numbers, slice_sizes=(1,))


def _scattered(cases: Cases, x: Value, places: Value) -> Value:
    numbers = ScatterDimensionNumbers(inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1)
    scalar = x.tensor.with_shape(())
    region = cases.builder.region([scalar, scalar], lambda before, update: [update])
    options = {"regions": [region], "scatter_dimension_numbers": numbers}
    return cases.builder.ops(PRIMITIVES["scatter"], x, places, x, **options)[0]


def sorts(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Sort rows of all values, by either order, with and without what moves along; long rows and short ones."""
    values = rng.permutation(values_of(dtype, rng))
    if BIT_WIDTHS[dtype] < 8:
        values = np.tile(values, 1 << (8 - BIT_WIDTHS[dtype]))
    cases = Cases("sorts", [values])
    (x,) = cases.builder.arguments
    rows = cases.op("reshape", x, result=x.tensor.with_shape((len(values) // 16, 16)))
    directions = (("LT", "TOTALORDER"), ("GT", "TOTALORDER")) if dtype in FLOATS else (("LT", None), ("GT", None))
    for (direction, kind), (name, operand) in itertools.product(directions, (("long", x), ("short", rows))):
        for along in (0, 1):
            others = [cases.op("iota", result=operand.tensor.with_dtype(I32), iota_dimension=operand.tensor.ndim - 1)]
            others = others[:along]
            sorted_ = _sorted(cases, [operand, *others], direction, kind)
            for k, value in enumerate(sorted_):
                cases.look(f"sort {name} {direction} {kind} {along} {k}", value, bits=True)
    return cases


def _sorted(cases: Cases, operands: Sequence[Value], direction: str, kind: str | None) -> list[Value]:
    types = [TensorType((), v.tensor.dtype) for v in operands for _ in range(2)]

    def write(x: Value, y: Value, *_: Value) -> list[Value]:
        return [cases.op("compare", x, y, comparison_direction=direction, compare_type=kind)]

    region = cases.builder.region(types, write)
    dimension = operands[0].tensor.ndim - 1
    return cases.builder.ops(PRIMITIVES["sort"], *operands, regions=[region], dimension=dimension, is_stable=True)


def states(dtype: np.dtype, rng: np.random.Generator) -> Cases:
    """Move values through the state of a loop, by a branch in it, and by a scatter."""
    values = values_of(dtype, rng)[-min(256, 1 << BIT_WIDTHS[dtype]) :]
    size = len(values)
    cases = Cases("states", [values, rng.permutation(size).astype(I32)])
    x, places = cases.builder.arguments
    b, zero = cases.builder, cases.builder.constant(np.array(0, I32))

    def condition(i: Value, *_: Value) -> list[Value]:
        return [cases.op("compare", i, b.constant(np.array(size, I32)), comparison_direction="LT")]

    def body(i: Value, array: Value, one: Value) -> list[Value]:
        own = cases.op("dynamic_slice", x, i, slice_sizes=(1,))
        larger = cases.op("compare", own, one, comparison_direction="GT", compare_type=_order(dtype))
        kept = cases.op("select", larger, own, one)
        after = cases.op("dynamic_update_slice", array, kept, i)
        return [cases.op("add", i, b.constant(np.array(1, I32))), after, kept]

    types = [zero.tensor, x.tensor, x.tensor.with_shape((1,))]
    first = cases.op("slice", x, start_indices=(0,), limit_indices=(1,), strides=(1,))
    regions = [b.region(types, condition), b.region(types, body)]
    _, array, one = b.ops(PRIMITIVES["while"], zero, x, first, regions=regions)
    cases.look("state", array, bits=True)
    cases.look("largest", one, bits=True)
    cases.look("scatter", _scattered(cases, x, places), bits=True)
    return cases


def _order(dtype: np.dtype) -> str | None:
    return "TOTALORDER" if dtype in FLOATS else None


MAKERS: dict[str, Callable[[np.dtype, np.random.Generator], Cases]] = {
    made.__name__: made for made in (comparisons, arithmetic, unary, functions, conversions, moves, sorts, states)
}


def faults_of(cases: Cases, rng: np.random.Generator, calls: int = 3) -> Iterator[str]:
    """Yield what is different from the interpreter's results in some calls, with the operands in other orders."""
    module = cases.module()
    arrays = cases.arrays
    for call in range(calls):
        expected = module.interpret("main", *arrays)
        with numhlo.debugging(tier0=False), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = module.run("main", *arrays)
        for result, x, y in zip(cases.results, found, expected, strict=True):
            text = _difference(np.asarray(x), np.asarray(y), result)
            if text:
                yield f"{cases.name}, {result.name}, call {call}: {text}"
        order = rng.permutation(len(arrays[0]))
        arrays = [a[order] if a.shape == arrays[0].shape and a.dtype != I32 else a for a in arrays]


def _difference(found: np.ndarray, expected: np.ndarray, result: Result) -> str | None:
    if result.bits and found.dtype == expected.dtype:
        found, expected = (np.ascontiguousarray(a).view(words_of(a.dtype)) for a in (found, expected))
    return differ(found, expected, result.error)


def main() -> int:
    """Run all ops on all types that are asked for, and return 1 if results differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.payloads", description=__doc__)
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--only", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, faults, results, begin = np.random.default_rng(given.seed), 0, 0, time.time()
    for name, only in itertools.product(given.types, given.only):
        cases = MAKERS[only](TYPES[name], rng)
        results += len(cases.results)
        for text in faults_of(cases, rng) if cases.results else ():
            faults += 1
            sys.stdout.write(f"{element_spelling(TYPES[name])}, {text}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{results} results, {faults} differences, {time.time() - begin:.0f} seconds\n")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
