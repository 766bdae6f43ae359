"""Bodies of control flow: a user's function traced as a region, and the types that bodies and carries agree on.

This file knows what a body returns and how results of differing type are brought together. The ops that the regions
belong to are made in `branches`, `loops` and `scan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Region, TensorType, Value, capture_location
from numhlo.lowering.ir.errors import ControlFlowTypeError
from numhlo.lowering.ops import conversion
from numhlo.lowering.ops.primitive import make_op
from numhlo.tracer.core.arguments import WEAK, LeafType, is_number, leaf_type
from numhlo.tracer.core.array import Array, is_weak_array
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.operands import as_traced, asarray, promotion_key
from numhlo.tracer.core.promotion import common_dtype
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.core.type_rules import type_rules
from numhlo.tracer.trees.pytree_paths import structure_paths
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_map


class Body:
    """A user's function, traced; its results may still be converted.

    Parameters
    ----------
    name : str
        What to call it in messages: ``"true_fun"``, ``"the body"``.
    fun : callable
        Called with the trace; returns any pytree.
    closed : bool
        A function of its own instead of a region.

    Attributes
    ----------
    trace : Trace
    tree : PyTreeDef
        The results' structure.
    types : list of LeafType
        The results' types.
    """

    def __init__(self, name: str, fun: Callable[[Trace], Any], *, closed: bool = False) -> None:
        self.name = name
        with new_trace(closed=closed) as trace:
            leaves, self.tree = tree_flatten(fun(trace))
            paths = structure_paths(self.tree)
            self.types = [
                leaf_type(x, f"result {p} of {name}".replace("  ", " ")) for x, p in zip(leaves, paths, strict=True)
            ]
            self.values = [trace.read(x if isinstance(x, Tracer) else asarray(x)) for x in leaves]
        self.trace = trace

    def region(self, types: Sequence[LeafType] | None = None) -> Region:
        """Return the region, its results converted to ``types``."""
        for k, wanted in enumerate(types or ()):
            if self.values[k].tensor.dtype != wanted.tensor.dtype:
                self.values[k] = _convert(self.trace, self.values[k], wanted.tensor)
        self.trace.region.returns = self.values
        return self.trace.region


def _convert(trace: Trace, value: Value, type: TensorType) -> Value:
    (converted,) = trace.append(make_op(conversion.CONVERT, [value], results=[type], location=trace.where()))
    return converted


def weak_argument(trace: Trace, type: LeafType, *, is_scalar: bool = False) -> Tracer:
    """Add an argument to the body and return it, weak where its type is; a scalar, and no 0-d array, if so asked."""
    tracer = trace.argument(type.tensor)
    tracer.weak = type.weak
    tracer.cell.is_array = not is_scalar
    return tracer


class CarriedNumber(Tracer):
    """A carry that begins as a Python number, and notes whether the body asked if it is one.

    Where the body didn't, it is the same body for a carry that turns out to be no Python number: it need not be traced
    again. `x, change = lax.while_loop(..., (x, np.inf))` is such a loop.
    """

    __slots__ = ("_weak", "asked")

    def __init__(self, argument: Tracer) -> None:
        super().__init__(argument.cell, argument.steps, argument.aval)
        self._weak, self.asked = True, False

    @property
    def weak(self) -> bool:
        """Return whether the array stands for a Python scalar, and note the question."""
        self.asked = True
        return self._weak

    @weak.setter
    def weak(self, weak: bool) -> None:
        self._weak = weak


class CarryArguments:
    """The arguments of one trace of a body that takes a loop's carry.

    Parameters
    ----------
    types : sequence of LeafType
    scalars : sequence of bool
        Which are scalars at the beginning of the loop (`is_number`).
    """

    def __init__(self, types: Sequence[LeafType], scalars: Sequence[bool]) -> None:
        self.types, self.scalars = types, scalars
        self._arguments: list[Tracer] = []

    def make(self, trace: Trace) -> list[Tracer]:
        """Return the arguments, added to a body."""
        plain = [trace.argument(t.tensor) for t in self.types]
        for argument, is_scalar in zip(plain, self.scalars, strict=True):
            argument.cell.is_array = not is_scalar
        self._arguments = [CarriedNumber(x) if t.weak else x for x, t in zip(plain, self.types, strict=True)]
        return self._arguments

    def serve(self, wanted: Sequence[LeafType]) -> bool:
        """Return whether the trace would have been the same with arguments of the types ``wanted``."""
        return all(
            was == now or (was.tensor == now.tensor and isinstance(x, CarriedNumber) and not x.asked)
            for x, was, now in zip(self._arguments, self.types, wanted, strict=True)
        )


def with_arrays(operands: Any) -> Any:
    """Return operands of a body that is traced now: under JAX's rules Python's numbers are weak arrays."""
    if not are_arrays_immutable():
        return operands

    def array(leaf: Any) -> Any:
        if type(leaf) not in WEAK:
            return leaf
        tracer = as_traced(asarray(leaf))
        tracer.weak = True
        return tracer

    return tree_map(array, operands)


def own_arrays(trace: Trace, operands: Any) -> Any:
    """Return a body's own version of its operands: arrays that it may write into without effect outside.

    NumPy scalars stay as they are, and Python's but under JAX's rules.
    """

    def own(leaf: Any) -> Any:
        if not isinstance(leaf, Tracer | np.ndarray):
            return with_arrays(leaf)
        tracer = trace.wrap(trace.read(leaf))
        tracer.weak = isinstance(leaf, Tracer) and leaf.weak
        tracer.cell.is_array = not is_number(leaf)
        return tracer

    return tree_map(own, operands)


def copy_arrays(operands: Any) -> Any:
    """Return operands with every array copied: what a body owns outside tracing."""

    def own(leaf: Any) -> Any:
        is_plain = isinstance(leaf, np.ndarray) and not is_weak_array(leaf)  # weak ones can't be written
        return leaf.copy().view(Array) if is_plain else leaf

    return tree_map(own, operands)


def as_results(tree: Any) -> Any:
    """Return what a body returned outside tracing, every leaf as an array of its own."""
    return tree_map(lambda leaf: of_type(np.array(asarray(leaf)).view(Array), leaf_type(leaf)), tree)


def as_carry(init: Any, tree: Any) -> Any:
    """Return a loop's last carry outside tracing, every leaf as an array of its own, of the type that a trace gives."""

    def own(first: Any, last: Any) -> Any:
        before = leaf_type(first)
        type = promote([before, leaf_type(last)])
        found = np.array(last, type.tensor.dtype).view(Array)
        return of_type(found, type) if before.tensor.dtype == type.tensor.dtype else found

    return tree_map(own, init, tree)


