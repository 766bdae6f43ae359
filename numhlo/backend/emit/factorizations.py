"""Factorizations: LAPACK called by address for each matrix of a stack.

The same routines serve numhlo's composites, where a failure gives NaN, and custom calls under the names that JAX
exports, where ``info`` is a result. A kernel copies a matrix to memory that runs along columns, calls, and copies back
what is wanted. `linear_systems` has what is more than one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from numhlo.backend import fortran
from numhlo.backend.emit.matrices.kernels import INT32, Argument, Integer, Letter, MatrixKernel, Pointer
from numhlo.backend.emit.matrices.lapack_routines import (
    FLOPS,
    INTEGER,
    REAL,
    ROUTINES,
    SYMMETRIC_FLOPS,
    UNASKED,
    Routine,
)
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.backend.emit.user_kernels import CUSTOM_CALL_KERNELS
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.lapack import LETTERS, configuration
from numhlo.lowering.ops.lazy_scipy import PREFIXES, type_prefix

NO = "N"
"""The letter that asks for no vectors."""

WORK = ("work", "rwork", "iwork")


@record(frozen=True)
class Request:
    """What a routine is called for.

    Attributes
    ----------
    routine : Routine
    options : mapping from str to str or int
        LAPACK's letters, and numbers.
    results : sequence of str
        The routine's name of each result of the op; ``0`` for zeros.
    checked : bool
        A failure gives NaN.
    """

    routine: Routine
    options: Mapping[str, str | int]
    results: Sequence[str]
    checked: bool


class Factorization(MatrixKernel):
    """The kernel of one call a matrix."""

    def __init__(self, op: Op, planner: Any, request: Request) -> None:
        routine = self.routine = request.routine
        self.request, self.sizes = request, sizes_of(op, request)
        factor, words = FLOPS.get(routine.name, SYMMETRIC_FLOPS)
        flops = int(factor * math.prod([self.sizes[word] for word in words.split()]))
        core = len(routine.arrays[routine.operands[0]][1].split())
        super().__init__(op, planner, flops, core)
        self.skipped = {x for option, names in UNASKED.items() if request.options.get(option) == NO for x in names}
        self.memory: dict[str, str] = {}

    def size(self, name: str) -> Integer:
        """Return a size as an argument."""
        return Integer(self.number(self.sizes[name], name), self.sizes[name])

    def dtype_of(self, name: str) -> np.dtype:
        """Return the element type of an array of the routine."""
        kind = self.routine.arrays[name][0]
        return INT32 if kind == INTEGER else self.real if kind == REAL else self.dtype

    def extents(self, name: str) -> list[Integer]:
        """Return the extents of an array of the routine."""
        return [self.size(word) for word in self.routine.arrays[name][1].split()]

    def write(self) -> None:
        """Write the loops, the call, and the copies."""
        lengths = self._work_lengths()
        with self.unit():
            for name in self.routine.arrays:
                if name not in self.skipped:
                    count = int(np.prod([size.value for size in self.extents(name)], dtype=int))
                    self.memory[name] = self.work(count, name, self.dtype_of(name))
            for name, count in lengths.items():
                self.memory[name] = self.work(count, name, {"rwork": self.real, "iwork": INT32}.get(name))
            with self.each_matrix():
                for name, operand in zip(self.routine.operands, self.op.operands, strict=True):
                    self._take(name, operand)
                self.call(self.routine.name, *self._arguments(lengths))
                with self._delivery():
                    for name, value in zip(self.request.results, self.op.results, strict=True):
                        self._deliver(name, value)

    def _arguments(self, lengths: Mapping[str, int]) -> Iterator[Argument]:
        """Yield the arguments; -1, a question, for lengths that are not known."""
        for word in self.routine.arguments.split():
            if word.startswith("@"):
                yield Letter(str(self.request.options[word[1:]]))
            elif word.startswith("#"):
                value = int(self.request.options[word[1:]])
                yield Integer(self.number(value, word[1:]), value)
            elif word in self.sizes:
                yield self.size(word)
            elif word[1:] in WORK and word[0] == "l":
                known = lengths.get(word[1:], -1)
                yield Integer(self.number(known, word) if lengths else "", known)
            elif word == "info":
                yield self.info
            elif word.endswith("+"):
                array = self.memory.get(word[:-1], "0")
                yield Pointer(f"advance({array}, {self.dtype.itemsize})")
            else:
                yield Pointer(self.memory.get(word, "0"), word if word in WORK else None)

    def _work_lengths(self) -> dict[str, int]:
        """Return how many elements of work arrays there must be."""
        words = self.routine.arguments.split()
        asked = self.lengths(self.routine.name, *self._arguments({})) if "lwork" in words else (1, 1, 1)
        told = {name: length(self.sizes) for name, length in self.routine.memory.items()}
        return {name: max(n, told.get(name, 1)) for name, n in zip(WORK, asked, strict=True) if name in words}

    def _take(self, name: str, operand: Value) -> None:
        """Write the copy of an operand to where LAPACK reads it."""
        extents = self.extents(name)
        place = self.place(operand, len(extents), f"{name}_in")
        if len(extents) == 1:
            self.copy(place, self.memory[name], extents[0].text, REGISTERS[self.dtype_of(name)])
        else:
            self.across(place, self.memory[name], extents[0].text, extents[1].text, extents[0].text)

    @contextmanager
    def _delivery(self) -> Iterator[None]:
        """Write NaN where the call has failed, if that is asked for; open the block for when it has not."""
        if not self.request.checked:
            yield
            return
        with self.text.block(f"if {self.failed()}:"):
            for name, value in zip(self.request.results, self.op.results, strict=True):
                self._fill(name, value, np.nan)
        with self.text.block("else:"):
            yield

    def _place_of(self, name: str, value: Value) -> tuple[str, int]:
        """Return where a result of the current matrix goes, and how many elements it has."""
        core = value.tensor.shape[self.batch :]
        return self.place(value, len(core), f"out_{name}_{self.op.results.index(value)}"), int(np.prod(core, dtype=int))

    def _fill(self, name: str, value: Value, number: float) -> None:
        place, count = self._place_of(name, value)
        key = f"count_{self.op.results.index(value)}"
        self.fill(place, self.number(count, key), number, REGISTERS[value.tensor.dtype])

    def _deliver(self, name: str, value: Value) -> None:
        """Write the copy of a result to its place."""
        if name == "0" or name in self.skipped:
            self._fill(name, value, 0.0)
            return
        place, _ = self._place_of(name, value)
        if name == "info":
            self.text.line(f"store_i32({place}, 0, load_i32({self.argument_memory()}, 0))")
        elif name == "values":
            self._deliver_complex_values(place, value)
        elif self.dtype_of(name).kind == "f" and value.tensor.dtype.kind == "c":
            self._deliver_complex_vectors(name, place, value)
        elif len(self.extents(name)) == 2:
            rows, columns = self.extents(name)
            self.across(self.memory[name], place, rows.text, columns.text, rows.text, back=True)
        else:
            count = self.extents(name)[0].text if self.extents(name) else "1"
            self.copy(self.memory[name], place, count, REGISTERS[value.tensor.dtype])

    def _deliver_complex_values(self, place: str, value: Value) -> None:
        """Write complex eigenvalues, which real matrices have in two parts."""
        register, load = REGISTERS[value.tensor.dtype], f"load_{self.register.storage}"
        with self.text.block(f"for i in range({self.size('n').text}):"):
            number = f"{load}({self.memory['w']}, i)" if "w" in self.memory else ""
            parts = ", ".join(f"{load}({self.memory[name]}, i)" for name in ("wr", "wi") if name in self.memory)
            self.text.line(f"store_{register.storage}({place}, i, {number or f'make_{register.name}({parts})'})")

    def _deliver_complex_vectors(self, name: str, place: str, value: Value) -> None:
        """Write eigenvectors from LAPACK's real form: of a conjugate pair, the two parts stand side by side."""
        text, register, load = self.text, REGISTERS[value.tensor.dtype], f"load_{self.register.storage}"
        size, vectors = self.size("n").text, self.memory[name]
        zero = f"to_{self.register.name}(0.0)"
        with text.block(f"for j in range({size}):"):
            text.line(f"part = {load}({self.memory['wi']}, j)")
            text.line(f"column = j - to_i64(part < {zero})")
            text.line(f"other = min(column + 1, {size} - 1)")
            with text.block(f"for i in range({size}):"):
                text.line(f"imaginary = {load}({vectors}, other * {size} + i)")
                text.line(f"imaginary = select(part < {zero}, negate(imaginary), imaginary)")
                text.line(f"imaginary = select(part == {zero}, {zero}, imaginary)")
                number = f"make_{register.name}({load}({vectors}, column * {size} + i), imaginary)"
                text.line(f"store_{register.storage}({place}, i * {size} + j, {number})")


