"""map, broadcast, torch_index_select, einsum and batch normalization: constraints, and values of the records."""

import numpy as np
import pytest

from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import comparison, control_flow, deprecated, elementwise, normalization
from tests.lowering.ops.evaluation import evaluate, rejection, tensor
from tests.lowering.ops.one_op import infer, run, scalar

ADD = ([scalar(np.float64)] * 2, lambda b, x, y: [b.op(elementwise.ADD, x, y)])


def rejected(types, regions, **attributes):
    with pytest.raises(VerificationError) as caught:
        infer(deprecated.MAP, types, regions, **attributes)
    return str(caught.value)


def test_map_constraints():
    x = tensor("2x3xf64")
    assert "(C1)" in rejected([x, tensor("3x2xf64")], [ADD], dimensions=(0, 1))
    assert "(C2)" in rejected([], [ADD], dimensions=())
    assert "(C3)" in rejected([x, x], [ADD], dimensions=(1, 0))
    assert "(C4)" in rejected([x], [ADD], dimensions=(0, 1))
    assert "(C4)" in rejected([x, tensor("2x3xf32")], [ADD], dimensions=(0, 1))


@pytest.mark.specifies("map")
def test_map_of_arrays_and_of_elements():
    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    (found,) = run(deprecated.MAP, x, y, regions=[ADD], dimensions=(0, 1))
    assert found.tolist() == (x + y).tolist()

    def body(b, u, v):
        larger = b.op(comparison.COMPARE, u, v, comparison_direction="GT")
        bodies = [b.region([], lambda: [larger]), b.region([], lambda: [larger])]
        return b.ops(control_flow.IF, larger, regions=bodies, results=[scalar(np.bool_)])

    (found,) = run(deprecated.MAP, x, y, regions=[([scalar(np.float64)] * 2, body)], dimensions=(0, 1))
    assert found.tolist() == (x > y).tolist()


@pytest.mark.parametrize("config", ["ab,bc->ac", "ab,bc->ca", "ab,cb->", "ab,cd->dacb", "ab,bb->a", "ab,bc->b"])
def test_einsum(config):
    x, y = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)
    found = evaluate(deprecated.EINSUM, x, y, einsum_config=config)
    np.testing.assert_allclose(found, np.einsum(config, x, y))


def test_einsum_of_what_does_not_fit():
    x = tensor("2x3xf32")
    for config in ("ab,bc", "abc,ab->a", "ab,ab->c", "ab,ab->aa", "a.,ab->a"):
        assert "must have a letter for each dimension" in rejection(deprecated.EINSUM, x, x, einsum_config=config)
    assert "the label b must have the same extent" in rejection(deprecated.EINSUM, x, x, einsum_config="ab,bc->ac")
    assert evaluate(deprecated.UNARY_EINSUM, np.zeros((2, 0)), einsum_config="ab->a").tolist() == [0, 0]


def test_torch_index_select():
    x = np.arange(24).reshape(2, 3, 4)
    found = evaluate(deprecated.TORCH_INDEX_SELECT, x, np.array([2, 0, 9, -1]), dim=1, batch_dims=0)
    assert found.tolist() == x[:, [2, 0, 2, 0]].tolist()
    index = np.array([[3, 1], [0, 0]])
    found = evaluate(deprecated.TORCH_INDEX_SELECT, x, index, dim=2, batch_dims=1)
    assert found.tolist() == [x[k][:, index[k]].tolist() for k in (0, 1)]
    type, places = tensor("2x3x4xf32"), tensor("2x2xi32")
    for changed, message in (({"dim": 3}, "dim 3"), ({"batch_dims": 2}, "batch_dims 2"), ({"dim": -1}, "dim -1")):
        options = {"dim": 1, "batch_dims": 0, **changed}
        assert message in rejection(deprecated.TORCH_INDEX_SELECT, type, places, **options)
    assert "same extents" in rejection(deprecated.TORCH_INDEX_SELECT, type, tensor("3x2xi32"), dim=1, batch_dims=1)


def test_broadcast():
    assert evaluate(deprecated.BROADCAST, np.array([1, 2]), broadcast_sizes=(2, 1)).tolist() == [[[1, 2]], [[1, 2]]]


NORMAL = {"epsilon": 0.0, "feature_index": 2}
OPERAND = np.array([[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]])
ONES, MEAN = np.ones(2), np.array([2.0, 3.0])


@pytest.mark.specifies("batch_norm_grad batch_norm_inference batch_norm_training, normalization")
def test_batch_norm_of_the_specification():
    normal = [[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]
    found = evaluate(normalization.BATCH_NORM_INFERENCE, OPERAND, ONES, ONES, MEAN, ONES, **NORMAL)
    assert found.tolist() == normal
    output, mean, variance = run(normalization.BATCH_NORM_TRAINING, OPERAND, ONES, ONES, **NORMAL)
    assert (output.tolist(), mean.tolist(), variance.tolist()) == (normal, [2.0, 3.0], [1.0, 1.0])
    grads = run(normalization.BATCH_NORM_GRAD, OPERAND, ONES, MEAN, ONES, np.full((2, 2, 2), 0.1), **NORMAL)
    for found, expected in zip(grads, (np.zeros((2, 2, 2)), np.zeros(2), np.full(2, 0.4)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize(
    ("definition", "vectors", "rules"),
    [
        (normalization.BATCH_NORM_INFERENCE, 4, ("C3", "C4", "C5", "C6")),
        (normalization.BATCH_NORM_TRAINING, 2, ("C3", "C4")),
        (normalization.BATCH_NORM_GRAD, 3, ("C5", "C4", "C4")),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_batch_norm_constraints(definition, vectors, rules):
    x, vector = tensor("4x3x2xf32"), tensor("3xf32")
    tail = [x] if definition is normalization.BATCH_NORM_GRAD else []
    options = {"epsilon": 0.1, "feature_index": 1}
    types = [x, *[vector] * vectors, *tail]
    assert "(C1)" in rejection(definition, *types, **{**options, "feature_index": 3})
    assert "(C2)" in rejection(definition, x, tensor("3xf64"), *types[2:], **options)
    assert "(I1)" in rejection(definition, tensor("4x3x2xi32"), *types[1:], **options)
    for number, rule in enumerate(rules, 1):
        wrong = [*types[:number], tensor("2xf32"), *types[number + 1 :]]
        assert f"({rule})" in rejection(definition, *wrong, **options)
    if tail:
        assert "(C3)" in rejection(definition, *types[:-1], tensor("4x3x1xf32"), **options)
