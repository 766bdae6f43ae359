"""Which quantized types may meet in an op: what the specification asks of them beyond what it asks of the floats.

The other constraints are checked on the floats that the integers stand for, by each op's own type rule. Per-axis types
are taken by more ops than the specification says; their dimensions must agree. Source: StableHLO specification, the
constraints of each op; `add`'s stand for those of all ops that compute element by element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Function, Op, TensorType, TupleType, Type
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import COMPLEX, FLOATS
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers, DotDimensionNumbers
from numhlo.lowering.ops.extents import same_shape

ELEMENT_TYPES_AGREE: Mapping[str, str] = {
    "broadcast_in_dim": "(C1)",
    "concatenate": "(C1), (C5)",
    "dynamic_broadcast_in_dim": "(C1)",
    "dynamic_gather": "(C1)",
    "dynamic_pad": "(C1)",
    "dynamic_reshape": "(C1)",
    "dynamic_slice": "(C1)",
    "dynamic_update_slice": "(C1), (C2)",
    "gather": "(C23)",
    "pad": "(C1)",
    "reshape": "(C1)",
    "reverse": "(C1)",
    "slice": "(C1)",
    "sort": "(C2)",
    "transpose": "(C1)",
}
"""Ops whose results are elements of the operands, and what says so."""

REDUCTIONS: Mapping[str, tuple[str, str, str]] = {
    "all_reduce": ("", "(C5)", "(C7)"),
    "reduce": ("(C2)", "(C6)", "(C8)"),
    "reduce_scatter": ("", "(C7)", "(C9)"),
    "reduce_window": ("(C3)", "(C13)", "(C16)"),
    "scatter": ("(C6)", "(C23)", "(C25)"),
    "select_and_scatter": ("(C1), (C3), (C9)", "(C10)", "(C12)"),
}
"""Ops that combine elements by a region: what says that operands agree, that they promote, and what results are."""

BASELINE: Mapping[str, str] = {"abs": "(C2)", "add": "(C2)", "select": "(C2)", "clamp": "(C3)", "dot_general": "(C14)"}
"""The constraint by which values are either all quantized or none, where that is not (C1)."""


CONVERSIONS = frozenset({"uniform_quantize", "uniform_dequantize"})
"""Ops whose operand is quantized, or whose result is, or both."""

PASSED_ON: Mapping[str, str] = {
    "call": "",
    "case": "(C4) ",
    "composite": "(C3), (C4) ",
    "get_tuple_element": "(C2) ",
    "if": "(C3) ",
    "optimization_barrier": "(C1) ",
    "tuple": "(C1) ",
    "while": "(C1)-(C3) ",
}
"""Ops that pass values on as they are, and what says so."""


def check_quantized(op: Op) -> None:
    """Require that quantized types fit together in an op.

    Parameters
    ----------
    op : Op
        Of any kind; nothing is asked of one without quantized operands and results.

    Raises
    ------
    VerificationError
        Naming the constraint.
    """
    operands, results = [v.type for v in op.operands], [v.type for v in op.results]
    name = op.definition.name
    if name in CONVERSIONS:
        _check_conversion(op, name, operands, results)
    if not results or not any(isinstance(type, QuantizedTensorType) for type in (*operands, *results)):
        return  # an op without the result that it should have is refused by its type rule
    if name == "dot_general":
        _check_product(op, operands, results[0], ("(C14)", "(C17)", "(C18)", "(C19)", "(C20)"))
        _check_dot(op, operands[1], op.attributes["dot_dimension_numbers"])
    elif name in {"convolution", "dynamic_conv"}:
        _check_product(op, operands[:2], results[0], ("(C28)", "(C31)", "(C32)", "(C33)", "(C34)"))
        _check_convolution(op, operands[1], results[0], op.attributes["dimension_numbers"])
    elif name in ELEMENT_TYPES_AGREE:
        _check_elements(op, ELEMENT_TYPES_AGREE[name], len(results))
    elif name in REDUCTIONS:
        _check_reduction(op, *REDUCTIONS[name])
    elif name in PASSED_ON:
        _check_passing(op, operands, results)
    elif not op.regions and op.definition.dialect == "stablehlo":
        _check_baseline(op, [*operands, *results])


def _require(op: Op, condition: bool, rule: str) -> None:
    if not condition:
        types = ", ".join(str(v.type) for v in op.operands)
        name = op.definition.name
        raise VerificationError(f"{name}({types}): {rule}", where=op.location, why=f"StableHLO specification, {name}")


def _meaning(type: QuantizedTensorType) -> tuple[Any, ...]:
    """Return what an element type says, but for the dimension."""
    return type.dtype, type.expressed, type.least, type.greatest, type.scales, type.zero_points


def _whole(type: Type) -> Any:
    return (type.shape, type.axis, *_meaning(type)) if isinstance(type, QuantizedTensorType) else type


def _quantized(types: Iterable[Type]) -> list[QuantizedTensorType]:
    return [type for type in types if isinstance(type, QuantizedTensorType)]


def _is_float(type: Type) -> bool:
    return isinstance(type, TensorType) and not isinstance(type, QuantizedTensorType) and type.dtype in FLOATS | COMPLEX


def _check_conversion(op: Op, name: str, operands: Sequence[Type], results: Sequence[Type]) -> None:
    """Check what quantizes or dequantizes: an op of one operand, which is not looked at any further here."""
    fits = len(operands) == len(results) == 1
    _require(op, fits, "it has one operand and one result")
    (operand,), (result,) = operands, results
    if isinstance(operand, TensorType) and isinstance(result, TensorType):
        _require(op, same_shape(operand.shape, result.shape), "(C1) the result must have the operand's shape")
    if name == "uniform_dequantize":
        _require(op, isinstance(operand, QuantizedTensorType), "(I1) the operand must be quantized")
        fits = _is_float(result) and result.dtype == operand.expressed  # type: ignore[union-attr]
        _require(op, fits, f"(C2) the result's elements must be of the operand's expressed type, not {result}")
        return
    _require(op, isinstance(result, QuantizedTensorType), f"the result must be quantized, not {result}")
    is_known = _is_float(operand) or isinstance(operand, QuantizedTensorType)
    _require(op, is_known, "(I1) the operand must be quantized or of floats")
    source = operand.expressed if isinstance(operand, QuantizedTensorType) else operand.dtype  # type: ignore[union-attr]
    fits = result.expressed == source  # type: ignore[union-attr]
    _require(op, fits, f"(C2) the result's expressed type must be {source.name}, as the operand's")


def _check_baseline(op: Op, types: Sequence[Type]) -> None:
    """Elementwise: all or none are quantized, of one storage and one expressed type, along one dimension."""
    name, found = op.definition.name, _quantized(types)
    if name in CONVERSIONS | {"bitcast_convert", "custom_call"}:
        return
    mixed = any(map(_is_float, types))
    _require(op, not mixed, f"{BASELINE.get(name, '(C1)')} operands and results must be quantized, all or none")
    storage = {(type.dtype, type.least, type.greatest) for type in found}
    rule = "(C3)" if name == "add" else BASELINE.get(name, "(C1)")
    _require(op, len(storage) == 1, f"{rule} quantized operands and results must have one storage type")
    rule = "(C4)" if name == "add" else rule
    _require(op, len({t.expressed for t in found}) == 1, f"{rule} they must have one expressed type")
    results = _quantized(v.type for v in op.results)
    axes = {t.axis for t in _quantized(v.type for v in op.operands)} - {None}
    for result in results if op.operands else ():
        rule = "(C5)" if name == "add" else "(C1)"
        same = (result.axis is not None) == bool(axes)
        _require(op, same, f"{rule} the result must be quantized along a dimension where an operand is")
        rule = "(C6), (C7)" if name == "add" else "(C1)"
        _require(op, axes <= {result.axis}, f"{rule} operands and result must be quantized along one dimension")


def _check_passing(op: Op, operands: Sequence[Type], results: Sequence[Type]) -> None:
    """Values keep their types on the way into functions and regions, and out."""
    pairs = [(operands, results)] if op.definition.name == "optimization_barrier" else []
    if op.definition.name == "tuple" and isinstance(results[0], TupleType):
        pairs = [(operands, results[0].elements)]
    elif op.definition.name == "get_tuple_element" and isinstance(operands[0], TupleType):
        number = op.attributes["index"]
        pairs = [(operands[0].elements[number : number + 1], results)]
    for function in (value for value in op.attributes.values() if isinstance(value, Function)):
        pairs += [(operands, function.argument_types), (function.result_types, results)]
    for region in op.regions:
        pairs += [(operands, [v.type for v in region.arguments])] if region.arguments else []
    for region in op.regions[1:] if op.definition.name == "while" else op.regions:
        pairs += [([v.type for v in region.returns], results)]
    for given, taken in pairs:
        same = list(map(_whole, given)) == list(map(_whole, taken))
        _require(op, same, f"{PASSED_ON[op.definition.name]}values must keep their quantized types")


def _check_elements(op: Op, rule: str, count: int) -> None:
    """Elements stay what they are: those that meet have one scale and zero point."""
    inner = [v.type for region in op.regions for v in (*region.arguments, *region.returns)]
    types = [v.type for v in (*op.operands, *op.results)]
    text = f"{rule} operands, results and what regions take and give must have one element type"
    if count == 1:
        found = _quantized([*types, *inner])
        plain = any(map(_is_float, [*types, *inner]))
        _require(op, not plain, f"{rule} operands and results must be quantized, all or none")
        if not _expands(op):
            _require(op, len(set(map(_meaning, found))) == 1, text)
        _check_axis(op)
    elif op.definition.name == "sort":
        for k in range(count):
            group = {str(_element(t)) for t in (*types[k::count], *inner[2 * k : 2 * k + 2])}
            _require(op, len(group) == 1, text)


def _check_reduction(op: Op, alike: str, promotion: str, result: str) -> None:
    """Operands have one element type, which promotes to that of the region; that is the result's."""
    count, body = len(op.results), op.regions[-1]
    starts = [op.operands[:count], op.operands[count + (op.definition.name == "scatter") :]]
    if op.definition.name == "select_and_scatter":
        starts = [[v] for v in (*op.operands, *op.regions[0].arguments)]
    for k in range(count):
        given = [values[k].type for values in starts if k < len(values)]
        same = len({str(_element(t)) for t in given}) == 1
        _require(op, same, f"{alike} what is combined must have one element type".lstrip())
        taken = [v.type for v in (*body.arguments[k::count], *body.returns[k::count])]
        fits = len({str(_element(t)) for t in taken}) == 1 and _promotes(given[0], taken[0])
        _require(op, fits, f"{promotion} elements must promote to the region's: of one scale, the storage as wide")
        same = str(_element(op.results[k].type)) == str(_element(taken[0]))
        _require(op, same, f"{result} results must have the region's element types")