def sizes_of(op: Op, request: Request) -> dict[str, int]:
    """Return the extents that a routine's arrays have, from the shapes of the op's operands and results."""
    sizes = {"left": 1, "right": 1}  # of what is not asked for
    named = [*zip(request.routine.operands, op.operands, strict=True), *zip(request.results, op.results, strict=True)]
    for name, value in named:
        words = request.routine.arrays.get(name, ("", ""))[1].split()
        sizes.update(zip(words, value.tensor.shape[value.tensor.ndim - len(words) :], strict=True))
    return sizes


def _emit(op: Op, planner: Any, request: Callable[[Op], Request]) -> None:
    for result in op.results:
        planner.output(result)
    kernel = Factorization(op, planner, request(op))
    kernel.write()
    kernel.launch(kernel.routine.name)


def _refuse(op: Op, request: Callable[[Op], Request]) -> str:
    return obstacle(op, request(op).routine.name)


def obstacle(op: Op, *names: str) -> str:
    """Return why LAPACK can't be called for an op, or nothing."""
    first = op.operands[0].tensor
    matrices = [v.tensor for v in (*op.operands, *op.results) if v.tensor.ndim >= first.ndim]
    if not all(type.is_static and type.size for type in matrices):
        return "there is nothing to factor"
    dtype = first.dtype
    if dtype.itemsize not in PREFIXES.get(dtype.kind, ()):
        return f"LAPACK has no {dtype}"
    missing = [name for name in names if not fortran.subroutine(type_prefix(dtype) + name)]
    return f"there is no LAPACK with {missing[0]}" if missing else ""


