"""Type rules of CHLO's ops, which programs hold beside StableHLO's: how many operands, of which types, and the results.

CHLO has no specification; these are its official verifier's verdicts. Ops that are not here return what text declares.
What the ops mean is said by the passes that replace them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, FLOATS, INTEGERS
from numhlo.lowering.ops.extents import at_most, same_shape, same_types
from numhlo.lowering.ops.extents import extents as shown
from numhlo.lowering.ops.primitive import Signature

ELEMENTWISE = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh"), (1, FLOATS | COMPLEX)),
    **dict.fromkeys(("square", "bessel_i1e", "tan", "conj"), (1, FLOATS | COMPLEX)),
    **dict.fromkeys(("lgamma", "digamma", "erf", "erfc", "erf_inv"), (1, FLOATS)),
    **dict.fromkeys(("zeta", "polygamma", "next_after"), (2, FLOATS)),
    "mulhi": (2, INTEGERS),
}
"""Ops whose result has their operands' type: how many operands they take, of which element types."""

BROADCAST_TYPES = {
    **dict.fromkeys(("and", "or", "xor"), INTEGERS | {BOOL}),
    "complex": {np.dtype(np.float32), np.dtype(np.float64)},
    "zeta": FLOATS,
}
"""Element types of ops with broadcasting, where these take not every type."""

_BROADCASTING = (
    "add and atan2 compare complex divide maximum minimum multiply next_after or polygamma power remainder select "
    "shift_left shift_right_arithmetic shift_right_logical subtract xor zeta"
)
BROADCASTING = frozenset(f"broadcast_{name}" for name in _BROADCASTING.split())
"""Ops that broadcast their operands against each other."""

DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
ORDERS = ("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", "NOTYPE")

TESTS = frozenset({"is_inf", "is_neg_inf", "is_pos_inf"})
"""Ops of floats whose result is a boolean for each element."""


def infer_chlo(signature: Signature) -> Sequence[Type]:
    """Return the declared result types, after a look whether they can be."""
    name, declared = signature.name, signature.results
    signature.require(declared is not None, "the result types of an op of CHLO must be given")
    if name in ELEMENTWISE or name in TESTS:
        _check_elementwise(signature)
    elif name == "top_k":
        _check_top_k(signature)
    elif name == "constant_like":
        signature.require(len(signature.operands) == 1, "constant_like takes one operand")
        _require_results(signature, [signature.tensor(0).with_dtype(signature.result_tensor().dtype)])
    elif name.startswith("broadcast_"):
        signature.require(len(declared or ()) == 1, f"{name} has one result")
        _check_element_types(signature, name.removeprefix("broadcast_"))
        _check_broadcasting(signature)
    return list(declared or ())


def _require_results(signature: Signature, inferred: Sequence[TensorType]) -> None:
    shown = ", ".join(map(str, inferred))
    signature.require(same_types(signature.results or (), inferred), f"its results must be ({shown})")


def _check_elementwise(signature: Signature) -> None:
    name = signature.name
    count, dtypes = ELEMENTWISE.get(name, (1, FLOATS))
    given = len(signature.operands)
    signature.require(given == count, f"{name} takes {count} operands, not {given}")
    tensors = signature.tensors
    signature.require(all(t.dtype in dtypes for t in tensors), f"{name} has no meaning for these element types")
    _require_results(signature, [tensors[0].with_dtype(BOOL)] if name in TESTS else tensors[:1])
    signature.require(same_types(tensors, tensors[:1] * count), "its operands must be of one type")


def _check_top_k(signature: Signature) -> None:
    signature.require(len(signature.operands) == 1, f"top_k takes one operand, not {len(signature.operands)}")
    type, k = signature.tensor(0), signature.attributes.get("k")
    if not isinstance(k, int) or type.ndim == 0 or not (k >= 0 and at_most(k, type.shape[-1])):
        signature.require(False, "k must be an integer from 0 to the number of elements along the last dimension")
        return
    values = type.with_shape((*type.shape[:-1], k))
    _require_results(signature, [values, values.with_dtype(ELEMENT_TYPES["i32"])])


def _check_element_types(signature: Signature, name: str) -> None:
    """Operands are of one element type, and the result too, but for comparisons and complex numbers of two parts."""
    tensors, result = signature.tensors, signature.result_tensor().dtype
    choices = tensors[1:] if name == "select" else tensors
    signature.require(len(tensors) == 2 + (name == "select"), f"{signature.name} does not take {len(tensors)} operands")
    dtype = choices[0].dtype
    is_one = all(t.dtype == dtype for t in choices) and (name != "select" or tensors[0].dtype == BOOL)
    signature.require(is_one, "its operands must be of one element type")
    signature.require(dtype in BROADCAST_TYPES.get(name, {dtype}), f"{name} has no meaning for these element types")
    wanted = BOOL if name == "compare" else np.result_type(dtype, np.complex64) if name == "complex" else dtype
    signature.require(result == wanted, f"its result must be a tensor of {wanted.name}")
    if name == "compare":
        _require_enum(signature, "comparison_direction", DIRECTIONS)
        _require_enum(signature, "compare_type", ORDERS, is_optional=True)


def _require_enum(signature: Signature, name: str, legal: Sequence[str], is_optional: bool = False) -> None:
    value = signature.attributes.get(name)
    kind = "comparison_type" if name == "compare_type" else name
    spelled = {f"#{dialect}<{kind}{item}>" for item in legal for dialect in ("chlo", "mhlo")}
    fits = is_optional if value is None else "".join(str(value).split()) in spelled
    signature.require(fits, f"{name} must be #chlo<{kind} VALUE>, with one of {', '.join(legal)}")


def _joined(first: int, second: int) -> int:
    """Return the extent of two that are broadcast together, as far as it is known."""
    if first == 1 or (first == DYNAMIC and second != 1):
        return second
    return first if second in {1, first, DYNAMIC} else DYNAMIC


def _check_broadcasting(signature: Signature) -> None:
    """The result's extents are the operands' where none of these is 1; ``broadcast_dimensions`` place the lower one."""
    shapes = [t.shape for t in signature.tensors]
    result, axes = signature.result_tensor(), signature.attributes.get("broadcast_dimensions")
    rank = max(map(len, shapes), default=0)
    extents = [1] * rank
    for shape in shapes:
        is_placed = axes is not None and len(shape) < rank
        places = tuple(axes) if is_placed else tuple(range(rank - len(shape), rank))  # type: ignore[arg-type]
        fits = len(places) == len(shape) and all(0 <= k < rank for k in places)
        signature.require(fits, "broadcast_dimensions must say where each dimension of the lower operand goes")
        for place, extent in zip(places, shape, strict=True):
            extents[place] = _joined(extents[place], extent)
    fits = len(result.shape) == rank and same_shape(result.shape, extents)
    signature.require(fits, f"the result must have the shape {shown(extents)}")