def of_type(x: Any, type: LeafType) -> Any:
    """Return a result as one that stands for Python's numbers where its type does, and rules have such arrays."""
    weak_class = type_rules().weak_class
    if weak_class is None or not type.weak or type.tensor.dtype.kind == "b":
        return x
    if isinstance(x, Tracer):
        x.weak = True
        return x
    found = x.view(weak_class)
    found.flags.writeable = False
    return found


def is_known(x: Any) -> bool:
    """Return whether a predicate or bound has a value now, so that Python can act on it."""
    return not isinstance(x, Tracer) or x.concrete is not None


def known_value(x: Any) -> Any:
    """Return the value of what `is_known`."""
    return x.concrete if isinstance(x, Tracer) else x


def _key(type: LeafType) -> Any:
    if not type.weak:
        return type.tensor.dtype
    return promotion_key({"b": True, "i": 0, "f": 0.0, "c": 0j}[type.tensor.dtype.kind])


def promote(types: Sequence[LeafType]) -> LeafType:
    """Return the type of equal shape that all of ``types`` convert to; weak only where all are weak."""
    dtype = common_dtype([_key(t) for t in types])
    return LeafType(types[0].tensor.with_dtype(dtype), all(t.weak for t in types))


def unify(bodies: Sequence[Body], what: str) -> list[LeafType]:
    """Return the result types that all bodies are converted to.

    Raises
    ------
    ControlFlowTypeError
        If their structures or shapes differ.
    """
    first = bodies[0]
    for other in bodies[1:]:
        if other.tree != first.tree:
            raise ControlFlowTypeError(
                f"{what}: {first.name} and {other.name} return different structures",
                where=capture_location(),
                why=f"{first.name} returns {describe(first.tree)}, {other.name} returns {describe(other.tree)}",
                fix="return the same containers with the same keys from both",
            )
        _require_equal_shapes(first, other, what)
        if are_arrays_immutable():
            _require_equal_dtypes(first, other, what)
    return [promote(row) for row in zip(*[b.types for b in bodies], strict=True)]


def _require_equal_shapes(first: Body, other: Body, what: str) -> None:
    for k, (a, b) in enumerate(zip(first.types, other.types, strict=True)):
        if a.tensor.shape != b.tensor.shape:
            path = structure_paths(first.tree)[k]
            raise ControlFlowTypeError(
                f"{what}: {first.name} and {other.name} return different shapes{path and f' at {path}'}",
                where=capture_location(),
                why=f"{first.name} returns {a}, {other.name} returns {b}",
                fix="return arrays of one shape from both",
            )


def _require_equal_dtypes(first: Body, other: Body, what: str) -> None:
    for a, b in zip(first.types, other.types, strict=True):
        mine, theirs, is_weak = a.tensor.dtype, b.tensor.dtype, a.weak or b.weak
        if mine.kind != theirs.kind or (mine != theirs and not is_weak):
            raise ControlFlowTypeError(
                f"{what}: branches must have equal output types but they differ",
                where=capture_location(),
                why=f"{first.name} returns {a}, {other.name} returns {b}",
                fix="convert the results to one dtype",
            )


def describe(tree: PyTreeDef) -> str:
    """Return a structure for messages."""
    return repr(tree).removeprefix("PyTreeDef(")[:-1]
