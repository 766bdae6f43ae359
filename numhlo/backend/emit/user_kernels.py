"""Custom calls: kernels of targets known by name, and users' kernels, called by one small kernel.

The address and the extents of all arrays come in as run-time numbers, so nothing of the user's is part of object code.
"""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.native_calls import NATIVE_CALL, WORK
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.interruptions import uninterrupted
from numhlo.lowering.ops.control_flow import CUSTOM_CALL
from numhlo.lowering.ops.user_kernels import TARGET, UserKernel

CUSTOM_CALL_KERNELS: dict[str, RootRule] = {}
"""Rules of targets that have kernels; `factorizations` fills it."""


@lru_cache(maxsize=1024)
def _compiled(kernel: UserKernel, types: tuple[tuple[np.dtype, int], ...], results: int) -> tuple[int, str]:
    """Return the address of a kernel's machine code, or 0 and why there is none.

    Numba does not recover from an exception in the middle of its work, such as that of Ctrl-C.
    """
    if _is_compiling():
        return _compile(kernel, types, results)
    return uninterrupted(_compile, kernel, types, results)


def _is_compiling() -> bool:
    """Return whether this thread has Numba's lock, for which another one would wait: Numba called a handler."""
    module: Any = sys.modules.get("numba.core.compiler_lock")
    return module is not None and bool(module.global_compiler_lock.is_locked())


def _compile(kernel: UserKernel, types: tuple[tuple[np.dtype, int], ...], results: int) -> tuple[int, str]:
    compiler = importlib.import_module("numhlo.backend.compiler.user_functions")
    address, reason = compiler.compile_user_function(kernel.function, types, results)
    return int(address), str(reason)


def _found(op: Op) -> tuple[int, str]:
    name = op.attributes["backend_config"]
    if not isinstance(name, UserKernel):
        return 0, "what it calls is Python"
    values = [*op.operands, *op.results]
    return _compiled(name, tuple([(v.tensor.dtype, v.tensor.ndim) for v in values]), len(op.results))


def emit_user_kernel(op: Op, planner: Any) -> None:
    """Append the launch."""
    for result in op.results:
        planner.output(result)
    text = KernelText(planner.buffer)
    address, _ = _found(op)
    function = text.number("function", address, "function")
    inputs = [text.pointer(v) for v in op.operands]
    outputs = [text.pointer(v, "out") for v in op.results]
    with text.block(f"if call_function({', '.join([function, 'ctx', 'dims', *inputs, *outputs])}) != 0:"):
        text.line("return")  # it raised: the context has the exception
    extents = [extent for v in (*op.operands, *op.results) for extent in v.tensor.shape]
    kernel = text.finish("user_kernel")
    traffic = sum(v.tensor.nbytes for v in (*op.operands, *op.results))
    draft = Draft(kernel, tuple(text.buffers), (*text.dims, *extents), 1, 1, WORK, traffic)
    planner.launch_op(op, draft, op.results)


def _rule(op: Op) -> RootRule:
    name = op.attributes["call_target_name"]
    return CUSTOM_CALL_KERNELS.get(name) or (USER_KERNEL if name == TARGET else NATIVE_CALL)


USER_KERNEL = RootRule(emit_user_kernel, refuse=lambda op: _found(op)[1])
KERNELS.register(CUSTOM_CALL)(
    RootRule(lambda op, planner: _rule(op)(op, planner), refuse=lambda op: _rule(op).refuse(op))
)
