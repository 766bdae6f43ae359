"""What users' implementations of custom calls and ops are on NumPy arrays: Python called, or an address; checked.

An implementation in Python gets copies, in the layouts that the op asks for, and its results must be what the op
declares. A native one gets dense arrays. The backend does without this wherever it calls an address itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, TokenType, TupleType, Type
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import DTypeError, ShapeError, UnsupportedError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.custom_call_attributes import aliases_of
from numhlo.lowering.ops.custom_calls import CustomCall
from numhlo.lowering.ops.memory_layouts import Layout
from numhlo.lowering.ops.native_functions import RUNNERS, NativeFunction, refusal_of_types
from numhlo.lowering.ops.primitive import RESULT_TYPES

OPERAND_ORDERS, RESULT_ORDERS = "numhlo.operand_orders", "numhlo.result_orders"
"""Attributes of calls whose arrays passes have transposed to C's order: which dimensions they are, for each array."""


def options_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a custom call's configuration says, as an implementation in Python gets it by keyword.

    Examples
    --------
    >>> options_of({"backend_config": {"scale": 2.0}}), options_of({"backend_config": "text"})
    ({'scale': 2.0}, {'backend_config': 'text'})
    """
    found = attributes.get("mhlo.backend_config") or attributes.get("backend_config")
    if isinstance(found, Mapping):
        return {name: _plain(value) for name, value in found.items()}
    return {"backend_config": found} if found else {}


def _plain(value: Any) -> Any:
    element = getattr(value, "element", None)  # of an array whose text says a type, such as array<i32: 1, 2>
    if element is not None:
        return np.array(value, ELEMENT_TYPES.get(element.removeprefix("s") if element[:2] == "si" else element))
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


def require_tensors(what: str, values: Sequence[Any]) -> None:
    """Raise where a call takes or gives something that no array is, such as a token.

    Parameters
    ----------
    what : str
        The call, for messages.
    values : sequence of Type or array
    """
    others = [value for value in values if not isinstance(value, TensorType | np.ndarray | np.generic)]
    if others:
        shown = others[0] if isinstance(others[0], TokenType | TupleType) else "token"
        raise UnsupportedError(
            f"{what}: it has a {shown} among its operands or results",
            why="what users register takes arrays and gives arrays",
        )


def hashable(value: Any) -> Any:
    """Return what tells an option apart from others, its type included.

    Examples
    --------
    >>> hashable({"a": 1}) == hashable({"a": 1.0})
    False
    """
    if isinstance(value, Mapping):
        return tuple([(name, hashable(item)) for name, item in sorted(value.items())])
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    return (tuple, *map(hashable, value)) if isinstance(value, tuple | list) else (type(value), value)


def layouts_of(attributes: Mapping[str, Any], name: str, types: Sequence[Type]) -> list[Layout]:
    """Return the layouts that a custom call asks for, C's order where it asks for none.

    Parameters
    ----------
    attributes : mapping
    name : str
        ``"operand_layouts"`` or ``"result_layouts"``.
    types : sequence of Type
        Of the operands, or of the results.
    """
    listed = attributes.get(name)
    if listed is None:
        return [Layout.row_major(t.ndim if isinstance(t, TensorType) else 0) for t in types]
    return [Layout.of_attribute(str(layout)) for layout in listed]


def _laid_out(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> list[np.ndarray]:
    if attributes.get("operand_layouts") is None:
        return list(arrays)
    wanted = [Layout.of_attribute(str(layout)) for layout in attributes["operand_layouts"]]
    return [layout.lay_out(a) for layout, a in zip(wanted, arrays, strict=True)]


def on_python(name: str, function: Callable[..., Any]) -> CustomCall:
    """Return what calls a Python function.

    Parameters
    ----------
    name : str
        For messages.
    function : callable
        ``function(*arrays, **options)`` returns an array, or as many as there are results.
    """

    def run(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
        types: Sequence[Type] = attributes[RESULT_TYPES]
        require_tensors(name, [*arrays, *types])
        own = [np.array(a) for a in _laid_out(arrays, attributes)]  # it might keep them, or write into them
        returned = function(*own, **options_of(attributes))
        found = list(returned) if isinstance(returned, tuple | list) else [] if returned is None else [returned]
        if len(found) != len(types):
            raise ShapeError(
                f"{name} returned {counted(len(found), 'result')}",
                why=f"it was said to return {counted(len(types), 'result')}",
                fix="return an array, or a tuple of as many as its results",
            )
        return [_checked(name, x, type) for x, type in zip(found, types, strict=True)]

    return run


def _checked(name: str, value: Any, type: Type) -> np.ndarray:
    assert isinstance(type, TensorType)
    array = np.asarray(value)
    if array.shape != type.shape:
        raise ShapeError(
            f"{name} returned an array of shape {list(array.shape)}",
            why=f"its result was described as {type.short()}",
            fix="return an array of that shape, or describe the result as it is",
        )
    if array.dtype != type.dtype and not (np.isscalar(value) and np.can_cast(array.dtype, type.dtype, "same_kind")):
        raise DTypeError(
            f"{name} returned an array of {array.dtype}",
            why=f"its result was described as {type.short()}",
            fix=f"return .astype({type.dtype.name!r}), or describe the result as it is",
        )
    return array.astype(type.dtype, copy=False)


def on_native(native: NativeFunction) -> CustomCall:
    """Return what calls a native function from Python."""

    def run(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
        if OPERAND_ORDERS in attributes:
            return _transposed_back(run, arrays, attributes)
        types: Sequence[TensorType] = attributes[RESULT_TYPES]
        require_tensors(f"custom_call {native.name}", [*arrays, *types])
        reason = refusal_of_types([a.dtype for a in arrays] + [t.dtype for t in types])
        if reason:
            raise UnsupportedError(f"custom_call {native.name}: {reason}", fix="convert to int8 or float32 around it")
        given = _laid_out(arrays, attributes)
        if attributes.get("operand_layouts") is None:
            given = [np.ascontiguousarray(a).reshape(a.shape) for a in given]
        layouts = layouts_of(attributes, "result_layouts", types)
        results = [layout.empty(t.shape, t.dtype) for layout, t in zip(layouts, types, strict=True)]
        for number, operand in aliases_of(attributes):
            if not layouts[number].matches(given[operand]):
                raise UnsupportedError(
                    f"custom_call {native.name}: result {number} in the memory of operand {operand}, in another layout",
                    fix="ask for one layout of both",
                )
            results[number][...] = given[operand]
            given[operand] = results[number]
        RUNNERS[native.version](native, given, results, attributes)
        return results

    return run


def _transposed_back(
    run: CustomCall, arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]
) -> Sequence[np.ndarray]:
    """Call a function on the arrays that passes have transposed, and give its results as these are to be."""
    orders = attributes[OPERAND_ORDERS], attributes[RESULT_ORDERS]
    pairs = zip(attributes[RESULT_TYPES], orders[1], strict=True)
    types = [t.with_shape(restored(t.shape, order)) for t, order in pairs]
    layouts = [tuple([Layout(order[::-1]).attribute for order in group]) for group in orders]
    inner = {name: value for name, value in attributes.items() if name not in (OPERAND_ORDERS, RESULT_ORDERS)}
    inner.update({RESULT_TYPES: types, "operand_layouts": layouts[0], "result_layouts": layouts[1]})
    given = [a.transpose(np.argsort(order)) for a, order in zip(arrays, orders[0], strict=True)]
    pairs = zip(run(given, inner), orders[1], strict=True)
    return [np.array(x.transpose(order), order="C", copy=None) for x, order in pairs]


def restored(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that was transposed to one.

    Examples
    --------
    >>> restored((4, 2, 3), (2, 0, 1))
    (2, 3, 4)
    """
    found = [0] * len(shape)
    for extent, axis in zip(shape, order, strict=True):
        found[axis] = extent
    return tuple(found)
