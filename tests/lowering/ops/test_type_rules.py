"""Shapes that refine each other, and the fast path of the commonest type rule."""

import pytest

from numhlo.lowering.ir import Region, TokenType
from numhlo.lowering.ir.types import FLOATS
from numhlo.lowering.ops.elementwise import ABS, ADD
from numhlo.lowering.ops.primitive import Signature, make_op
from numhlo.lowering.ops.type_rules import ANY_DTYPE, INEXACT, NUMERIC, merge_shapes, same_type_rule
from tests.lowering.ops.evaluation import infer, rejection, tensor


@pytest.mark.parametrize(
    ("shapes", "merged"),
    [
        ([(2, 3), (2, 3)], (2, 3)),
        ([(-1, 3), (2, -1), (-1, -1)], (2, 3)),
        ([(-1,), (-1,)], (-1,)),
        ([(2,), (3,)], None),
        ([(-1,), (2,), (3,)], None),
        ([(2,), (2, 1)], None),
        ([(), ()], ()),
    ],
)
def test_merge_shapes(shapes, merged):
    assert merge_shapes(shapes) == merged


def test_kinds_of_element_types():
    assert len(ANY_DTYPE) == 30
    assert len(NUMERIC) == 29
    assert INEXACT > FLOATS


def test_operands_must_be_tensors():
    assert "operand 0 must be a tensor" in rejection(ABS, TokenType())
    assert "operand 1 must be a tensor" in rejection(ADD, tensor("f32"), TokenType())
    assert "result 0 must be a tensor" in rejection(ABS, tensor("f32"), result=TokenType())


def test_declared_results_are_returned_where_they_know_more():
    assert infer(ABS, tensor("?xf32"), result=tensor("3xf32")) == tensor("3xf32")
    assert infer(ABS, tensor("3xf32"), result=tensor("?xf32")) == tensor("?xf32")


def test_equal_types_are_returned_as_they_are():
    rule = same_type_rule(2, FLOATS, "floats")
    kind, equal = tensor("2x3xf32"), tensor("2x3xf32")
    assert rule(Signature("add", [kind, equal], {}, (), None))[0] is kind
    assert make_op(ADD, Region([kind, equal]).arguments).result.type is kind
