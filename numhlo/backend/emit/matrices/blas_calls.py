"""The text of calls of BLAS from a kernel: its subroutines take pointers to all of their arguments."""

from __future__ import annotations

from numhlo.backend import fortran
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.matrices.kernels import Letter, Pointer
from numhlo.backend.emit.matrices.operands import scalar
from numhlo.backend.emit.registers import Register
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.lazy_scipy import type_prefix


@record(frozen=True, slots=True)
class Factor:
    """An argument that points to a number of the matrices' type."""

    value: float


@record(frozen=True, slots=True)
class Length:
    """An argument that points to an int32, given as text."""

    text: str


BlasArgument = Letter | Factor | Length | Pointer


def write_blas_call(text: KernelText, name: str, register: Register, *arguments: BlasArgument) -> None:
    """Write a call of a subroutine; its name is without the type's letter."""
    address = text.number(name, fortran.subroutine(f"{type_prefix(register.dtype)}{name}"), f"{name}_at")
    size = register.dtype.itemsize
    lengths = text.stack_array("lengths", len(arguments), 4)
    factors = text.stack_array("factors", len(arguments), size)
    passed, letters = [], 0
    for place, argument in enumerate(arguments):
        if isinstance(argument, Pointer):
            passed.append(argument.text)
        elif isinstance(argument, Factor):
            text.line(f"store_{register.storage}({factors}, {place}, {scalar(register.name, argument.value)})")
            passed.append(f"advance({factors}, {place * size})")
        else:
            is_letter = isinstance(argument, Letter)
            letters += is_letter
            value = str(ord(argument.value)) if isinstance(argument, Letter) else argument.text
            text.line(f"store_i32({lengths}, {place}, to_i32({value}))")
            passed.append(f"advance({lengths}, {4 * place})")
    text.line(f"call_fortran({', '.join([address, *passed, *['1'] * letters])})")
