"""What `evaluate` may ask of a region that it was handed as a callable.

A region of scalars made of elementwise ops means the same on whole arrays, element by element; rules for reductions,
sorts and scatters use that to stay vectorized. A plain Python callable has no structure: every question is then
answered with None or False, and the rule takes its element-by-element path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Protocol, runtime_checkable

import numpy as np

from numhlo.lowering.ir import Function, Op, Region, TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.casting import cast
from numhlo.lowering.ops.primitive import PRIMITIVES, Arrays, RegionFunction, Signature

ELEMENTWISE_FAMILIES = frozenset({"Elementwise", "Comparison", "Conversion"})
WIDTH_CHANGING = frozenset({"bitcast_convert"})
SCALAR_IDENTITIES = frozenset({"broadcast_in_dim", "reshape", "transpose", "optimization_barrier"})


@runtime_checkable
class StructuredFunction(Protocol):
    """A callable that knows the function it runs, and makes callables of others."""

    function: Function

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the function's results."""
        ...

    def bind(self, function: Function) -> Callable[..., tuple[np.ndarray, ...]]:
        """Return another function as a callable."""
        ...


def region_of(function: RegionFunction) -> Region | None:
    """Return the region behind a callable, or None where it is a plain one."""
    return getattr(function, "region", None)


def single_op(region: Region | None) -> Op | None:
    """Return the only op of a two-argument region that applies it to both arguments in order and returns its result.

    Commutative ops may take the arguments in any order.
    """
    if region is None or len(region.ops) != 1 or len(region.arguments) != 2:
        return None
    (op,) = region.ops
    if region.returns != op.results or len(op.results) != 1:
        return None
    if op.operands == region.arguments or (op.definition.commutative and op.operands == region.arguments[::-1]):
        return op
    return None


def returns_argument(region: Region | None, index: int) -> bool:
    """Return whether a region does nothing but return its argument number ``index``."""
    return region is not None and region.returns == [region.arguments[index]]


def takes_arrays(region: Region | None) -> bool:
    """Return whether a region of scalars means the same on arrays, element by element."""
    if region is None:
        return False
    return all(_takes_arrays(op) for op in region.ops)


def _takes_arrays(op: Op) -> bool:
    if any(not isinstance(value.type, TensorType) or value.type.shape for value in [*op.operands, *op.results]):
        return False
    name = op.definition.name
    if PRIMITIVES.get(name) is not op.definition:
        return False  # another dialect's, of a known name
    if name == "constant" or name in SCALAR_IDENTITIES:
        return True
    if name in {"call", "composite"}:
        callee = op.attributes.get("callee", op.attributes.get("decomposition"))
        return isinstance(callee, Function) and takes_arrays(callee.body)
    if name in WIDTH_CHANGING:
        return op.operands[0].tensor.dtype.itemsize == op.result.tensor.dtype.itemsize
    return type(op.definition).__name__ in ELEMENTWISE_FAMILIES


def full(results: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return results of a region on arrays, broadcast where they did not depend on the arguments."""
    return [np.broadcast_to(array, shape) for array in results]


def body_element_types(signature: Signature, dtypes: Sequence[np.dtype], rule: str) -> list[np.dtype]:
    """Return the element types of a combining body: ``(E0, ..., EN-1, E0, ..., EN-1) -> (E0, ..., EN-1)``, all scalars.

    Parameters
    ----------
    signature : Signature
        Of an op with one region.
    dtypes : sequence of numpy.dtype
        Element types of what the body combines: of all inputs, and again of all that they are combined with.
    rule : str
        The constraint's id, for messages.
    """
    signature.require(len(signature.regions) == 1, "needs one region")
    (body,) = signature.regions
    count = len(dtypes) // 2
    taken = [value.type for value in body.arguments]
    returned = [value.type for value in body.returns]
    shown = ", ".join(map(str, taken))
    signature.require(
        len(taken) == 2 * count and taken[:count] == taken[count:] and returned == taken[:count],
        f"({rule}) the body must take {count} scalars twice and return {count} of the same types, not ({shown})",
    )
    elements = []
    for type, *given in zip(returned, dtypes[:count], dtypes[count:], strict=True):
        signature.require(
            isinstance(type, TensorType) and type.shape == () and all(is_promotable(d, type.dtype) for d in given),
            f"({rule}) the body's types must be scalars that the inputs promote to, not {type}",
        )
        elements.append(type.dtype)  # type: ignore[union-attr]
    return elements


def promoted(arrays: Arrays, region: Region | None) -> list[np.ndarray]:
    """Return what a body combines, all inputs and perhaps again as many others, in the body's element types."""
    if region is None:
        return list(arrays)
    return [cast(a, v.tensor.dtype) for a, v in zip(arrays, cycle(region.returns), strict=False)]


def is_promotable(narrow: np.dtype, wide: np.dtype) -> bool:
    """Return whether an element type may be accumulated in another: integers in ones as wide, floats in any.

    Notes
    -----
    The specification asks for floats as wide, too; its official verifier ignores their precision, and the sign of
    integers.

    Examples
    --------
    >>> is_promotable(np.dtype("int8"), np.dtype("uint32")), is_promotable(np.dtype("int8"), np.dtype("float32"))
    (True, False)
    """
    if narrow in FLOATS:
        return wide in FLOATS
    if narrow in COMPLEX:
        return wide in COMPLEX and narrow.itemsize <= wide.itemsize
    return wide in INTEGERS | {BOOL} and BIT_WIDTHS[narrow] <= BIT_WIDTHS[wide]


def is_alike(first: np.dtype, second: np.dtype) -> bool:
    """Return whether two element types are of one kind: where a body takes them in its own, they need not be one."""
    return any(first in kind and second in kind for kind in (FLOATS, COMPLEX, INTEGERS | {BOOL}))
