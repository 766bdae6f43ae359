"""top_k for few elements of long rows: a row is read once, block by block, and its largest so far are kept in order.

Most blocks hold nothing larger than the least that is kept, which SIMD code finds out. Where many elements are asked
for, the decomposition sorts.
"""

from __future__ import annotations

import math
from typing import Any

from numhlo.backend.emit.comparison import total_order
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Op

MOST_KEPT = 32
"""Elements up to which inserting into a list is faster than sorting, whatever the order they come in."""

BLOCK = 32
"""Elements that are compared together."""


def _refuse(op: Op) -> str:
    kept = op.results[0].tensor
    if not kept.size or kept.shape[-1] > MOST_KEPT:
        return "as many are sorted"
    register = REGISTERS[kept.dtype]
    plain = register.kind in "iuf" and register.dtype.itemsize * 8 == register.bits and register.storage != "f8e8m0fnu"
    return "" if plain else f"no order of {kept.dtype}"


def emit_top_k(op: Op, planner: Any) -> None:
    """Append the launch; a unit is a row."""
    for result in op.results:
        planner.output(result)
    planner.launch_op(op, _write(op, planner), op.results)


def _write(op: Op, planner: Any) -> Draft:
    operand, (kept, places) = op.operands[0], op.results
    length, count = operand.tensor.shape[-1], kept.tensor.shape[-1]
    register = REGISTERS[operand.tensor.dtype]
    text = KernelText(planner.buffer)
    source, values, order = text.pointer(operand), text.pointer(kept, "out"), text.pointer(places, "out")
    n, k = text.number("length", length, "length"), text.number("count", count, "count")
    with text.block("for row in range(lo, hi):"):
        for name, value in (("base", f"row * {n}"), ("first", f"row * {k}"), ("last", f"first + {k} - 1")):
            text.line(f"{name} = {value}")
        with text.block(f"for i in range({k}):"):
            _insert(text, register, (source, values, order), "i")
        text.line(f"least = {_key(register, values, 'last')}")
        with text.block(f"for start in range({k}, {n}, {BLOCK}):"):
            text.line(f"stop = min(start + {BLOCK}, {n})")
            text.line("larger = to_i32(0)")
            with text.block("for i in range(start, stop):"):
                text.line(f"larger = to_i32(larger | to_i32({_key(register, source, 'base + i')} > least))")
            with (
                text.block("if larger != 0:"),
                text.block("for i in range(start, stop):"),
                text.block(f"if {_key(register, source, 'base + i')} > least:"),
            ):
                _insert(text, register, (source, values, order), f"{k} - 1")
                text.line(f"least = {_key(register, values, 'last')}")
    rows = math.prod(operand.tensor.shape[:-1])
    traffic = sum(v.tensor.nbytes for v in (operand, kept, places))
    flops = rows * (length + 8 * count * count)
    kernel = text.finish(f"top_k_{register.storage}")
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), rows, grain_of(rows, flops, traffic), flops, traffic)


def _key(register: Register, pointer: str, index: str) -> str:
    """Return the text of the number by which an element is ordered."""
    value = f"load_{register.storage}({pointer}, {index})"
    return total_order(value, register) if register.kind == "f" else value


def _insert(text: KernelText, register: Register, pointers: tuple[str, str, str], place: str) -> None:
    """Write the insertion of element ``i`` into the list, whose last free place is ``place``, behind those as large."""
    source, values, order = pointers
    text.line(f"j = first + {place}")
    text.line(f"own = {_key(register, source, 'base + i')}")
    with text.block(f"while j > first and {_key(register, values, 'j - 1')} < own:"):
        text.line(f"store_{register.storage}({values}, j, load_{register.storage}({values}, j - 1))")
        text.line(f"store_i32({order}, j, load_i32({order}, j - 1))")
        text.line("j = j - 1")
    text.line(f"store_{register.storage}({values}, j, load_{register.storage}({source}, base + i))")
    text.line(f"store_i32({order}, j, to_i32(i))")


COMPOSITE_KERNELS["numhlo.top_k"] = RootRule(emit_top_k, refuse=_refuse)
