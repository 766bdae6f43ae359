"""The text of kernels that work on one matrix of a stack after the other, in calls of LAPACK or inline.

A unit of work is a few matrices, which share the memory that a call works in. Matrices in buffers run along rows,
LAPACK's along columns: they are copied across, a strip at a time. Lengths, distances and addresses of subroutines come
at run time, so one kernel serves all shapes. `factorizations` and `linear_algebra` say what is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend import fortran
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS, Register, literal
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.lazy_scipy import type_prefix

MOST_UNITS = 64
"""Units of a stack, where each takes less than `UNIT_FLOPS`: enough to share among threads."""

UNIT_FLOPS = 50_000_000
"""Flops of some 10 ms: between two units the user may stop a call."""

CALL_FLOPS = 1000
"""What a call of LAPACK costs beside its arithmetic."""

STRIP = 16
"""Rows of a strip in copies between orders: a cache line or two of each column."""

SLOTS = 32
"""Integers, and letters, that a kernel's calls get."""

INT32 = np.dtype(np.int32)


@record(frozen=True, slots=True)
class Integer:
    """An argument that points to an int32."""

    text: str
    value: int


@record(frozen=True, slots=True)
class Letter:
    """An argument that points to a letter."""

    value: str


@record(frozen=True, slots=True)
class Pointer:
    """An argument that is the place of a matrix or vector; ``memory`` is what a question for work space calls it."""

    text: str
    memory: str | None = None


Argument = Integer | Letter | Pointer


