"""Random programs over the IR: a pool of values that grows op by op.

This file knows pools, operands and regions; which ops there are, and how their operands must look, stands in the
``random_*`` files beside it. Every value carries an error: how many units in the last place two engines may be apart in
it. Most ops are exact, and take exact operands only, so one inexact op can never hide what another does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, Region, TensorType, Type, Value
from numhlo.lowering.ir.types import BOOL, FLOATS
from numhlo.lowering.ops import FunctionBuilder, comparison, conversion, creation, elementwise, layout
from numhlo.lowering.ops.primitive import Primitive
from tests.end_to_end.random_arrays import DTYPES, random_array

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33)
"""Extents that shapes are made of; some fill vectors, some leave a rest."""

MOST_ELEMENTS = 3000
MOST_RANK = 4

Maker = Callable[["Generator"], None]


class GrowingBuilder(FunctionBuilder):
    """A builder whose function gets arguments as the program asks for them."""

    def argument(self, type: TensorType) -> Value:
        """Append an argument."""
        return self._bodies[0].add_argument(type)


@dataclass
class Program:
    """A random program with arguments to run it on.

    Attributes
    ----------
    function : Function
    arrays : list of numpy.ndarray
    errors : list of float
        For each result, the units in the last place that engines may differ by.
    name : str
        How to make it again.
    """

    function: Function
    arrays: list[np.ndarray]
    errors: list[float]
    name: str


@dataclass
class Settings:
    """What a program may contain.

    Attributes
    ----------
    dtypes : sequence of numpy.dtype
    style : str
        Of its arrays; see `random_array`.
    extents : sequence of int
    most_elements : int
        Of any value.
    portable : bool
        Only what the specification defines on every machine.
    """

    dtypes: Sequence[np.dtype] = field(default_factory=lambda: list(DTYPES))
    style: str = "wild"
    extents: Sequence[int] = EXTENTS
    most_elements: int = MOST_ELEMENTS
    portable: bool = False


class Generator:
    """Makes one program.

    Parameters
    ----------
    rng : numpy.random.Generator
    settings : Settings
    """

    def __init__(self, rng: np.random.Generator, settings: Settings) -> None:
        self.rng = rng
        self.settings = settings
        count = min(len(settings.dtypes), int(rng.integers(2, 5)))
        self.dtypes = [settings.dtypes[k] for k in rng.choice(len(settings.dtypes), count, replace=False)]
        self.b: FunctionBuilder = GrowingBuilder("main", [])
        self.arrays: list[np.ndarray] = []
        self.errors: dict[Value, float] = {}
        self.pools: list[list[Value]] = [[]]
        self.depth = 0
        self.shapes = [self.new_shape() for _ in range(3)]

    # ------------------------------------------------------------------------------------------------ random choices

    def chance(self, probability: float) -> bool:
        """Return True so often."""
        return bool(self.rng.random() < probability)

    def below(self, n: int) -> int:
        """Return a number in ``[0, n)``."""
        return int(self.rng.integers(0, n))

    def between(self, low: int, high: int) -> int:
        """Return a number in ``[low, high]``."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, items: Sequence[Any]) -> Any:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Any], count: int) -> list[Any]:
        """Return different items in random order."""
        return [items[k] for k in self.rng.permutation(len(items))[:count]]

    def new_shape(self, least_rank: int = 0) -> tuple[int, ...]:
        """Return a shape that is not too large."""
        rank = max(least_rank, self.choose((0, 1, 1, 2, 2, 2, 3, 3, 4)))
        shape: list[int] = []
        for _ in range(rank):
            room = self.settings.most_elements // max(1, int(np.prod([max(n, 1) for n in shape])))
            shape.append(self.choose([n for n in self.settings.extents if n <= max(room, 1)]))
        return tuple(shape)

    def shape(self, least_rank: int = 0) -> tuple[int, ...]:
        """Return a shape, mostly one that the program has already."""
        known = [s for s in self.shapes if len(s) >= least_rank]
        return self.choose(known) if known and self.chance(0.8) else self.new_shape(least_rank)

    # -------------------------------------------------------------------------------------------------------- values

    def error(self, value: Value) -> float:
        """Return by how many units in the last place engines may differ in a value."""
        return self.errors.get(value, 0.0)

    def visible(self) -> list[Value]:
        """Return the values that ops here may use, the newest last."""
        return [v for pool in self.pools for v in pool]

    def leaf(self, type: TensorType, style: str | None = None) -> Value:
        """Return a new argument, constant or iota."""
        style = style or self.settings.style
        kind = self.below(8)
        if isinstance(self.b, GrowingBuilder) and self.depth == 0 and kind < 5:
            value = self.b.argument(type)
            self.arrays.append(random_array(self.rng, type, style))
        elif kind == 5 and type.shape and type.dtype != BOOL and style == "wild":
            value = self.b.op(creation.IOTA, result=type, iota_dimension=self.below(type.ndim))
        elif kind == 6 and type.shape:
            scalar = self.b.constant(random_array(self.rng, type.with_shape(()), style))
            value = self.b.op(layout.BROADCAST_IN_DIM, scalar, result=type, broadcast_dimensions=())
        else:
            value = self.b.constant(random_array(self.rng, type, style))
        if style == self.settings.style:
            self.pools[-1].append(value)
        return value

    def pick(
        self,
        dtypes: Collection[np.dtype] | None = None,
        *,
        least_rank: int = 0,
        least_size: int = 0,
        exact: bool = True,
    ) -> Value:
        """Return a value of one of the element types, mostly one that is there already."""
        allowed = [d for d in self.settings.dtypes if dtypes is None or d in dtypes]
        found = [v for v in self.visible() if v.tensor.dtype in allowed and v.tensor.ndim >= least_rank]
        found = [v for v in found if v.tensor.size >= least_size and not (exact and self.error(v))]
        if found and self.chance(0.85):
            recent = found[-6:]
            return self.choose(recent if self.chance(0.6) else found)
        own = [d for d in self.dtypes if d in allowed]
        shape = self.shape(least_rank)
        while int(np.prod(shape)) < least_size:
            shape = self.new_shape(least_rank)
        return self.leaf(TensorType(shape, self.choose(own or allowed)))

    def like(self, type: TensorType, *, exact: bool = True) -> Value:
        """Return a value of a type: one that is there, or another one converted, or a new one."""
        same = [v for v in self.visible() if v.tensor == type and not (exact and self.error(v))]
        if same and self.chance(0.8):
            return self.choose(same)
        others = [v for v in self.visible() if v.tensor.shape == type.shape and v.tensor != type and not self.error(v)]
        if others and self.chance(0.4):
            return self.emit(conversion.CONVERT, self.choose(others), result=type)
        return self.leaf(type)

    def emit(
        self,
        definition: Primitive,
        *operands: Value,
        error: float = 0.0,
        result: Type | None = None,
        regions: Sequence[Region] = (),
        **attributes: Any,
    ) -> Value:
        """Append an op of one result to the program and the pool."""
        results = None if result is None else [result]
        return self.emit_all(definition, *operands, error=error, results=results, regions=regions, **attributes)[0]

    def emit_all(
        self,
        definition: Primitive,
        *operands: Value,
        error: float | Sequence[float] = 0.0,
        results: Sequence[Type] | None = None,
        regions: Sequence[Region] = (),
        **attributes: Any,
    ) -> list[Value]:
        """Append an op to the program and its results to the pool."""
        values = self.b.ops(definition, *operands, regions=regions, results=results, **attributes)
        errors = [error] * len(values) if isinstance(error, int | float) else error
        for value, ulps in zip(values, errors, strict=True):
            if ulps:
                self.errors[value] = ulps
            self.pools[-1].append(value)
        return values

    def tidy(self, value: Value) -> Value:
        """Return a value without NaN, whose bits the engines need not agree on."""
        if value.tensor.dtype not in FLOATS:
            return value
        is_nan = self.b.op(comparison.COMPARE, value, value, comparison_direction="NE", compare_type="FLOAT")
        one = self.b.constant(np.ones((), value.tensor.dtype))
        ones = self.b.op(layout.BROADCAST_IN_DIM, one, result=value.type, broadcast_dimensions=())
        return self.b.op(comparison.SELECT, is_nan, ones, value)

    def bounded(self, value: Value, low: int, high: int) -> Value:
        """Return integers cut to a range."""
        dtype = value.tensor.dtype
        low = max(low, 0) if dtype.kind == "u" else low
        ends = [self.b.constant(np.asarray(n).astype(dtype)) for n in (low, high)]
        return self.b.op(comparison.CLAMP, ends[0], value, ends[1])

    def magnitude(self, value: Value) -> Value:
        """Return the absolute value."""
        return self.b.op(elementwise.ABS, value)

    # ------------------------------------------------------------------------------------------------------- regions

    def region(self, types: Sequence[Type], write: Callable[..., Sequence[Value]]) -> Region:
        """Return a region whose ops may use what is visible here."""

        def inner(*arguments: Value) -> Sequence[Value]:
            self.pools.append(list(arguments))
            self.depth += 1
            try:
                return write(*arguments)
            finally:
                self.pools.pop()
                self.depth -= 1

        return self.b.region(types, inner)

    def function(self, name: str, types: Sequence[Type], write: Callable[..., Sequence[Value]]) -> Function:
        """Return another function, whose ops see only its arguments."""
        outer = self.b, self.pools
        self.b = FunctionBuilder(name, types)
        self.pools = [list(self.b.arguments)]
        self.depth += 1
        try:
            return self.b.finish(write(*self.b.arguments))
        finally:
            self.b, self.pools = outer
            self.depth -= 1

    def finish(self, name: str) -> Program:
        """Return the program; its results are the newest values and some others."""
        assert isinstance(self.b, GrowingBuilder)
        pool = self.pools[0]
        others = [v for v in pool[:-4] if self.chance(0.15)]
        results = list(dict.fromkeys([*others, *pool[-4:]]))
        if self.chance(0.1):
            results.append(results[-1])
        function = self.b.finish(results, visibility="public")
        return Program(function, self.arrays, [self.error(v) for v in results], name)


def make_program(seed: Sequence[int], makers: Sequence[Maker], ops: int, settings: Settings | None = None) -> Program:
    """Return the random program of a seed.

    Parameters
    ----------
    seed : sequence of int
    makers : sequence of callable
        Each adds an op of its family; the more often it is in the list, the more often it is called.
    ops : int
        How many are called.
    settings : Settings, optional
    """
    rng = np.random.default_rng(list(seed))
    generator = Generator(rng, settings or Settings())
    for _ in range(ops):
        generator.choose(makers)(generator)
    return generator.finish(f"seed {list(seed)}")
