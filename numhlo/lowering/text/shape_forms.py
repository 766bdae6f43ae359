"""How ops of the dialects arith, tensor and shape are spelled; `shape_meanings` says what they mean.

They are read into ops of StableHLO at once, so that nothing else needs to know of them. What is not in `OPS` is
refused by name. A region of ``shape.assuming`` becomes part of what is around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.lowering.ir import IndexTensorType, Type, Value
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ops import elementwise
from numhlo.lowering.text import shape_meanings as meanings
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.lowering.text.form_tables import TRANSLATIONS
from numhlo.lowering.text.shape_meanings import WITNESS, Meaning, Writer, arithmetic, held_as, stands_for

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser

Read = tuple[list[Value], Mapping[str, Any], list[Type]]
"""Operands, attributes, declared types of the results."""

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Of ``arith.cmpi``, by the numbers that the generic form has for them."""


def _types(parser: Parser) -> list[Type]:
    types = [parser.parse_type()]
    while parser.accept(","):
        types.append(parser.parse_type())
    return types


def _check(parser: Parser, values: Sequence[Value], types: Sequence[Type], index: int) -> None:
    if len(values) != len(types):
        raise parser.complaint(f"{len(types)} types for {len(values)} operands", index)
    for number, (value, type) in enumerate(zip(values, types, strict=True)):
        if value.type != type and not stands_for(value, type):
            raise parser.complaint(f"operand {number} is of type {value.type}, not {type}", index)


def read_same(parser: Parser) -> Read:
    """Read ``%x, %y overflow<...> : type``, which is the type of all; ``select`` has that of its predicate, too."""
    operands = parser.parse_operands()
    if parser.token in {"overflow", "fastmath"}:
        parser.advance()
        parser.skip_balanced()
    attributes = parser.parse_dictionary() if parser.at("{") else {}
    parser.expect(":")
    index, types = parser.index, _types(parser)
    rest = operands[-2:] if len(operands) == 3 else operands
    _check(parser, rest, [types[-1]] * len(rest), index)
    return operands, attributes, [types[-1]]


def _read_compare(parser: Parser) -> Read:
    predicate = parser.parse_one_of(*PREDICATES)
    parser.expect(",")
    operands, attributes, types = read_same(parser)
    return operands, {**attributes, "predicate": predicate}, types


def _read_cast(parser: Parser) -> Read:
    """Read ``%x : type to type``."""
    operands = parser.parse_operands()
    attributes = parser.parse_dictionary() if parser.at("{") else {}
    parser.expect(":")
    index = parser.index
    _check(parser, operands, [parser.parse_type()], index)
    parser.expect("to")
    return operands, attributes, [parser.parse_type()]


def _read_arrow(parser: Parser) -> Read:
    """Read ``%x, %y : types -> type``, or a part of that."""
    operands = parser.parse_operands()
    if parser.accept(","):
        parser.parse_string()  # the message of cstr_require
    attributes = parser.parse_dictionary() if parser.at("{") else {}
    if not parser.accept(":"):
        return operands, attributes, []
    index = parser.index
    _check(parser, operands, _types(parser), index)
    return operands, attributes, _types(parser) if parser.accept("->") else []


def _read_of_first(parser: Parser) -> Read:
    """Read ``%x, %i : type of x``, or ``%x[%i, %j] : type of x``."""
    operands = [parser.parse_operand()]
    if parser.accept("["):
        operands += parser.parse_operands()
        parser.expect("]")
    elif parser.accept(","):
        operands.append(parser.parse_operand())
    attributes = parser.parse_dictionary() if parser.at("{") else {}
    parser.expect(":")
    index = parser.index
    _check(parser, operands[:1], [parser.parse_type()], index)
    return operands, attributes, []


def _read_result(parser: Parser) -> Read:
    """Read ``%x, %y : type of the result``."""
    operands = parser.parse_operands()
    parser.expect(":")
    return operands, {}, [parser.parse_type()]


def _read_constant(parser: Parser) -> Read:
    """Read ``1 : index``, ``true`` or ``dense<...> : type``."""
    attributes = parser.parse_dictionary() if parser.at("{") else {}
    return [], {**attributes, "value": _value(parser, parser.index, parser.parse_attribute())}, []


