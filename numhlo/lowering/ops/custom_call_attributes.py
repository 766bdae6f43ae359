"""What a custom call says of memory: the layouts of its operands and results, and which of them share a buffer.

They are kept as text and change no value: NumPy's arrays are dense. Here is only whether they can be what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Function, TensorType, TupleType, Type
from numhlo.lowering.ops.primitive import Signature

_LAYOUT = re.compile(r"dense<(?:\[([\d, ]*)\]|(\d*))>\s*:\s*tensor<(\d+)xindex>\Z")
_PATH = r"=\[([\d,]*)\]"
_ALIAS = re.compile(
    rf"#(?:stablehlo|mhlo)\.output_operand_alias<output_tuple_indices{_PATH},operand_index=(-?\d+),"
    rf"operand_tuple_indices{_PATH}>\Z"
)


def check_custom_call(signature: Signature) -> None:
    """Check layouts, aliases and computations that are called."""
    operands, results = list(signature.operands), list(signature.results or ())
    called = signature.attributes["called_computations"]
    are_functions = isinstance(called, tuple) and all(map(_is_symbol, called))
    signature.require(are_functions, "called_computations must be a list of functions")
    layouts = [signature.attributes[f"{name}_layouts"] for name in ("operand", "result")]
    if layouts != [None, None]:
        signature.require(None not in layouts, "operand_layouts and result_layouts must be given both, or neither")
        is_tuple = len(results) == 1 and isinstance(results[0], TupleType)
        parts = list(results[0].elements) if is_tuple else results  # type: ignore[union-attr]
        _check_layouts(signature, "operand", operands, layouts[0])
        _check_layouts(signature, "result", parts, layouts[1])
    _check_aliases(signature, operands, results)


def _is_symbol(value: Any) -> bool:
    return isinstance(value, Function) or str(value).startswith("@")


def _check_layouts(signature: Signature, what: str, types: Sequence[Type], layouts: Any) -> None:
    """A layout is a permutation of a tensor's dimensions; what is no tensor has an empty one."""
    found = [_LAYOUT.match(str(layout)) for layout in layouts] if isinstance(layouts, tuple) else [None]
    signature.require(None not in found, f"{what}_layouts must be a list of vectors of indices")
    signature.require(len(found) == len(types), f"{what}_layouts must be as many as the {what}s")
    for number, (match, type) in enumerate(zip(found, types, strict=True)):
        signature.require(not isinstance(type, TupleType), f"{what} {number} is a tuple, which has no layout")
        axes = [] if match is None else _axes(match)
        rank = type.ndim if isinstance(type, TensorType) else 0
        rule = f"the layout of {what} {number} must be a permutation of {list(range(rank))}, not {axes}"
        signature.require(sorted(axes) == list(range(rank)), rule)


def _axes(match: re.Match[str]) -> list[int]:
    listed, single, count = match.groups()
    if listed is not None and len(listed.split(",")) != int(count):
        return [-1]
    if listed is None:
        return [int(single)] * int(count) if single else []
    return [int(axis) for axis in listed.split(",") if axis.strip()]


def _check_aliases(signature: Signature, operands: Sequence[Type], results: Sequence[Type]) -> None:
    """Each alias names a part of an operand and a part of the results, which have one type."""
    aliases = signature.attributes["output_operand_aliases"]
    found = [_ALIAS.match("".join(str(alias).split())) for alias in aliases] if isinstance(aliases, tuple) else [None]
    whole: Type | None = results[0] if len(results) == 1 else TupleType(tuple(results))
    for match in found:
        if match is None:
            signature.require(False, "output_operand_aliases must be a list of #stablehlo.output_operand_alias")
            return
        number = int(match[2])
        in_range = 0 <= number < len(operands)
        signature.require(in_range, f"output_operand_aliases name operand {number}, which is not there")
        ends = [_part(whole, match[1]), _part(operands[number], match[3])]
        signature.require(None not in ends, "tuple indices of output_operand_aliases must name parts that are there")
        rule = "what output_operand_aliases name must be of one type"
        signature.require(ends[0] == ends[1], rule)


def aliases_of(attributes: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return which result has the memory of which operand, by number, of a custom call whose operands are tensors.

    Examples
    --------
    >>> aliases_of({"output_operand_aliases": (alias_text(0, 1, 1),)})
    [(0, 1)]
    """
    texts = ["".join(str(alias).split()) for alias in attributes.get("output_operand_aliases") or ()]
    found = [match for match in map(_ALIAS.match, texts) if match is not None]
    return [(int(match[1] or 0), int(match[2])) for match in found]


def alias_text(result: int, results: int, operand: int) -> str:
    """Return the attribute that gives a result, of so many, an operand's memory.

    Examples
    --------
    >>> alias_text(1, 2, 0)
    '#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>'
    """
    shown = f"output_tuple_indices = {[result] if results > 1 else []}, operand_index = {operand}"
    return f"#stablehlo.output_operand_alias<{shown}, operand_tuple_indices = []>"


def _part(type: Type | None, path: str) -> Type | None:
    for index in filter(None, path.split(",")):
        if not isinstance(type, TupleType) or int(index) >= len(type.elements):
            return None
        type = type.elements[int(index)]
    return type