def _promotes(narrow: Type, wide: Type) -> bool:
    """Return whether integers of one element type may be kept in another's storage: nothing else changes."""
    if not isinstance(narrow, QuantizedTensorType) or not isinstance(wide, QuantizedTensorType):
        return not isinstance(narrow, QuantizedTensorType) and not isinstance(wide, QuantizedTensorType)
    same = [(t.expressed, t.scales, t.zero_points, t.axis) for t in (narrow, wide)]
    return same[0] == same[1] and BIT_WIDTHS[narrow.dtype] <= BIT_WIDTHS[wide.dtype]


def _element(type: Type) -> Any:
    if isinstance(type, QuantizedTensorType):
        return _meaning(type)
    return type.dtype if isinstance(type, TensorType) else type


def _check_axis(op: Op) -> None:
    """The slices that have scales of their own stay slices, along the dimension that the operand's becomes."""
    operand, result = op.operands[0].type, op.results[0].type
    if not isinstance(operand, QuantizedTensorType) or not isinstance(result, QuantizedTensorType):
        return
    if operand.axis is None or result.axis is None:
        _require(op, operand.axis == result.axis, "(C1) both or none must be quantized along a dimension")
        return
    name = op.definition.name
    if name == "transpose":
        fits = _maps(op.attributes["permutation"], result.axis, operand.axis)
        _require(op, fits, "(C4) the result must be quantized along the dimension that the operand's becomes")
    elif name in {"broadcast_in_dim", "dynamic_broadcast_in_dim"}:
        fits = _maps(op.attributes["broadcast_dimensions"], operand.axis, result.axis)
        _require(op, fits, "(C6) the result must be quantized along the dimension that the operand's becomes")
    elif name in {"reshape", "dynamic_reshape"}:
        before = math.prod(operand.shape[: operand.axis]) == math.prod(result.shape[: result.axis])
        _require(op, before, "(C3) the slices that are quantized alike must stay together")