def _value(parser: Parser, index: int, value: Any) -> Any:
    """Return a constant's value as an array; ``index`` is where it stands."""
    if isinstance(value, bool | int | float | np.generic | np.ndarray):
        return np.asarray(value)
    if not isinstance(value, ForeignAttribute):
        raise parser.complaint("a constant is a number, or dense<...>", index)
    text, _, spelled = str(value).rpartition(":")
    type = meanings.held_type(spelled.strip())
    if type is None:
        raise parser.complaint(f"a constant of {spelled.strip()} can't be read", index)
    return parser.parse_elements(text.strip().removeprefix("dense<").removesuffix(">"), type, index)


def _read_shape(parser: Parser) -> Read:
    """Read ``[2, 3] : type``."""
    shape = parser.parse_attribute()
    parser.expect(":")
    return [], {"shape": shape}, [parser.parse_type()]


def _read_word(parser: Parser) -> Read:
    parser.parse_attribute()
    return [], {}, []


def _read_generic(parser: Parser, index: int) -> Read:
    operands = parser.parse_call_operands()
    attributes: dict[str, Any] = {}
    if parser.accept("<"):
        attributes = parser.parse_dictionary()
        parser.expect(">")
    attributes |= parser.parse_dictionary() if parser.at("{") else {}
    parser.expect(":")
    first = parser.index
    signature = parser.parse_function_type()
    _check(parser, operands, signature.arguments, first)
    return operands, attributes, list(signature.results)


def translate(parser: Parser, form: Callable[[Parser], Read] | None, meaning: Meaning) -> list[Value]:
    """Read an op behind its name, generic where there is no form, and return the values that it makes."""
    index = parser.index
    parser.advance()
    operands, attributes, types = _read_generic(parser, index) if form is None else form(parser)
    return apply_meaning(parser, index, parser.tokens[index].strip('"'), meaning, (operands, attributes, types))


def apply_meaning(parser: Parser, index: int, name: str, meaning: Meaning, read: Read) -> list[Value]:
    """Append the ops that one of these dialects stands for, and return the values that they make.

    Parameters
    ----------
    parser : Parser
        Or what else has its ``ops``, ``standing``, ``location``, ``complaint`` and ``parse_elements``.
    index : int
        Where the op stands.
    name : str
        The op's, with its dialect.
    meaning : callable
    read : tuple
        Its operands, its attributes as the generic form has them or its own, and the types of its results.
    """
    operands, attributes, types = read
    attributes = dict(attributes)
    if "value" in attributes:
        attributes["value"] = _value(parser, index, attributes["value"])
    if isinstance(attributes.get("shape"), ForeignAttribute):  # of index, in the generic form
        attributes["shape"] = tuple(_value(parser, index, attributes["shape"]).ravel().tolist())
    number = attributes.get("predicate")
    if isinstance(number, int):
        if not 0 <= number < len(PREDICATES):
            raise parser.complaint(f"predicate {number} is none of arith.cmpi's, which are 0 to 9", index)
        attributes["predicate"] = PREDICATES[number]
    if any(isinstance(x.type, IndexTensorType) for x in operands):
        raise parser.complaint("an argument of a function can't be of index here: give it as i64", index)
    try:
        values = list(meaning(Writer(parser, index), operands, attributes, [held_as(type) for type in types]))
    except NumhloError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # what meanings take for granted
        raise parser.complaint(f"the operands, attributes or types are not those of {name}", index) from error
    parser.standing.update(values)
    return values


def _assume(parser: Parser, is_generic: bool) -> list[Value]:
    """Read ``shape.assuming %witness -> (types) { ops }`` as the ops."""
    index = parser.index
    parser.advance()
    operands = parser.parse_call_operands() if is_generic else [parser.parse_operand()]
    if [x.type for x in operands] != [WITNESS]:
        given = ", ".join(str(x.type) for x in operands) or "nothing"
        raise parser.complaint(f"shape.assuming takes a witness, not {given}", index)
    types: list[Type] = []
    if is_generic:
        parser.expect("(")
    elif parser.accept("->"):
        types = parser.parse_types()
    values = parser.parse_inlined("shape.assuming_yield")
    if is_generic:
        parser.expect(")", ":")
        types = list(parser.parse_function_type().results)
    if len(types) != len(values):
        raise parser.complaint(f"shape.assuming yields {len(values)} values, and declares {len(types)}", index)
    _check(parser, values, types, index)
    return cast_all(parser, index, values, types)


