"""Pretty form of ``convolution``: dimension numbers as letters, and a window of which the defaults are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops.convolution import CONVOLUTION
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import spell_value

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""Attribute by its keyword in the window, in the order of text."""

_PREFIX = "#stablehlo.conv<"


@PRINT.register(CONVOLUTION)
def print_convolution(printer: Printer, op: Op) -> None:
    """Write ``convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} {...}``."""
    attributes = op.attributes
    entries = [
        f"{keyword} = {_spell(attributes[name])}" for keyword, name in WINDOW.items() if attributes[name] is not None
    ]
    numbers = str(attributes["dimension_numbers"]).removeprefix(_PREFIX).removesuffix(">")
    rest = printer.dictionary(op, ("dimension_numbers", *WINDOW.values()))
    printer.write(
        f"stablehlo.convolution({printer.list_names(op.operands)}) dim_numbers = {numbers}, "
        f"window = {{{', '.join(entries)}}}{rest} : {printer.function_type(op)}"
    )


def _spell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return spell_value("array<i64>", [str(item).lower() for item in value])


@PARSE.register(CONVOLUTION)
def parse_convolution(parser: Parser, definition: Primitive) -> Op:
    """Read what `print_convolution` writes; letters and digits may stand in any order."""
    operands = parser.parse_call_operands()
    parser.expect("dim_numbers", "=")
    numbers = parser.parse_convolution_letters()
    parser.expect(",", "window", "=")
    attributes = {"dimension_numbers": numbers, **_parse_window(parser), **parser.parse_attributes(definition)}
    return parser.make(definition, operands, attributes, parser.parse_signature(operands))


def _parse_window(parser: Parser) -> dict[str, Any]:
    parser.expect("{")
    window: dict[str, Any] = {}
    while not parser.accept("}"):
        if window:
            parser.expect(",")
        keyword = parser.parse_one_of(*WINDOW)
        if WINDOW[keyword] in window:
            raise parser.complaint(f"{keyword} is given twice")
        parser.expect("=")
        window[WINDOW[keyword]] = _parse_window_entry(parser, keyword)
    return window


def _parse_window_entry(parser: Parser, keyword: str) -> Any:
    if keyword == "reverse":
        words = parser.parse_list(lambda: parser.parse_one_of("true", "false", "1", "0"))
        return tuple(word in {"true", "1"} for word in words)
    if keyword != "pad":
        return parser.parse_integers()
    first = parser.index
    pairs = parser.parse_list(parser.parse_integers)
    if any(len(pair) != 2 for pair in pairs):
        raise parser.complaint("padding is a list of pairs", first)
    return np.array(pairs, np.int64).reshape(len(pairs), 2)
