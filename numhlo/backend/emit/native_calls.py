"""Kernels of custom calls that reach native code: they put addresses together, call, and look whether it failed.

One text serves all functions that are called in the same form with as many arrays: the address comes at run time. What
a failure means is told by a Python function, which native code calls in that case alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module
from typing import Any

from numhlo.backend.call_errors import keep_error
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ops.custom_call_attributes import aliases_of
from numhlo.lowering.ops.extension_ops import ExtensionOp, native_of
from numhlo.lowering.ops.implementations import OPERAND_ORDERS, RESULT_ORDERS
from numhlo.lowering.ops.native_functions import (
    PLAIN,
    STATUS_BYTES,
    TYPED,
    WITH_STATUS,
    WITH_TEXT,
    NativeFunction,
    raise_failure,
    refusal_of_types,
)

WORK = 1_000_000
"""Flops that a call is taken for, as nobody knows: enough for other Python threads to run meanwhile."""

_kept: list[Any] = []
"""What native code points to: it lives as long as the process, as machine code may be called until then."""


def reporter(tell: Callable[[int], None]) -> int:
    """Return the address of ``void(ctx, thing)``, which leaves what ``tell(thing)`` raises in the context."""

    def report(ctx: int, thing: int) -> None:
        try:
            tell(thing)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller of the program gets it
            keep_error(ctx, error)

    made = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(report)
    _kept.append(made)
    return int(ctypes.cast(made, ctypes.c_void_p).value or 0)


_reporters: dict[str, int] = {}


def _reporter_of(native: NativeFunction) -> int:
    """Return what raises the failures that statuses say."""
    if native.name not in _reporters:
        _reporters[native.name] = reporter(lambda status: raise_failure(native.name, status))
    return _reporters[native.name]


_texts: dict[str, Any] = {}


def _address_of_text(text: str) -> tuple[int, int]:
    """Return where a text lies, and its length in bytes."""
    data = text.encode()
    memory = _texts.setdefault(text, ctypes.create_string_buffer(data))
    return ctypes.addressof(memory), len(data)


def emit_native_call(op: Op, planner: Any) -> None:
    """Append the launch of a call of one of the forms with statuses, or of the plain one."""
    native = native_of(op)
    assert native is not None
    for result in op.results:
        planner.output(result)
    text = KernelText(planner.buffer)
    addresses = write_addresses(text, op)
    count = len(op.operands)
    out = f"load_i64({addresses}, {count})" if len(op.results) == 1 else f"advance({addresses}, {8 * count})"
    words = [text.number("function", native.address, "function"), out, addresses]
    if native.version == WITH_TEXT:
        place, length = _address_of_text(str(op.attributes.get("backend_config", "")))
        words += [text.number("text", place, "text"), text.number("length", length, "length")]
    if native.version == PLAIN:
        text.line(f"call_function({', '.join(words)})")
    else:
        status = text.stack_array("status", STATUS_BYTES, 1)
        text.line(f"store_i64({status}, 0, 0)")
        text.line(f"call_function({', '.join([*words, status])})")
        with text.block(f"if load_i64({status}, 0) != 0:"):
            report = text.number("report", _reporter_of(native), "report")
            text.line(f"call_function({report}, ctx, {status})")
    launch_native(op, planner, text, "native_call")


def write_addresses(text: KernelText, op: Op) -> str:
    """Return the name of an array of the addresses of an op's operands, then of its results."""
    pointers = write_pointers(text, op)
    addresses = text.stack_array("addresses", max(len(pointers), 1), 8)
    for number, pointer in enumerate(pointers):
        text.line(f"store_i64({addresses}, {number}, integer_address({pointer}))")
    return addresses


def write_pointers(text: KernelText, op: Op) -> list[str]:
    """Return pointers to an op's operands, then to its results.

    A result that has an operand's memory begins as a copy of it, which is what the function gets as the operand.
    """
    operands = [text.pointer(v) for v in op.operands]
    results = [text.pointer(v, "out") for v in op.results]
    for number, operand in aliases_of(op.attributes):
        type = op.results[number].tensor
        storage, parts = _WORDS[type.dtype.itemsize]
        count = text.number(f"elements{number}", type.size * parts, "count")
        with text.block(f"for k in range({count}):"):
            text.line(f"store_{storage}({results[number]}, k, load_{storage}({operands[operand]}, k))")
        operands[operand] = results[number]
    return [*operands, *results]


_WORDS = {1: ("i8", 1), 2: ("i16", 1), 4: ("i32", 1), 8: ("i64", 1), 16: ("i64", 2)}
"""What elements of so many bytes are copied as, and how many of that."""


def launch_native(op: Op, planner: Any, text: KernelText, name: str) -> None:
    """Append the launch of a finished kernel."""
    kernel = text.finish(name)
    traffic = sum(v.tensor.nbytes for v in (*op.operands, *op.results))
    planner.launch_op(op, Draft(kernel, tuple(text.buffers), tuple(text.dims), 1, 1, WORK, traffic), op.results)


def refuse_native_call(op: Op) -> str:
    """Return why compiled programs don't call what an op reaches by its address, or nothing."""
    native = native_of(op)
    if native is None:
        return "what it calls is Python"
    if op.attributes.get("operand_layouts") is not None:
        return "passes have not transposed its arrays"
    if not all(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
        return "it has a token"
    orders = op.attributes.get(OPERAND_ORDERS, ()), op.attributes.get(RESULT_ORDERS, ())
    if orders[0] and any(orders[1][number] != orders[0][operand] for number, operand in aliases_of(op.attributes)):
        return "a result has the memory of an operand in another layout"
    return refusal_of_types([v.tensor.dtype for v in (*op.operands, *op.results)])


def _emit(op: Op, planner: Any) -> None:
    native = native_of(op)
    assert native is not None
    _rule_of(native.version)(op, planner)


def _rule_of(version: int) -> Callable[[Op, Any], None]:
    if version == TYPED and version not in NATIVE_RULES:
        import_module("numhlo.backend.emit.typed_calls")  # adds its rule
    return NATIVE_RULES[version]


NATIVE_RULES: dict[int, Callable[[Op, Any], None]] = dict.fromkeys((PLAIN, WITH_STATUS, WITH_TEXT), emit_native_call)
"""How calls of each form are emitted, by ``api_version``."""

NATIVE_CALL = RootRule(_emit, refuse=refuse_native_call)
KERNELS.register_family(ExtensionOp)(NATIVE_CALL)
