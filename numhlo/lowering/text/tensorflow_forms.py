"""What TensorFlow leaves beside StableHLO when it lowers a saved model: variables, and reshapes to computed shapes.

Variables are read-only globals of the dialect ml_program, which become constants where they are loaded; `mhlo.copy` is
the same value. `tf.Reshape` is the one op of the dialect tf that is left of nearly every model for batches of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from numhlo.lowering.ir import TensorType, Type, Value
from numhlo.lowering.ops import comparison, dynamic_shapes, elementwise, layout
from numhlo.lowering.text.form_tables import TRANSLATIONS
from numhlo.lowering.text.shape_forms import read_same, translate
from numhlo.lowering.text.shape_meanings import INT64, Writer, same, shape_of, size

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser


def reshape(
    w: Writer, operands: Sequence[Value], attributes: Mapping[str, Any], results: Sequence[Type]
) -> list[Value]:
    """Reshape; one extent may be -1, and is what the others leave."""
    x, wanted = operands[0], w.convert(operands[1], INT64)
    count = w.rank(wanted)
    if count:
        is_open = w.op(comparison.COMPARE, wanted, w.vector(*[-1] * count), comparison_direction="EQ")
        (given,) = size(w, [w.op(comparison.SELECT, is_open, w.vector(*[1] * count), wanted)])
        (total,) = size(w, shape_of(w, [x]))
        one = w.reshape(w.vector(1))
        rest = w.op(elementwise.DIVIDE, total, w.op(elementwise.MAXIMUM, given, one))
        row = w.op(layout.BROADCAST_IN_DIM, rest, result=TensorType((count,), INT64), broadcast_dimensions=())
        wanted = w.op(comparison.SELECT, is_open, row, wanted)
    return w.ops(dynamic_shapes.DYNAMIC_RESHAPE, x, wanted, results=results)


def _read_variable(parser: Parser) -> list[Value]:
    """Read ``ml_program.global_load @name : type`` as a constant."""
    parser.advance()
    index = parser.index
    value = parser.find_global(parser.parse_symbol(), index)
    parser.expect(":")
    type = parser.parse_type()
    found = Writer(parser, index).constant(value)
    if found.type != type:
        raise parser.complaint(f"the variable is of type {found.type}, not {type}", index)
    return [found]


def _refuse_store(parser: Parser) -> NoReturn:
    raise parser.complaint("a program that changes its variables can't be read: make them arguments and results")


TRANSLATIONS['"tf.Reshape"'] = partial(translate, form=None, meaning=reshape)
TRANSLATIONS["mhlo.copy"] = partial(translate, form=read_same, meaning=same)
TRANSLATIONS['"mhlo.copy"'] = partial(translate, form=None, meaning=same)
TRANSLATIONS["ml_program.global_load"] = TRANSLATIONS["ml_program.global_load_const"] = _read_variable
TRANSLATIONS["ml_program.global_store"] = _refuse_store