def cast_all(parser: Parser, index: int, values: Sequence[Value], types: Sequence[Type]) -> list[Value]:
    """Return values as what ``shape.assuming`` declares them to be."""
    writer = Writer(parser, index)
    found = [meanings.cast(writer, [v], {}, [held_as(t)])[0] for v, t in zip(values, types, strict=True)]
    parser.standing.update(v for v in found if v in parser.standing)
    return found


_INTEGER = {
    "addi": elementwise.ADD, "subi": elementwise.SUBTRACT, "muli": elementwise.MULTIPLY, "divsi": elementwise.DIVIDE,
    "remsi": elementwise.REMAINDER, "maxsi": elementwise.MAXIMUM, "minsi": elementwise.MINIMUM, "andi": elementwise.AND,
    "ori": elementwise.OR, "xori": elementwise.XOR, "addf": elementwise.ADD, "subf": elementwise.SUBTRACT,
    "mulf": elementwise.MULTIPLY, "divf": elementwise.DIVIDE, "maximumf": elementwise.MAXIMUM,
    "minimumf": elementwise.MINIMUM, "negf": elementwise.NEGATE,
}  # fmt: skip
_UNSIGNED = {
    "divui": elementwise.DIVIDE, "remui": elementwise.REMAINDER, "maxui": elementwise.MAXIMUM,
    "minui": elementwise.MINIMUM,
}  # fmt: skip
_CASTS = ("index_cast", "extsi", "trunci", "sitofp", "fptosi", "extf", "truncf")

OPS: dict[str, tuple[Callable[[Parser], Read], Meaning]] = {
    **{f"arith.{name}": (read_same, arithmetic(op)) for name, op in _INTEGER.items()},
    **{f"arith.{name}": (read_same, arithmetic(op, unsigned=True)) for name, op in _UNSIGNED.items()},
    **{f"arith.{name}": (_read_cast, meanings.cast) for name in _CASTS},
    "arith.constant": (_read_constant, meanings.constant),
    "arith.cmpi": (_read_compare, meanings.compare),
    "arith.select": (read_same, meanings.select),
    "tensor.cast": (_read_cast, meanings.cast),
    "tensor.dim": (_read_of_first, meanings.extent),
    "tensor.extract": (_read_of_first, meanings.element),
    "tensor.from_elements": (_read_result, meanings.from_elements),
    "tensor.rank": (_read_of_first, meanings.rank),
    "shape.assuming_all": (_read_arrow, meanings.fits),
    "shape.broadcast": (_read_arrow, meanings.broadcast),
    "shape.concat": (_read_arrow, meanings.concatenate),
    "shape.const_shape": (_read_shape, meanings.known_shape),
    "shape.const_witness": (_read_word, meanings.fits),
    "shape.cstr_broadcastable": (_read_arrow, meanings.fits),
    "shape.cstr_eq": (_read_arrow, meanings.fits),
    "shape.dim": (_read_arrow, meanings.extent),
    "shape.from_extent_tensor": (_read_arrow, meanings.same),
    "shape.from_extents": (_read_arrow, meanings.from_elements),
    "shape.get_extent": (_read_arrow, meanings.one_extent),
    "shape.index_to_size": (_read_arrow, meanings.same),
    "shape.num_elements": (_read_arrow, meanings.size),
    "shape.rank": (_read_arrow, meanings.count_extents),
    "shape.shape_of": (_read_arrow, meanings.shape_of),
    "shape.size_to_index": (_read_arrow, meanings.same),
    "shape.split_at": (_read_arrow, meanings.split),
    "shape.to_extent_tensor": (_read_arrow, meanings.same),
    "shape.value_as_shape": (_read_arrow, meanings.same),
}  # fmt: skip
"""Each op: how it is read behind its name, and what it means."""

for _name, (_form, _meaning) in OPS.items():
    TRANSLATIONS[_name] = partial(translate, form=_form, meaning=_meaning)
    TRANSLATIONS[f'"{_name}"'] = partial(translate, form=None, meaning=_meaning)
TRANSLATIONS["shape.assuming"] = partial(_assume, is_generic=False)
TRANSLATIONS['"shape.assuming"'] = partial(_assume, is_generic=True)