class MatrixKernel:
    """The kernel of one op on stacks of matrices, while it is written.

    Parameters
    ----------
    op : Op
    planner : RegionPlanner
        Gives buffers.
    dtype : np.dtype
        Of the matrices.
    flops : int
        Of one matrix.
    core : int
        Rank of the first operand without batch dimensions.
    least : int
        Matrices of a unit, where there are so many.
    """

    def __init__(self, op: Op, planner: Any, flops: int, core: int = 2, least: int = 1) -> None:
        self.op, self.planner = op, planner
        self.type = op.operands[0].tensor
        self.dtype: np.dtype = self.type.dtype
        self.register: Register = REGISTERS[self.dtype]
        self.prefix = type_prefix(self.dtype)
        self.real = self.dtype if self.dtype.kind == "f" else np.dtype(f"f{self.dtype.itemsize // 2}")
        self.flops = flops
        self.text = KernelText(planner.buffer)
        self.batch = self.type.ndim - core
        self.stack = TensorType(self.type.shape[: self.batch], self.dtype).size
        parts = max(MOST_UNITS, self.stack * flops // UNIT_FLOPS)
        self.each = max(least, -(-self.stack // parts))
        self.units = -(-self.stack // self.each)
        self._memory = ""

    # Sizes and places

    def number(self, value: int, hint: str) -> str:
        """Return the name of a run-time number; equal hints are one number."""
        return self.text.number(hint, value, hint)

    def each_matrix(self) -> Any:
        """Open the loop over the matrices of a unit, for ``with``; `unit` must be open."""
        each, stack = self.number(self.each, "each"), self.number(self.stack, "stack")
        return self.text.block(f"for matrix in range(unit * {each}, min(unit * {each} + {each}, {stack})):")

    def unit(self) -> Any:
        """Open the loop over units, for ``with``."""
        return self.text.block("for unit in range(lo, hi):")

    def place(self, value: Value, core: int, role: str) -> str:
        """Return the pointer to the current matrix in a stack of arrays of rank ``core``."""
        shape = value.tensor.shape
        size = TensorType(shape[len(shape) - core :], value.tensor.dtype).nbytes
        pointer = self.text.pointer(value, "out" if role.startswith("out") else "in")
        return self.text.let(f"advance({pointer}, matrix * {self.number(size, f'{role}_bytes')})", role)

    def work(self, count: int, hint: str, dtype: np.dtype | None = None) -> str:
        """Return the pointer to memory of the current unit."""
        dtype = self.dtype if dtype is None else dtype
        memory = self.planner.scratch(TensorType((self.units * max(1, count),), dtype))
        pointer = self.text.pointer(memory, hint)
        size = self.number(max(1, count) * dtype.itemsize, f"{hint}_bytes")
        return self.text.let(f"advance({pointer}, unit * {size})", hint)

    # Calls

    def call(self, name: str, *arguments: Argument) -> None:
        """Write a call of a subroutine; its name is without the type's letter."""
        address = self.number(fortran.subroutine(self.prefix + name), f"{name}_at")
        slot, passed = 1, []
        letters = [argument for argument in arguments if isinstance(argument, Letter)]
        memory = self.argument_memory()
        for number, letter in enumerate(letters):
            self.text.line(f"store_u8({memory}, {4 * SLOTS + number}, to_u8({ord(letter.value)}))")
        seen = 0
        for argument in arguments:
            if isinstance(argument, Letter):
                passed.append(f"advance({memory}, {4 * SLOTS + seen})")
                seen += 1
            elif isinstance(argument, Integer):
                self.text.line(f"store_i32({memory}, {slot}, to_i32({argument.text}))")
                passed.append(f"advance({memory}, {4 * slot})")
                slot += 1
            else:
                passed.append(memory if argument.memory == "info" else argument.text)
        self.text.line(f"call_fortran({', '.join([address, *passed, *['1'] * len(letters)])})")

    def argument_memory(self) -> str:
        """Return the pointer to what calls' arguments point to; ``info`` comes first."""
        if not self._memory:
            self._memory = self.text.stack_array("arguments", 5 * SLOTS // 4, 4)
        return self._memory

    @property
    def info(self) -> Pointer:
        """Return the argument that says whether a call has failed."""
        return Pointer("", "info")

    def failed(self) -> str:
        """Return the text of the question whether the last call has failed."""
        return f"load_i32({self.argument_memory()}, 0) != 0"

    def lengths(self, name: str, *arguments: Argument) -> tuple[int, int, int]:
        """Return how much memory a call wants to work in: elements, real elements, int32."""
        asked: list[int | str | None] = []
        for argument in arguments:
            if isinstance(argument, Pointer):
                asked.append(argument.memory)
            else:
                asked.append(argument.value)
        return fortran.workspace(self.prefix + name, self.dtype, *asked)

    # Copies

    def across(self, source: str, target: str, rows: str, columns: str, stride: str, *, back: bool = False) -> None:
        """Write a copy of a matrix from one order to the other.

        Parameters
        ----------
        source, target : str
            Pointers.
        rows, columns : str
            Of the matrix.
        stride : str
            Distance between the columns of the one that runs along columns.
        back : bool
            The target is the one that runs along rows.
        """
        by_rows, by_columns = f"i * {columns} + j", f"j * {stride} + i"
        read, written = (by_columns, by_rows) if back else (by_rows, by_columns)
        load, store = (f"{verb}_{self.register.storage}" for verb in ("load", "store"))
        with (
            self.text.block(f"for first in range(0, {rows}, {STRIP}):"),
            self.text.block(f"for j in range({columns}):"),
            self.text.block(f"for i in range(first, min(first + {STRIP}, {rows})):"),
        ):
            self.text.line(f"{store}({target}, {written}, {load}({source}, {read}))")

    def copy(self, source: str, target: str, count: str, register: Register) -> None:
        """Write a plain copy."""
        with self.text.block(f"for i in range({count}):"):
            value = f"load_{register.storage}({source}, i)"
            self.text.line(f"store_{register.storage}({target}, i, {value})")

    def fill(self, target: str, count: str, value: float, register: Register) -> None:
        """Write the same number everywhere."""
        number = literal(register.dtype.type(value), register)
        with self.text.block(f"for i in range({count}):"):
            self.text.line(f"store_{register.storage}({target}, i, {number})")

    # The end

    def draft(self, name: str) -> Draft:
        """Return the kernel."""
        traffic = sum(v.tensor.nbytes for v in (*self.op.operands, *self.op.results))
        flops = self.stack * (self.flops + CALL_FLOPS)
        grain = grain_of(self.units, flops, traffic)
        kernel = self.text.finish(f"{name}_{self.register.name}")
        return Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), self.units, grain, flops, traffic)

    def launch(self, name: str) -> None:
        """Append the launch."""
        self.planner.launch_op(self.op, self.draft(name), self.op.results)