def _maps(dims: Sequence[int], before: int, after: int) -> bool:
    """Return whether one dimension becomes the other; a list that is too short is left to the op's type rule."""
    return before >= len(dims) or dims[before] == after


def _expands(op: Op) -> bool:
    """Return whether a broadcast makes many slices of an operand's one, all with its scale and zero point."""
    operand, result = op.operands[0].type, op.results[0].type
    if op.definition.name not in {"broadcast_in_dim", "dynamic_broadcast_in_dim"}:
        return False
    if not isinstance(operand, QuantizedTensorType) or not isinstance(result, QuantizedTensorType):
        return False
    if None in (operand.axis, result.axis) or len(operand.scales) != 1 or operand.dtype != result.dtype:
        return False
    same = {*result.scales} == {*operand.scales} and {*result.zero_points} == {*operand.zero_points}
    _require(op, same, "(C6) every slice of the result must have the scale and zero point of the operand's one slice")
    return operand.expressed == result.expressed


def _check_product(op: Op, operands: Sequence[Type], result: Type, rules: Sequence[str]) -> None:
    """Check what dot_general and convolution ask alike, by the names that each has for it."""
    together, storage, expressed, whole, hybrid = rules
    lhs, rhs = operands
    fits = isinstance(lhs, QuantizedTensorType) == isinstance(result, QuantizedTensorType)
    rule = f"{together} rhs must be quantized, and lhs and the result both or neither"
    _require(op, fits and isinstance(rhs, QuantizedTensorType), rule)
    assert isinstance(rhs, QuantizedTensorType)
    if isinstance(lhs, QuantizedTensorType) and isinstance(result, QuantizedTensorType):
        _require(op, lhs.dtype == rhs.dtype, f"{storage} the operands must have one storage type")
        alike = lhs.expressed == rhs.expressed == result.expressed
        _require(op, alike, f"{expressed} operands and result must have one expressed type")
        is_whole = rhs.axis is not None or result.axis is None
        _require(op, is_whole, f"{whole} the result must be quantized as a whole, since rhs is")
        return
    alike = all(isinstance(type, TensorType) and type.dtype == rhs.expressed for type in (lhs, result))
    _require(op, alike, f"{hybrid} lhs and the result must be of rhs's expressed type, {rhs.expressed.name}")


def _check_dot(op: Op, rhs: Type, numbers: DotDimensionNumbers) -> None:
    assert isinstance(rhs, QuantizedTensorType)
    _require(op, not any(rhs.zero_points), "(C15) the zero points of rhs must be 0")
    fits = rhs.axis not in numbers.rhs_contracting_dimensions
    _require(op, fits, "(C16) rhs must not be quantized along a dimension that is contracted")


def _check_convolution(op: Op, rhs: Type, result: Type, numbers: ConvolutionDimensionNumbers) -> None:
    assert isinstance(rhs, QuantizedTensorType)
    fits = rhs.axis in {None, numbers.kernel_output_feature_dimension}
    _require(op, fits, "(C29) rhs must be quantized along kernel_output_feature_dimension")
    if isinstance(result, QuantizedTensorType):
        fits = result.axis in {None, numbers.output_feature_dimension}
        _require(op, fits, "(C30) the result must be quantized along output_feature_dimension")
