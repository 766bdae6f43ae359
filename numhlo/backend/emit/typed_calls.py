"""Kernels of custom calls in XLA's typed form: they fill in a frame on the stack, and call the handlers of its stages.

All that is the same in every call comes from a template, which `numhlo.lowering.ops.typed_calls` makes; addresses of
arrays, their extents and the context of execution are put in here.
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.native_calls import NATIVE_RULES, WORK, reporter, write_pointers
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.extension_ops import native_of, options_of_op
from numhlo.lowering.ops.implementations import OPERAND_ORDERS, RESULT_ORDERS, restored
from numhlo.lowering.ops.native_functions import TYPED, NativeFunction
from numhlo.lowering.ops.typed_call_api import INSTANCE, RUN, WORD, await_future, raise_error
from numhlo.lowering.ops.typed_calls import (
    ARGUMENTS,
    BUFFER_DATA,
    BUFFER_DIMS,
    CONTEXT,
    FUTURE,
    GROUP_ITEMS,
    RESULTS,
    STAGE,
    buffer_place,
    call_of,
    items_place,
)

_reporters: dict[str, tuple[int, int]] = {}


def _reporters_of(native: NativeFunction) -> tuple[int, int]:
    """Return what raises errors by their handles, and what waits for futures."""
    if native.name not in _reporters:
        _reporters[native.name] = (
            reporter(lambda handle: raise_error(native.name, handle)),
            reporter(lambda handle: await_future(native.name, handle)),
        )
    return _reporters[native.name]


def emit_typed_call(op: Op, planner: Any) -> None:
    """Append the launch."""
    native = native_of(op)
    assert native is not None
    kinds = [[(v.tensor.dtype, v.tensor.ndim) for v in group] for group in (op.operands, op.results)]
    call = call_of(native, options_of_op(op), *kinds)
    for result in op.results:
        planner.output(result)
    text, values = KernelText(planner.buffer), [*op.operands, *op.results]
    report, wait = (
        text.number(key, address, key) for key, address in zip(("report", "wait"), _reporters_of(native), strict=True)
    )
    handlers = [(stage, text.number(f"handler{stage}", address, "handler")) for stage, address in call.stages]
    template = text.number("template", call.template_address, "template")
    instance = text.number("instance", call.instance, "instance")
    size = len(call.template)
    frame, context = text.stack_array("frame", size, WORD), text.stack_array("context", 2, WORD)
    with text.block(f"for k in range({size}):"):
        text.line(f"store_i64({frame}, k, load_i64({template}, k))")
    base, items = text.let(f"integer_address({frame})", "base"), items_place(len(values))
    text.line(f"store_i64({context}, {INSTANCE}, {instance})")
    text.line(f"store_i64({context}, {RUN}, integer_address(ctx))")
    text.line(f"store_i64({frame}, {CONTEXT}, integer_address({context}))")
    text.line(f"store_i64({frame}, {ARGUMENTS + GROUP_ITEMS}, {base} + {WORD * items})")
    text.line(f"store_i64({frame}, {RESULTS + GROUP_ITEMS}, {base} + {WORD * (items + len(op.operands))})")
    extents = _write_buffers(text, op, frame, base)
    for stage, handler in handlers:
        text.line(f"store_i64({frame}, {STAGE}, {stage})")
        text.line(f"error = call_function({handler}, {frame})")
        with text.block("if error != 0:"):
            text.line(f"call_function({report}, ctx, error)")
            text.line("return")
    text.line(f"future = load_i64({frame}, {FUTURE})")
    with text.block("if future != 0:"):
        text.line(f"call_function({wait}, ctx, future)")
    kernel = text.finish("typed_call")
    traffic = sum(v.tensor.nbytes for v in values)
    draft = Draft(kernel, tuple(text.buffers), (*text.dims, *extents), 1, 1, WORK, traffic)
    planner.launch_op(op, draft, op.results)


def _write_buffers(text: KernelText, op: Op, frame: str, base: str) -> list[int]:
    """Write the addresses of arrays and of their extents, and return the extents: they follow the kernel's numbers."""
    values: list[Value] = [*op.operands, *op.results]
    pointers = write_pointers(text, op)
    items, first = items_place(len(values)), len(text.dims)  # extents follow all numbers
    orders = [*op.attributes.get(OPERAND_ORDERS, ()), *op.attributes.get(RESULT_ORDERS, ())]
    extents: list[int] = []
    for number, (value, pointer) in enumerate(zip(values, pointers, strict=True)):
        place = buffer_place(number)
        text.line(f"store_i64({frame}, {place + BUFFER_DATA}, integer_address({pointer}))")
        text.line(f"store_i64({frame}, {place + BUFFER_DIMS}, integer_address(dims) + {WORD * (first + len(extents))})")
        text.line(f"store_i64({frame}, {items + number}, {base} + {WORD * place})")
        extents += restored(value.tensor.shape, orders[number]) if orders else value.tensor.shape
    return extents


NATIVE_RULES[TYPED] = emit_typed_call
