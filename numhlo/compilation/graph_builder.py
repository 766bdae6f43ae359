"""Graphs made by hand: a builder with a method for every op, errors at once or noted, builders inside builders.

This file knows how handles become a function: parameters by number, ops with broadcasting, regions, the value that is
returned. What an op demands is its record's in `numhlo.lowering.ops`; what a module is for its user is in
`numhlo.stablehlo`. Source: "ComputationBuilder" of the XLA documentation, and its pages on broadcasting.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from numhlo.compilation.builder_attributes import fit_attributes
from numhlo.compilation.builder_handles import Handle
from numhlo.lowering.interpreter import evaluate_op, free_values
from numhlo.lowering.ir import (
    Function,
    Module,
    Op,
    Region,
    TensorType,
    TokenType,
    TupleType,
    Type,
    Value,
    capture_location,
)
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, NumhloError, ShapeError
from numhlo.lowering.ops import PRIMITIVES, comparison, creation, elementwise, layout, tuples
from numhlo.lowering.ops.control_flow import PREDICATE
from numhlo.lowering.ops.primitive import make_op

_BINARY = {p for p in PRIMITIVES.values() if isinstance(p, elementwise.Elementwise) and len(p.operands) == 2}
BROADCASTING = _BINARY | {comparison.COMPARE}
"""Ops whose operands are broadcast to one shape."""

Like = TensorType | np.ndarray | np.generic
Body = Callable[..., Any]


class _Noting:
    """Notes an error of the block in a builder, or lets it pass where it is to be raised at once."""

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, NumhloError):
            return False
        if error.where is None:
            error.where = capture_location()
        if self.builder.raise_at_once:
            return False
        if self.builder.error is None:
            self.builder.error = error
        return True


class GraphBuilder:
    """A function under construction; see `numhlo.stablehlo.Builder`, which users make."""

    def __init__(self, name: str = "main", *, raise_at_once: bool = False) -> None:
        self.name = name
        self.raise_at_once = raise_at_once
        self.error: NumhloError | None = None
        self.parent: GraphBuilder | None = None
        self._parameters: dict[int, Value] = {}
        self._regions = [Region()]
        self._returned: list[Handle] | None = None
        self._built: tuple[Any, Function] | None = None

    def __repr__(self) -> str:
        parameters, ops = counted(len(self._parameters), "parameter"), counted(len(self._regions[0].ops), "op")
        state = "with an error" if self.error is not None else f"{parameters}, {ops}"
        return f"<builder of {self.name}: {state}>"

    # -- errors

    def _noting(self) -> _Noting:
        return _Noting(self)

    def _value(self, item: Any) -> Value:
        """Return a handle's value; numbers and arrays become constants."""
        if not isinstance(item, Handle):
            return self._constant(np.asarray(item))
        if item.value is None:
            raise ArgumentError("an operand is what an op with an error would have returned")
        if item.builder is not self:
            raise ArgumentError(
                f"a value of builder {item.builder.name!r} is used in {self.name!r}",
                why="a graph is closed: what it needs from outside is a parameter",
            )
        return item.value

    # -- values

    def parameter(self, number: int, shape: Like | Sequence[int], dtype: Any = None, name: str = "") -> Handle:
        """Return an argument of the function.

        Parameters
        ----------
        number : int
            Its place among the arguments, from 0 on; each once.
        shape : sequence of int, or array
            With an array, its shape and dtype.
        dtype : dtype_like, optional
            Needed with a shape.
        name : str, optional
            For the reader of this program only.
        """
        with self._noting():
            if isinstance(shape, TensorType):
                type = shape
            elif isinstance(shape, np.ndarray | np.generic):
                type = TensorType(shape.shape, shape.dtype)
            else:
                if dtype is None:
                    raise ArgumentError(f"parameter {number} has a shape, but no dtype")
                type = TensorType(tuple(int(n) for n in shape), np.dtype(dtype))
            if number in self._parameters or number < 0:
                why = "it is defined twice" if number >= 0 else "numbers start at 0"
                raise ArgumentError(f"parameter {number} of {self.name}", why=why)
            self._parameters[number] = Value(type, self._regions[0])
            return Handle(self, self._parameters[number])
        return Handle(self, None)

    def constant(self, value: Any, dtype: Any = None) -> Handle:
        """Return an array, or a number, that is part of the program."""
        with self._noting():
            return Handle(self, self._constant(np.array(value, dtype)))
        return Handle(self, None)

    def full(self, shape: Sequence[int], value: Any, dtype: Any = None) -> Handle:
        """Return a tensor all of whose elements are ``value``."""
        with self._noting():
            scalar = self._constant(np.array(value, dtype))
            result = scalar.tensor.with_shape(tuple(int(n) for n in shape))
            return Handle(
                self, self._append(layout.BROADCAST_IN_DIM, [scalar], {"broadcast_dimensions": ()}, [result])[0]
            )
        return Handle(self, None)

    def _constant(self, array: np.ndarray) -> Value:
        array = array.copy()
        array.flags.writeable = False
        return self._append(creation.CONSTANT, [], {"value": array})[0]

    # -- ops

    def __getattr__(self, name: str) -> Callable[..., Any]:
        definition = PRIMITIVES.get(name.rstrip("_"))
        if definition is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}, and StableHLO no op of that name")
        return partial(self.op, definition.name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *PRIMITIVES})

    def op(
        self,
        name: str,
        *operands: Any,
        result: Any = None,
        regions: Sequence[Any] = (),
        broadcast_dimensions: Sequence[int] | None = None,
        **attributes: Any,
    ) -> Any:
        """Append an op.

        Parameters
        ----------
        name : str
            StableHLO's; the builder has a method of the same name, with ``_`` behind it where it is a word of Python:
            ``and_``, ``or_``, ``not_``, ``if_``, ``while_``.
        *operands : Handle or array_like
        result : TensorType, array, Handle, or sequence of them, optional
            The types of the results, for ops that do not follow from their operands (``reshape``, ``convert``, ...).
        regions : sequence
            Each a builder made by `sub_builder`, a function that `computation` returned, or a Python function that
            takes handles and returns one or several.
        broadcast_dimensions : sequence of int, optional
            Of an elementwise op: which dimensions of the larger operand the smaller one's are. Scalars need none.
        **attributes
            By the names of the generic form.

        Returns
        -------
        Handle, or tuple of Handle
            The result where there is one, else a tuple of the results.
        """
        with self._noting():
            definition = PRIMITIVES.get(name)
            if definition is None:
                raise ArgumentError(f"StableHLO has no op {name!r}")
            values = [self._value(item) for item in operands]
            if definition in BROADCASTING:
                values = self._broadcast(name, values, broadcast_dimensions)
            elif broadcast_dimensions is not None:
                attributes["broadcast_dimensions"] = broadcast_dimensions
            if name == "select" and len(values) == 3 and isinstance(values[1].type, TupleType):
                return Handle(self, self._choose(*values))
            bodies = [self._region(item, values, definition.name) for item in regions]
            callees = {k: v._build_for(self) for k, v in attributes.items() if isinstance(v, GraphBuilder)}
            fit = fit_attributes(definition, {**attributes, **callees})
            results = self._append(definition, values, fit, _types(result), bodies)
            handles = tuple([Handle(self, value) for value in results])
            return handles[0] if len(handles) == 1 else handles
        return Handle(self, None)

    def _choose(self, predicate: Value, on_true: Value, on_false: Value) -> Value:
        """Return one of two tuples, element by element; StableHLO's select takes arrays alone."""
        if not isinstance(on_true.type, TupleType):
            return self._append(comparison.SELECT, [predicate, on_true, on_false], {})[0]
        if on_true.type != on_false.type or predicate.type != PREDICATE:
            raise ArgumentError(
                f"select of {on_true.type} and {on_false.type} by {predicate.type}",
                why="a scalar of booleans chooses between two tuples of one type",
            )
        chosen = []
        for k in range(len(on_true.type.elements)):
            parts = [self._append(tuples.GET_TUPLE_ELEMENT, [v], {"index": k})[0] for v in (on_true, on_false)]
            chosen.append(self._choose(predicate, *parts))
        return self._append(tuples.TUPLE, chosen, {})[0]

    def _append(
        self,
        definition: Any,
        operands: Sequence[Value],
        attributes: dict[str, Any],
        results: Sequence[Type] | None = None,
        regions: Sequence[Region] = (),
    ) -> list[Value]:
        op = make_op(definition, operands, attributes, regions, results, capture_location())
        self._regions[-1].ops.append(op)
        return op.results

    # -- broadcasting

    def _broadcast(self, name: str, values: list[Value], dimensions: Sequence[int] | None) -> list[Value]:
        """Return two operands of one shape: the one of lower rank placed first, then extents of 1 repeated."""
        lhs, rhs = (v.tensor for v in values)
        if lhs.shape == rhs.shape:
            return values
        low = 0 if lhs.ndim < rhs.ndim else 1
        high = values[1 - low].tensor
        shape = list(values[low].tensor.shape)
        places = tuple(range(len(shape)))
        if lhs.ndim != rhs.ndim:
            places = _placed(name, values[low].tensor, high, dimensions)
            expanded = [1] * high.ndim
            for place, extent in zip(places, shape, strict=True):
                expanded[place] = extent
            shape = expanded
        common = []
        for a, b in zip(shape, high.shape, strict=True):
            if a != b and 1 not in (a, b):
                raise ShapeError(
                    f"{name}: {lhs.short()} and {rhs.short()} can't be broadcast to one shape",
                    why="extents must be equal, or one of them 1",
                )
            common.append(a if b == 1 else b)
        own = [tuple(range(high.ndim)), tuple(range(high.ndim))]
        own[low] = places
        return [self._expanded(v, tuple(common), axes) for v, axes in zip(values, own, strict=True)]

    def _expanded(self, value: Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> Value:
        if value.tensor.shape == shape:
            return value
        result = value.tensor.with_shape(shape)
        return self._append(layout.BROADCAST_IN_DIM, [value], {"broadcast_dimensions": axes}, [result])[0]

    # -- regions and builders inside

    def sub_builder(self, name: str) -> GraphBuilder:
        """Return a builder of a function that this one uses: as a region, or called.

        Its errors are raised at once where this one's are, and else noted here when the function is used.
        """
        child = GraphBuilder(name, raise_at_once=self.raise_at_once)
        child.parent = self
        return child

    def call(self, function: Any, *operands: Any) -> Any:
        """Call a function: what a builder inside this one builds."""
        with self._noting():
            callee = function._build_for(self) if isinstance(function, GraphBuilder) else function
            return self.op("call", *operands, callee=callee, result=callee.result_types)
        return Handle(self, None)

    def _region(self, item: Any, operands: Sequence[Value], name: str) -> Region:
        if isinstance(item, GraphBuilder):
            item = item._build_for(self)
        if isinstance(item, Function):
            return _inlined(item)
        if not callable(item):
            raise ArgumentError(f"{name}: a region is a builder or a function, not {item!r}")
        region = Region(_argument_types(name, operands))
        self._regions.append(region)
        try:
            found = item(*[Handle(self, value) for value in region.arguments])
            region.returns = [self._value(v) for v in (found if isinstance(found, tuple | list) else [found])]
        finally:
            self._regions.pop()
        return region

    # -- looking at values

    def get_shape(self, handle: Handle) -> TensorType:
        """Return a value's shape and dtype, inferred."""
        return self._value(handle).tensor

    def check_shape(self, handle: Handle, shape: Like | Sequence[int]) -> Handle:
        """Return the value; it is an error if its shape (with an array, its dtype too) is another."""
        with self._noting():
            found = self._value(handle).tensor
            wanted: Any = getattr(shape, "shape", shape)
            dtype = getattr(shape, "dtype", found.dtype)
            if found.shape != tuple(wanted) or found.dtype != dtype:
                expected = TensorType(tuple(wanted), np.dtype(dtype))
                raise ShapeError(f"a value is {found.short()}, not {expected.short()}")
        return handle

    def check_same_shape(self, lhs: Handle, rhs: Handle) -> None:
        """Make it an error if two values differ in shape."""
        with self._noting():
            self.check_shape(lhs, self._value(rhs).tensor.shape)

    def compute_constant(self, handle: Handle) -> np.ndarray:
        """Return the value of a handle that depends on no parameter.

        Raises
        ------
        ArgumentError
            If it depends on one.
        """
        environment: dict[Value, np.ndarray] = {}
        wanted = self._value(handle)
        for op in _needed(wanted, self._regions[0]):
            environment.update(zip(op.results, evaluate_op(op, environment), strict=True))
        return np.array(environment[wanted])

    # -- the end

    def set_return_value(self, *handles: Handle) -> None:
        """Choose what the function returns, instead of what the last op returns."""
        self._returned = list(handles)

    def computation(self) -> Function:
        """Return the function.

        Raises
        ------
        NumhloError
            The first error that was noted.
        """
        if self.error is not None:
            raise self.error
        numbers = sorted(self._parameters)
        if numbers != list(range(len(numbers))):
            missing = next(k for k in range(len(numbers) + 1) if k not in self._parameters)
            raise ArgumentError(f"{self.name}: parameter {missing} is missing", why=f"there are {numbers}")
        body = self._regions[0]
        body.arguments = [self._parameters[k] for k in numbers]
        last = body.ops[-1].results if body.ops else body.arguments[-1:]
        body.returns = list(last) if self._returned is None else [self._value(h) for h in self._returned]
        return Function(self.name, body, visibility="public" if self.parent is None else "private")

    def _build_for(self, user: GraphBuilder) -> Function:
        """Return the function for another builder, which must be the one that this is inside of."""
        if self.parent is not user:
            raise ArgumentError(f"builder {self.name!r} is not inside {user.name!r}", fix="make it by sub_builder")
        found = self.computation()
        state = len(found.body.ops), list(found.body.returns)
        if self._built is None or self._built[0] != state:  # calls of one function, as long as nothing is added to it
            self._built = state, Function(self.name, _inlined(found), visibility="private")
        return self._built[1]

    def module(self) -> Module:
        """Return a module of the function and all that it calls."""
        return Module([self.computation()], self.name)


def _types(result: Any) -> list[Type] | None:
    """Return result types from a type, an array or a handle, or several of them."""
    if result is None:
        return None
    items = result if isinstance(result, list | tuple) else [result]
    given = [r.value.type if isinstance(r, Handle) and r.value is not None else r for r in items]
    types = [TensorType(r.shape, r.dtype) if isinstance(r, np.ndarray | np.generic) else r for r in given]
    for item in types:
        if not isinstance(item, TensorType | TupleType | TokenType):
            raise ArgumentError(f"{item!r:.60} is no type of a result", fix="give a TensorType, or an array like it")
    return types


def _placed(name: str, low: TensorType, high: TensorType, dimensions: Sequence[int] | None) -> tuple[int, ...]:
    """Return which dimensions of the higher rank are the lower one's; a scalar has none."""
    if dimensions is None and not low.ndim:
        return ()
    if dimensions is None:
        raise ShapeError(
            f"{name}: {low.short()} and {high.short()} have different ranks",
            why="which dimensions match is not guessed",
            fix=f"say it: broadcast_dimensions={tuple(range(high.ndim - low.ndim, high.ndim))}",
        )
    places = tuple(int(k) for k in dimensions)
    ascending = all(a < b for a, b in itertools.pairwise(places))
    if len(places) != low.ndim or not ascending or not all(0 <= k < high.ndim for k in places):
        raise ShapeError(
            f"{name}: broadcast_dimensions {places} do not place {low.short()} in {high.short()}",
            why="there must be one for each dimension of the smaller operand, ascending",
        )
    return places


def _argument_types(name: str, operands: Sequence[Value]) -> list[Type]:
    """Return what a Python function as a region takes: nothing, the state of a loop, or scalars, by the op."""
    if name in ("if", "case"):
        return []
    types = [v.type for v in operands]
    if name == "while":
        return types
    scalars: list[Type] = [v.tensor.with_shape(()) for v in operands]
    if name == "sort":
        return [t for t in scalars for _ in range(2)]
    if name == "map":
        return scalars
    half = scalars[: len(scalars) // 2] if name in ("reduce", "reduce_window") else scalars[:1]
    return [*half, *half]


def _inlined(function: Function) -> Region:
    """Return a copy of a function's body as a region."""
    region = Region(function.argument_types)
    values = dict(zip(function.body.arguments, region.arguments, strict=True))
    _copy(function.body, region, values)
    return region


def _copy(source: Region, target: Region, values: dict[Value, Value]) -> None:
    for op in source.ops:
        inner = []
        for region in op.regions:
            copied = Region([v.type for v in region.arguments])
            values.update(zip(region.arguments, copied.arguments, strict=True))
            _copy(region, copied, values)
            inner.append(copied)
        types = [v.type for v in op.results]
        found = Op(op.definition, [values[v] for v in op.operands], op.attributes, inner, types, op.location)
        values.update(zip(op.results, found.results, strict=True))
        target.ops.append(found)
    target.returns = [values[v] for v in source.returns]


def _needed(wanted: Value, body: Region) -> list[Op]:
    """Return the ops that a value depends on, in order."""
    found: set[Op] = set()
    stack = [wanted]
    while stack:
        owner = stack.pop().owner
        if not isinstance(owner, Op):
            raise ArgumentError(
                "the value depends on a parameter", why="only what depends on constants alone has a value"
            )
        if owner not in found:
            found.add(owner)
            stack += owner.operands
            stack += free_values(owner)
    return [op for op in body.ops if op in found]
