"""Callbacks: custom calls that run Python functions in the middle of a program. What users write is in `lax.callbacks`.

A callback is a ``custom_call`` of one target; which function it means stands in its ``backend_config``, a string that
also holds the function. So the text of a program is legal, and the function lives as long as the programs that use it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from numhlo.lowering.ir import Location, Op, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.operands import asarray, broadcast_to_shape, expand, shape_of
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten

TARGET = "numhlo.python_callback"
WHOLE_BATCH = ("expand_dims", "broadcast_all")
NO_LANES = {
    "none": "vmap is only supported for the pure_callback primitive when vmap_method is given",
    "ordered": "Cannot `vmap` ordered IO callback.",
}
"""Methods by which callbacks refuse to run for lanes, and why; those of JAX's functions."""

CALLBACK_METHODS = (None, "sequential", "sequential_unrolled", *WHOLE_BATCH)

_numbers = itertools.count()


@record(frozen=True)
class Callback:
    """A Python function, and how flat arrays are its arguments and results.

    Attributes
    ----------
    function : callable
    arguments, results : PyTreeDef
    types : list of TensorType
        Of the results; for one lane, under `vmap`.
    where : Location
        The user's line.
    vmap_method : str or None
        See `pure_callback`.
    lanes : tuple of int
        Leading extents that a whole batch has.
    """

    function: Callable[..., Any]
    arguments: PyTreeDef
    results: PyTreeDef
    types: list[TensorType]
    where: Location
    vmap_method: str | None = None
    lanes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Return what to call the function in messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def wide_types(self) -> list[TensorType]:
        """Return the results' types, lanes included."""
        return [t.with_shape(self.lanes + t.shape) for t in self.types]

    def __call__(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Call the function on flat arguments, and check what it returns."""
        args, kwargs = tree_unflatten(self.arguments, arrays)
        leaves, structure = tree_flatten(self.function(*args, **kwargs))
        if structure != self.results:
            raise ArgumentError(
                f"callback {self.name} returned {structure}",
                where=self.where,
                why=f"its results were described as {self.results}",
                fix="return what was described, or describe what is returned",
            )
        return [self._checked(leaf, type) for leaf, type in zip(leaves, self.wide_types, strict=True)]

    def _checked(self, leaf: Any, type: TensorType) -> np.ndarray:
        """Return a result as an array of the type that it was said to have."""
        array = np.asarray(leaf)
        if array.shape != type.shape:
            raise ShapeError(
                f"callback {self.name} returned an array of shape {list(array.shape)}",
                where=self.where,
                why=f"its result was described as {type.short()}",
                fix="return an array of that shape, or describe the result as it is",
            )
        if array.dtype != type.dtype and not np.can_cast(array.dtype, type.dtype, "same_kind"):
            raise DTypeError(
                f"callback {self.name} returned an array of {array.dtype}",
                where=self.where,
                why=f"its result was described as {type.short()}",
                fix=f"return .astype({type.dtype.name!r}), or describe the result as it is",
            )
        return array.astype(type.dtype, copy=False)


class CallbackName(str):
    """The ``backend_config`` of a callback: a unique string that holds it.

    Attributes
    ----------
    callback : Callback
    """

    __slots__ = ("callback",)
    callback: Callback

    @classmethod
    def of(cls, callback: Callback) -> CallbackName:
        """Return a name of a callback."""
        made = cls(f"{callback.name}, callback {next(_numbers)}")
        made.callback = callback
        return made


def _run(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
    name = attributes["backend_config"]
    if not isinstance(name, CallbackName):
        raise UnsupportedError(
            f"a call of the Python function {name!r}",
            where=capture_location(),
            why="the program was read from text, which does not hold the function",
            fix="run the program from the function that it was traced from",
        )
    return name.callback([np.array(x) for x in arrays])  # copies: the program's memory is used again


register_custom_call(TARGET, _run)


def _types_of(result: Any) -> tuple[list[TensorType], PyTreeDef]:
    leaves, tree = tree_flatten(result)
    for leaf in leaves:
        if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
            raise ArgumentError(
                f"a callback's result described by {leaf!r}",
                where=capture_location(),
                fix="describe each result by a ShapeDtypeStruct(shape, dtype), or by an array like it",
            )
    return [TensorType(tuple(x.shape), np.dtype(x.dtype)) for x in leaves], tree


def call_function(
    function: Callable[..., Any],
    result: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    has_side_effect: bool,
    vmap_method: str | None = None,
) -> Any:
    """Call a function, or put a call of it into the graph; ``result`` describes what it returns."""
    types, out_tree = _types_of(result)
    leaves, in_tree = tree_flatten((args, kwargs))
    callback = Callback(function, in_tree, out_tree, types, capture_location(), vmap_method)
    if current_trace() is None:
        return tree_unflatten(out_tree, [np.array(x).view(Array) for x in callback(leaves)])
    return tree_unflatten(out_tree, _bind(callback, [*map(asarray, leaves)], has_side_effect))


def _bind(callback: Callback, arrays: Sequence[Any], has_side_effect: bool) -> list[Any]:
    attributes = {
        "call_target_name": TARGET,
        "has_side_effect": has_side_effect,
        "backend_config": CallbackName.of(callback),
    }
    return bind(control_flow.CUSTOM_CALL, *arrays, attributes=attributes, results=callback.wide_types)


def call_with_lanes(op: Op, arrays: Sequence[tuple[Any, bool]], size: int) -> list[Any] | None:
    """Return the results of a callback that takes whole batches; None for any other custom call.

    Parameters
    ----------
    op : Op
    arrays : sequence of (array, bool)
        The operands, with whether the leading axis holds the lanes.
    size : int
        The number of lanes.
    """
    name = op.attributes["backend_config"]
    if isinstance(name, CallbackName) and name.callback.vmap_method in NO_LANES:
        kind = UnsupportedError if name.callback.vmap_method == "none" else ArgumentError
        raise kind(
            f"vmap of callback {name.callback.name}",
            where=name.callback.where,
            why=NO_LANES[name.callback.vmap_method],
            fix="give vmap_method=, such as 'sequential'" if kind is UnsupportedError else "leave ordered= out",
        )
    if not isinstance(name, CallbackName) or name.callback.vmap_method not in WHOLE_BATCH:
        return None
    wide = name.callback.vmap_method == "broadcast_all"
    given = [x if mapped else expand(x, 0) for x, mapped in arrays]
    if wide:
        given = [broadcast_to_shape(x, (size, *shape_of(x)[1:])) for x in given]
    callback = replace(name.callback, lanes=(size, *name.callback.lanes))
    return _bind(callback, given, op.attributes["has_side_effect"])
