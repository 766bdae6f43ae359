"""Programs written by hand: kernels as a generator would write them, with the ops that they stand for."""

from collections.abc import Sequence

import numpy as np

from numhlo.backend.primitives import storage_name
from numhlo.backend.program import Buffer, Kernel, Launch, Place, Program, Step
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import comparison, elementwise
from numhlo.lowering.ops.primitive import make_op

F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)


def elementwise_kernel(name: str, dtype: np.dtype, inputs: int, expression: str) -> Kernel:
    """A kernel that computes ``expression`` of ``a0``, ``a1``, ... into the buffer after the inputs."""
    kind = storage_name(dtype)
    words = sorted({"address", f"load_{kind}", f"store_{kind}", *_words_in(expression)})
    lines = [f"from numhlo.backend.primitives import {', '.join(words)}", "", ""]
    lines.append(f"def {name}(ctx, bufs, dims, lo, hi):")
    lines += [f"    x{k} = address(bufs, {k})" for k in range(inputs + 1)]
    lines.append("    for i in range(lo, hi):")
    lines += [f"        a{k} = load_{kind}(x{k}, i)" for k in range(inputs)]
    lines.append(f"        store_{kind}(x{inputs}, i, {expression})")
    return Kernel(name, "\n".join(lines) + "\n")


def _words_in(expression: str) -> list[str]:
    return [part.rsplit(" ", 1)[-1].lstrip("(-") for part in expression.split("(")[:-1] if part and part[-1].isalnum()]


def launch(
    kernel: Kernel,
    ops: Sequence[Op],
    inputs: Sequence[tuple[Value, int]],
    output: tuple[Value, int],
    extent: int,
    grain: int | None = None,
    dims: Sequence[int] = (),
) -> Launch:
    """A launch whose kernel takes the inputs' buffers, then the output's."""
    buffers = (*(number for _, number in inputs), output[1])
    type = output[0].tensor
    grain = extent if grain is None else grain
    return Launch(kernel, buffers, tuple(dims), extent, grain, ops, inputs, [output], type.size, 2 * type.nbytes)


def square_plus(count: int, dtype: np.dtype = F32, grain: int | None = None, arrays: int = 1) -> Program:
    """``x * x + x`` of each of ``arrays`` arguments of ``count`` elements, one launch each."""
    type = TensorType((count,), dtype)
    kernel = elementwise_kernel("square_plus", dtype, 1, "a0 * a0 + a0")
    region = Region([type] * arrays)
    buffers = [Buffer(type, Place.ARGUMENT, k) for k in range(arrays)]
    buffers += [Buffer(type, Place.RESULT, k) for k in range(arrays)]
    steps: list[Step] = []
    for k, x in enumerate(region.arguments):
        product = make_op(elementwise.MULTIPLY, [x, x])
        total = make_op(elementwise.ADD, [product.result, x])
        steps.append(launch(kernel, [product, total], [(x, k)], (total.result, arrays + k), count, grain))
    return Program(buffers, steps, 0, list(range(arrays, 2 * arrays)))


def first_launch(program: Program) -> Launch:
    """The first step of a program, which is a launch."""
    step = program.steps[0]
    assert isinstance(step, Launch)
    return step


def constant_buffer(value: object, dtype: np.dtype) -> tuple[Value, Buffer]:
    """A scalar constant: the value that ops read, and its buffer."""
    data = np.array(value, dtype)
    type = TensorType((), dtype)
    return Region([type]).arguments[0], Buffer(type, Place.CONSTANT, data=data)


def less_op(lhs: Value, rhs: Value) -> Op:
    """A comparison of two scalars."""
    return make_op(comparison.COMPARE, [lhs, rhs], {"comparison_direction": "LT"})