def _composite_request(op: Op, name: str) -> Request:
    """Return what one of numhlo's factorizations asks of LAPACK."""
    kind = op.operands[0].tensor.dtype.kind
    parameters = op.attributes["composite_attributes"]
    routine, results, options = _COMPOSITES[name](parameters, kind)
    return Request(ROUTINES[kind][routine], options, results, checked=True)


def _svd(parameters: Mapping[str, Any], kind: str) -> tuple[str, Sequence[str], Mapping[str, str]]:
    return "gesdd", ("u", "s", "vt"), {"mode": "A" if parameters["full"] else "S"}


def _eigh(
    parameters: Mapping[str, Any], kind: str, results: Sequence[str], mode: str
) -> tuple[str, Sequence[str], Mapping[str, str]]:
    options = {"mode": mode, "uplo": "L" if parameters["lower"] else "U"}
    return "heevd" if kind == "c" else "syevd", results, options


def _eig(
    parameters: Mapping[str, Any], kind: str, results: Sequence[str], right: str
) -> tuple[str, Sequence[str], Mapping[str, str]]:
    return "geev", results, {"compute_left": NO, "compute_right": right}


_COMPOSITES: dict[str, Callable[..., tuple[str, Sequence[str], Mapping[str, str]]]] = {
    "svd": _svd,
    "svdvals": lambda parameters, kind: ("gesdd", ("s",), {"mode": NO}),
    "eigh": partial(_eigh, results=("w", "a"), mode="V"),
    "eigvalsh": partial(_eigh, results=("w",), mode=NO),
    "eig": partial(_eig, results=("values", "vr"), right="V"),
    "eigvals": partial(_eig, results=("values",), right=NO),
    "schur": lambda parameters, kind: ("gees", ("a", "vs"), {"mode": "V", "sort": NO}),
}
"""The routine, its names of the results, and its options, of each factorization that is one call."""


def _custom_request(op: Op, name: str) -> Request:
    """Return what a custom call asks of LAPACK."""
    routine = ROUTINES[op.operands[0].tensor.dtype.kind][name]
    config = configuration(op.attributes)
    options: dict[str, str | int] = {}
    for word in routine.arguments.split():
        if word[0] in "@#":
            option, value = word[1:], int(config[word[1:]])
            letters = routine.switches.get(option)
            options[option] = value if word[0] == "#" else letters[value] if letters else chr(value)
    is_vectorless = name in ("syevd", "heevd") and options["mode"] == NO
    results = tuple("0" if word == "a" and is_vectorless else word for word in routine.results)
    return Request(routine, options, results, checked=False)


def _rule(request: Callable[[Op], Request]) -> RootRule:
    return RootRule(partial(_emit, request=request), refuse=partial(_refuse, request=request))


for _name in _COMPOSITES:
    COMPOSITE_KERNELS[f"numhlo.{_name}"] = _rule(partial(_composite_request, name=_name))
for _letter in LETTERS:
    for _name in ROUTINES["f" if _letter in "sd" else "c"]:
        CUSTOM_CALL_KERNELS[f"lapack_{_letter}{_name}_ffi"] = _rule(partial(_custom_request, name=_name))
