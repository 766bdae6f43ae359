"""How the tests of ops with regions make a function of one op and run it on the interpreter."""

import numpy as np

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType, tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, comparison


def scalar(dtype):
    return TensorType((), np.dtype(dtype))


def combining(*dtypes):
    """Types of a body that combines two elements of each dtype: elements, then accumulators."""
    return [scalar(d) for d in dtypes] * 2


def one_op_function(definition, arguments, regions=(), results=None, **attributes):
    """Return a function of one op; a region is a pair (argument types, function of the builder and the arguments)."""
    b = FunctionBuilder("one", [a if isinstance(a, TensorType) else tensor_type_of(a) for a in arguments])
    made = [b.region(types, lambda *v, write=write: write(b, *v)) for types, write in regions]
    return b.finish(b.ops(definition, *b.arguments, regions=made, results=results, **attributes))


def run(definition, *arrays, **options):
    """Return the results of one op on arrays."""
    arrays = [np.asarray(a) for a in arrays]
    function = one_op_function(definition, arrays, **options)
    results = interpret(function, arrays)
    for array, type in zip(results, function.result_types, strict=True):
        assert type == tensor_type_of(array), (type, array.dtype, array.shape)
    return results


def infer(definition, types, regions=(), results=None, **attributes):
    """Return the result types of one op."""
    function = one_op_function(definition, types, regions, results, **attributes)
    return function.result_types


def binary_body(definition, *dtypes):
    """Return a body that applies a binary op to every pair of element and accumulator."""

    def write(b, *values):
        count = len(values) // 2
        return [b.op(definition, values[k], values[k + count]) for k in range(count)]

    return combining(*dtypes), write


def comparator(dtype, direction, *, others=(), compare_type=None):
    """Return a comparator on the first operand; ``others`` are dtypes of operands that are moved along."""
    types = [scalar(d) for d in (dtype, dtype, *[o for o in others for _ in range(2)])]

    def write(b, lhs, rhs, *_):
        options = {"comparison_direction": direction, "compare_type": compare_type}
        return [b.op(comparison.COMPARE, lhs, rhs, **options)]

    return types, write
