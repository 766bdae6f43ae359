"""Random scalar programs: loops in loops, branches, arithmetic of every kind on special values, small arrays."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import comparison, control_flow, conversion, elementwise, indexing, layout
from numhlo.lowering.ops.builder import FunctionBuilder

BOOL = np.dtype(bool)
INDEX = TensorType((), np.dtype(np.int64))
DTYPES = [
    ELEMENT_TYPES[n] for n in ("f64", "f32", "f16", "bf16", "i64", "i32", "i8", "ui64", "ui32", "ui8", "i4", "i1")
]
WEIGHTS = [6, 4, 1, 1, 4, 3, 2, 2, 2, 2, 1, 3]
PARTS = 3
"""Elements of small arrays."""
LENGTH = 7
"""Elements of an array that is indexed."""

ANY_UNARY = [elementwise.NEGATE, elementwise.ABS, elementwise.SIGN]
FLOAT_UNARY = [
    elementwise.CEIL,
    elementwise.FLOOR,
    elementwise.ROUND_NEAREST_EVEN,
    elementwise.ROUND_NEAREST_AFZ,
    elementwise.SQRT,
    elementwise.RSQRT,
    elementwise.EXPONENTIAL,
    elementwise.LOG,
    elementwise.SINE,
    elementwise.TANH,
    elementwise.LOGISTIC,
]
BINARY = [
    elementwise.ADD,
    elementwise.SUBTRACT,
    elementwise.MULTIPLY,
    elementwise.DIVIDE,
    elementwise.REMAINDER,
    elementwise.MAXIMUM,
    elementwise.MINIMUM,
]
LOGIC = [elementwise.AND, elementwise.OR, elementwise.XOR]
BITS = [elementwise.SHIFT_LEFT, elementwise.SHIFT_RIGHT_ARITHMETIC, elementwise.SHIFT_RIGHT_LOGICAL]


def kind_of(dtype: np.dtype) -> str:
    """Return ``b``, ``i``, ``u`` or ``f``."""
    if dtype == BOOL:
        return "b"
    if dtype.name.startswith(("int", "uint")):
        return "u" if dtype.name[0] == "u" else "i"
    return "f"


def special(rng: Random, dtype: np.dtype) -> np.ndarray:
    """Return a scalar that is likely to be at the edge of something."""
    kind = kind_of(dtype)
    if kind == "b":
        return np.array(rng.random() < 0.5)
    if kind == "f":
        found = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.5, 1e-3, 300.7, -1e5, rng.gauss(0, 2)])
        with np.errstate(all="ignore"):
            return np.array(found).astype(dtype)
    bits = 4 if dtype.name == "int4" else 8 * dtype.itemsize
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "i" else (0, (1 << bits) - 1)
    found = rng.choice([0, 1, least, most, most - 1, 3, least + 1, rng.randint(least, most), 7])
    return np.array(found).astype(dtype)


class Writer:
    """Appends random ops to a function under construction; what it makes is picked from again."""

    def __init__(self, b: FunctionBuilder, rng: Random, table: Value | None = None) -> None:
        self.b, self.rng, self.table = b, rng, table
        self.pool: list[Value] = []
        self.depth = 0

    def pick(self, dtype: np.dtype | None = None) -> Value:
        """Return a known scalar, or a constant where none has the dtype."""
        dtype = dtype or self.rng.choices(DTYPES, WEIGHTS)[0]
        known = [v for v in self.pool if v.tensor.dtype == dtype]
        if known and self.rng.random() < 0.85:
            return self.rng.choice(known[-8:])
        return self.b.constant(special(self.rng, dtype))

    def write(self, count: int) -> None:
        """Append some ops."""
        makers = [self.binary, self.binary, self.binary, self.unary, self.compare, self.select, self.convert]
        makers += [self.convert, self.clamp, self.small_array] + ([self.read] if self.table is not None else [])
        for _ in range(count):
            if self.depth < 2 and self.rng.random() < 0.08:
                self.pool += self.rng.choice([self.loop, self.branch])()
            else:
                self.pool += self.rng.choice(makers)()

    def binary(self) -> list[Value]:
        x = self.pick()
        kind = kind_of(x.tensor.dtype)
        definitions = {"b": LOGIC, "f": BINARY}.get(kind, [*BINARY, *BINARY, *LOGIC, *BITS])
        if x.tensor.dtype == ELEMENT_TYPES["i4"]:
            definitions = [*BINARY, *LOGIC]
        return [self.b.op(self.rng.choice(definitions), x, self.pick(x.tensor.dtype))]

    def unary(self) -> list[Value]:
        x = self.pick()
        kind = kind_of(x.tensor.dtype)
        if kind == "b":
            return [self.b.op(elementwise.NOT, x)]
        bits = [elementwise.NOT, elementwise.POPCNT, elementwise.COUNT_LEADING_ZEROS]
        if x.tensor.dtype == ELEMENT_TYPES["i4"]:
            bits = [elementwise.NOT]
        choices = {"f": [*ANY_UNARY, *FLOAT_UNARY], "i": [*ANY_UNARY, *bits], "u": [elementwise.NEGATE, *bits]}
        return [self.b.op(self.rng.choice(choices[kind]), x)]

    def compare(self) -> list[Value]:
        x = self.pick()
        total = kind_of(x.tensor.dtype) == "f" and x.tensor.dtype.itemsize > 2 and self.rng.random() < 0.2
        return [
            self.b.op(
                comparison.COMPARE,
                x,
                self.pick(x.tensor.dtype),
                comparison_direction=self.rng.choice(["EQ", "NE", "GE", "GT", "LE", "LT"]),
                compare_type="TOTALORDER" if total else None,
            )
        ]

    def select(self) -> list[Value]:
        x = self.pick()
        return [self.b.op(comparison.SELECT, self.pick(BOOL), x, self.pick(x.tensor.dtype))]

    def clamp(self) -> list[Value]:
        x = self.pick()
        return [self.b.op(comparison.CLAMP, self.pick(x.tensor.dtype), x, self.pick(x.tensor.dtype))]

    def convert(self) -> list[Value]:
        target = self.rng.choices(DTYPES, WEIGHTS)[0]
        x = self.pick()
        pairs = [{"int64", "float64"}, {"int32", "float32"}, {"uint32", "float32"}, {"uint64", "float64"}]
        if {x.tensor.dtype.name, target.name} in pairs and self.rng.random() < 0.4:
            return [self.b.op(conversion.BITCAST_CONVERT, x, result=TensorType((), target))]
        return [self.b.op(conversion.CONVERT, x, result=TensorType((), target))]

    def small_array(self) -> list[Value]:
        """Work on a few elements: join, compute, take one at a run-time index, put one back."""
        x = self.pick()
        dtype = x.tensor.dtype
        one = TensorType((1,), dtype)
        parts = [self.b.op(layout.RESHAPE, v, result=one) for v in (x, self.pick(dtype), self.pick(dtype))]
        joined = self.b.op(layout.CONCATENATE, *parts, dimension=0)
        if self.rng.random() < 0.5:
            joined = self.b.op(indexing.DYNAMIC_UPDATE_SLICE, joined, parts[0], self.pick(INDEX.dtype))
        if kind_of(dtype) != "b":
            spread = self.b.op(
                layout.BROADCAST_IN_DIM,
                self.pick(dtype),
                broadcast_dimensions=(),
                result=TensorType((PARTS,), dtype),
            )
            joined = self.b.op(elementwise.ADD, joined, spread)
        taken = self.b.op(indexing.DYNAMIC_SLICE, joined, self.pick(INDEX.dtype), slice_sizes=(1,))
        return [self.b.op(layout.RESHAPE, taken, result=TensorType((), dtype))]

    def read(self) -> list[Value]:
        assert self.table is not None
        start = self.pick(self.rng.choice([INDEX.dtype, np.dtype(np.uint8), np.dtype(np.uint64)]))
        taken = self.b.op(indexing.DYNAMIC_SLICE, self.table, start, slice_sizes=(1,))
        return [self.b.op(layout.RESHAPE, taken, result=TensorType((), self.table.tensor.dtype))]

    def inside(self, write: object) -> list[Value]:
        """Write a region: values made in it stay in it."""
        size, self.depth = len(self.pool), self.depth + 1
        results = list(write())  # type: ignore[operator]
        del self.pool[size:]
        self.depth -= 1
        return results

    def loop(self, most: int = 4, table: Value | None = None) -> list[Value]:
        """Write a while: a counter, a few carries, and perhaps an array that it writes into."""
        dtypes = [None] * self.rng.randint(1, 4) if self.depth else [*DTYPES, *DTYPES[:5]]
        carried = [self.pick(dtype) for dtype in dtypes]
        limit = self.b.op(
            comparison.CLAMP, self.b.constant(np.int64(0)), self.pick(INDEX.dtype), self.b.constant(np.int64(most))
        )
        state = [self.b.constant(np.int64(0)), *carried, *([] if table is None else [table])]
        types = [v.type for v in state]

        def condition(count: Value, *_: Value) -> list[Value]:
            return [self.b.op(comparison.COMPARE, count, limit, comparison_direction="LT")]

        def body(count: Value, *inner: Value) -> list[Value]:
            def write() -> Sequence[Value]:
                own = inner[: len(carried)]
                self.pool += [count, *own]
                known = len(self.pool)
                self.write(self.rng.randint(2, 9))
                following = self.b.op(elementwise.ADD, count, self.b.constant(np.int64(1)))
                made = self.pool[known:]
                result = [following]
                for value in own:  # what was made goes round, so that nothing wrong stays unseen
                    same = [v for v in made if v.tensor.dtype == value.tensor.dtype]
                    result.append(same.pop() if same else self.pick(value.tensor.dtype))
                    made = [v for v in made if v is not result[-1]]
                if table is not None:
                    element = self.pick(table.tensor.dtype)
                    row = self.b.op(layout.RESHAPE, element, result=TensorType((1,), table.tensor.dtype))
                    result.append(self.b.op(indexing.DYNAMIC_UPDATE_SLICE, inner[-1], row, count))
                return result

            return self.inside(write)

        regions = [self.b.region(types, condition), self.b.region(types, body)]
        return self.b.ops(control_flow.WHILE, *state, regions=regions)

    def branch(self) -> list[Value]:
        """Write an if or a case."""
        dtypes = [self.pick().tensor.dtype for _ in range(self.rng.randint(1, 2))]
        two = self.rng.random() < 0.6
        index = self.pick(BOOL if two else np.dtype(np.int32))

        def one() -> list[Value]:
            def write() -> Sequence[Value]:
                self.write(self.rng.randint(0, 4))
                return [self.pick(dtype) for dtype in dtypes]

            return self.inside(write)

        regions = [self.b.region([], one) for _ in range(2 if two else self.rng.randint(1, 3))]
        return self.b.ops(control_flow.IF if two else control_flow.CASE, index, regions=regions)


def random_loop(seed: int) -> tuple[Function, list[np.ndarray]]:
    """Return a function of one outer loop, and arguments for it."""
    rng = Random(seed)
    types = [TensorType((), dtype) for dtype in DTYPES]
    tables = [TensorType((LENGTH,), rng.choices(DTYPES, WEIGHTS)[0]) for _ in range(2)]
    b = FunctionBuilder("random_loop", [*types, *tables])
    writer = Writer(b, rng, b.arguments[-2])
    writer.pool = b.arguments[:-2]
    results = writer.loop(LENGTH, b.arguments[-1] if rng.random() < 0.6 else None)
    values = [special(rng, dtype) for dtype in DTYPES]
    rows = [np.stack([special(rng, t.dtype) for _ in range(LENGTH)]) for t in tables]
    return b.finish(results), [*values, *rows]


def random_lane(seed: int, lanes: int) -> tuple[Function, list[np.ndarray]]:
    """Return a function of one lane with loops and branches, and arguments for all lanes; a table comes first."""
    rng = Random(seed)
    table = TensorType((LENGTH,), rng.choices(DTYPES, WEIGHTS)[0])
    dtypes = [*rng.choices(DTYPES, WEIGHTS, k=3), np.dtype(np.int64), BOOL, np.dtype(np.int32)]
    b = FunctionBuilder("random_lane", [table, *[TensorType((), dtype) for dtype in dtypes]])
    writer = Writer(b, rng, b.arguments[0])
    writer.pool = b.arguments[1:]
    first = writer.loop(4) if rng.random() < 0.7 else writer.branch()
    writer.pool += first
    writer.write(5)
    stacks = [np.stack([special(rng, dtype) for _ in range(lanes)]) for dtype in dtypes]
    row = np.stack([special(rng, table.dtype) for _ in range(LENGTH)])
    return b.finish([*first, *writer.pool[-6:]]), [row, *stacks]
