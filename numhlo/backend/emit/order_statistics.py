"""order_statistics: a row's elements at places of its sorted order, by radix selection; nothing is sorted.

Elements become integer keys. Of all keys, then of those that are left, the highest byte that is not yet known is
counted; the counts say which byte the wanted key has, and keys with another one are dropped. So work is in proportion
to the row's length, whatever it holds. Among equal keys (zeros of both signs, NaNs) the wanted one is counted out in
the row itself, which keeps the result a stable sort's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.backend.emit.comparison import total_order
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.order_statistics import MOST_PLACES, SHORT_ROW

TABLES = 4
"""Tables that neighbouring keys are counted in: most have the same byte, and would wait for each other's count."""

BYTES = 256
WORD = np.dtype(np.int64)


def _refuse(op: Op) -> str:
    operand, places = (v.tensor for v in op.operands)
    if not operand.size or operand.shape[-1] <= SHORT_ROW or not 0 < places.size <= MOST_PLACES:
        return "rows are short or places many, so that rows are sorted"
    register = REGISTERS[operand.dtype]
    plain = register.kind in "iuf" and register.dtype.itemsize * 8 == register.bits and register.storage != "f8e8m0fnu"
    return "" if plain else f"no order of {operand.dtype}"


def emit_order_statistics(op: Op, planner: Any) -> None:
    """Append the launch; a unit is a row."""
    planner.output(op.results[0])
    planner.launch_op(op, _write(op, planner), op.results)


def _write(op: Op, planner: Any) -> Draft:
    operand, places = op.operands
    length, count = operand.tensor.shape[-1], places.tensor.size
    register, indices = REGISTERS[operand.tensor.dtype], REGISTERS[places.tensor.dtype]
    scratch = [planner.scratch(operand.tensor.with_dtype(WORD)) for _ in range(2)]
    text = KernelText(planner.buffer)
    source, wanted, out = text.pointer(operand), text.pointer(places), text.pointer(op.results[0], "out")
    keys, left = text.pointer(scratch[0], "keys"), text.pointer(scratch[1], "left")
    n, m = text.number("length", length, "length"), text.number("count", count, "count")
    counts = text.stack_array("counts", BYTES * TABLES, WORD.itemsize)
    top = STORAGES[register.name].dtype.itemsize * 8 - 8
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {n}")
        with text.block(f"for i in range({n}):"):
            text.line(f"value = load_{register.storage}({source}, base + i)")
            text.line(f"store_i64({keys}, base + i, {_key(text, register)})")
        with text.block(f"for which in range({m}):"):
            text.line(f"rank = max(min(to_i64(load_{indices.storage}({wanted}, which)), {n} - 1), 0)")
            text.line(f"kept = {n}")
            _narrow_down(text, (keys, left), counts, f"(key >> {top}) {'' if register.kind == 'u' else '+ 128 '}& 255")
            text.line(f"shift = {top - 8}")
            with text.block("while (shift >= 0) & (kept > 1):"):
                _narrow_down(text, (left, left), counts, "(key >> shift) & 255")
                text.line("shift = shift - 8")
            text.line(f"found = load_i64({left}, base)")
            text.line("i = base")
            with text.block("while rank >= 0:"):
                text.line(f"rank = rank - to_i64(load_i64({keys}, i) == found)")
                text.line("i = i + 1")
            text.line(f"store_{register.storage}({out}, row * {m} + which, load_{register.storage}({source}, i - 1))")
    rows = math.prod(operand.tensor.shape[:-1])
    flops = rows * length * (2 + 6 * count)
    traffic = operand.tensor.nbytes + 3 * rows * length * WORD.itemsize
    kernel = text.finish(f"order_statistics_{register.storage}")
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), rows, grain_of(rows, flops, traffic), flops, traffic)


def _key(text: KernelText, register: Register) -> str:
    """Return the text of the integer that ``value`` is ordered by; names what it takes."""
    if register.kind != "f":
        return "to_i64(value)"
    bits = STORAGES[register.name].dtype.itemsize * 8  # narrow floats are ordered as float32
    word = f"to_i{bits}"
    text.line(f"total = {total_order('value', register)}")
    text.line(f"total = select(total == {word}(-1), {word}(0), total)")  # -0.0
    largest = f"{word}({(1 << (bits - 1)) - 1})"
    return f"to_i64(select(value == value, total, {largest}))"


def _narrow_down(text: KernelText, pointers: tuple[str, str], counts: str, byte: str) -> None:
    """Write the step that keeps the keys that share a byte with the one of rank ``rank`` among ``kept``."""
    source, target = pointers
    with text.block(f"for i in range({BYTES * TABLES}):"):
        text.line(f"store_i64({counts}, i, 0)")
    with text.block("for i in range(kept):"):
        text.line(f"key = load_i64({source}, base + i)")
        text.line(f"place = {TABLES} * ({byte}) + (i & {TABLES - 1})")
        text.line(f"store_i64({counts}, place, load_i64({counts}, place) + 1)")
    total = " + ".join(f"load_i64({counts}, {TABLES} * byte + {k})" for k in range(TABLES))
    text.line("byte = 0")
    text.line(f"here = {total}")
    with text.block("while rank >= here:"):
        text.line("rank = rank - here")
        text.line("byte = byte + 1")
        text.line(f"here = {total}")
    text.line("next = 0")
    with text.block("for i in range(kept):"):
        text.line(f"key = load_i64({source}, base + i)")
        text.line(f"store_i64({target}, base + next, key)")
        text.line(f"next = next + to_i64(({byte}) == byte)")
    text.line("kept = here")


COMPOSITE_KERNELS["numhlo.order_statistics"] = RootRule(emit_order_statistics, refuse=_refuse)
