"""What direct lowering uses of Numba's insides: types, signatures of calls, their machine code, casts, libraries.

Numba's registry knows how operators and our primitives are typed, and which instructions they become. It is asked here
call by call, and its answers are kept for the whole process: Numba's front end asks anew in every kernel. The context
has NumPy's error model, and a calling convention without errors: nothing that kernels call raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import callconv, cgutils, errors, types, typing
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

from numhlo.backend.compiler.intrinsics.pointers import BufferPointer
from numhlo.backend.compiler.pipelines import KernelLibrary
from numhlo.backend.compiler.stored_functions import StoredFunctions, functions_of_kernels
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.primitives.memory import Load, Store, StoreRounded
from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

WORD = llvm_ir.IntType(64)


@cache
def _load(name: str) -> Load:
    return Load(STORAGES[name])


@cache
def _store(name: str, rounded: bool) -> Store | StoreRounded:
    return (StoreRounded if rounded else Store)(STORAGES[name])


class NoErrors(callconv.CPUCallConv):
    """Numba's calling convention for functions that never fail: nobody looks at the status that they return."""

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Go on: there is no error."""

    def return_user_exc(self, builder: Any, exc: Any, *_arguments: Any, **_keywords: Any) -> None:
        """Refuse code that raises."""
        raise UnreadableError("the kernel IR has no exceptions", why=f"{exc.__name__} would be raised")


class KernelContext(CPUContext):
    """Numba's code generation for this processor, with that calling convention."""

    @property
    def call_conv(self) -> NoErrors:
        """Return the calling convention."""
        return NoErrors(self)


def _context() -> Any:
    context = cpu_target.target_context.subtarget()
    context.__class__ = KernelContext  # Numba's own tables stay shared with the context that it is a copy of
    context.error_model = callconv.create_error_model("numpy", context)
    return context


NUMBERS: dict[ir.Type, types.Type] = {
    ir.BOOL: types.boolean,
    **{ir.Number("int", bits): getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{ir.Number("uint", bits): getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{ir.Number("float", bits): getattr(types, f"float{bits}") for bits in (32, 64)},
    **{ir.Number("complex", bits): getattr(types, f"complex{bits}") for bits in (64, 128)},
    ir.NOTHING: types.none,
}
KNOWN: dict[types.Type, ir.Type] = {numba: own for own, numba in NUMBERS.items()} | {types.void: ir.NOTHING}


def numba_type(type: ir.Type) -> types.Type:
    """Return the type that Numba has for one of ours."""
    return BufferPointer(type.buffer) if isinstance(type, ir.Pointer) else NUMBERS[type]


def own_type(type: types.Type) -> ir.Type:
    """Return the type that the kernel IR has for one of Numba's.

    Raises
    ------
    UnreadableError
        If it has none.
    """
    if isinstance(type, BufferPointer):
        return ir.Pointer(type.scope)
    found = KNOWN.get(types.unliteral(type))
    if found is None:
        raise UnreadableError(f"the kernel IR has no type for Numba's {type}")
    return found


EXTREMES = {min: "<", max: ">"}
"""Builtins that Numba would compile from Python, and the comparison by which the second operand is taken."""


def _extreme(comparison: str) -> Callable[..., llvm_ir.Value]:
    def code(builder: Any, arguments: Sequence[llvm_ir.Value]) -> llvm_ir.Value:
        first, second = arguments
        return builder.select(builder.icmp_signed(comparison, second, first), second, first)

    return code


@record(frozen=True, slots=True, eq=False)
class Resolved:
    """A call of some callee with some types: what it gives, and the code that it becomes."""

    signature: Any
    code: Callable[..., Any]
    type: ir.Type


class NumbaTarget:
    """Numba's typing and code generation of calls, remembered by callee and operand types.

    Attributes
    ----------
    functions : StoredFunctions
        What is read from disk instead, and written to it.
    """

    def __init__(self) -> None:
        self.typing = cpu_target.typing_context
        self.typing.refresh()  # what has been registered so far becomes known
        cpu_target.target_context.refresh()
        self.context = _context()
        self.functions = StoredFunctions()
        self._resolved: dict[tuple[Any, tuple[types.Type, ...]], Resolved] = {}
        self._types: dict[ir.Type, types.Type] = {}

    def result(self, callee: Any, operands: Sequence[ir.Expression]) -> ir.Type:
        """Return the type of a call: `numhlo.backend.kernels.reading.Typing`."""
        return self.resolve(callee, operands).type

    def counter(self, bounds: Sequence[ir.Expression]) -> ir.Number:
        """Return the type of the counter of a range: `numhlo.backend.kernels.reading.Typing`."""
        if all(bound.type == ir.INT64 for bound in bounds):
            return ir.INT64
        signature = self._signature(self.typing.resolve_value_type(range), [self.operand_type(b) for b in bounds])
        found = own_type(signature.return_type.dtype)
        assert isinstance(found, ir.Number)
        return found

    def operand_type(self, operand: ir.Expression) -> types.Type:
        """Return the type of an operand, which for an integer literal has its value."""
        if isinstance(operand, ir.Constant) and operand.type == ir.INT64:
            return types.IntegerLiteral(operand.value)
        found = self._types.get(operand.type)
        if found is None:
            found = self._types[operand.type] = numba_type(operand.type)
        return found

    def resolve(self, callee: Any, operands: Sequence[ir.Expression]) -> Resolved:
        """Return what a call means.

        Raises
        ------
        UnreadableError
            If the callee takes no such operands.
        """
        key = callee, tuple(self.operand_type(operand) for operand in operands)
        found = self._resolved.get(key)
        if found is None:
            found = self._resolved[key] = self._resolve(*key)
        return found

    def keep_functions(self) -> int:
        """Write all functions of vector math that kernels call to disk, and return how many there are."""
        found = functions_of_kernels()
        for callee, types_given in found:
            self._made(callee, types_given)
        return len(found)

    def _resolve(self, callee: Any, given: tuple[types.Type, ...]) -> Resolved:
        if callee in EXTREMES and [types.unliteral(type) for type in given] == [types.int64] * 2:
            return Resolved(types.int64(types.int64, types.int64), _extreme(EXTREMES[callee]), ir.INT64)
        stored = self.functions.read(self.context, callee, given)
        if stored is not None:
            return Resolved(*stored, own_type(stored[0].return_type))
        return self._made(callee, given)

    def _made(self, callee: Any, given: tuple[types.Type, ...]) -> Resolved:
        function = self.typing.resolve_value_type(callee)
        signature = self._signature(function, given)
        try:
            code = self.context.get_function(function, signature)
        except NotImplementedError as error:
            raise UnreadableError(f"Numba has no code for {callee} of {given}", why=str(error)) from error
        self.functions.write(callee, given, signature)
        return Resolved(signature, code, own_type(signature.return_type))

    def _signature(self, function: Any, given: Sequence[types.Type]) -> Any:
        try:
            signature = self.typing.resolve_function_type(function, tuple(given), {})
        except errors.TypingError as error:
            raise UnreadableError(f"{function} takes no {given}", why=str(error)) from error
        if signature is None:
            raise UnreadableError(f"{function} takes no {given}")
        return signature

    def call(
        self, builder: Any, callee: Any, operands: Sequence[ir.Expression], values: Sequence[llvm_ir.Value]
    ) -> llvm_ir.Value:
        """Emit a call of a primitive, an operator or a builtin."""
        found = self.resolve(callee, operands)
        signature = found.signature
        given = [(value, self.operand_type(operand)) for value, operand in zip(values, operands, strict=True)]

        def cast(index: int, _parameter: Any, item: Any) -> llvm_ir.Value:
            return self._cast(builder, item, signature.args[index])

        def default(index: int, _parameter: Any, value: Any) -> llvm_ir.Value:
            return self.context.get_constant_generic(builder, signature.args[index], value)

        def rest(index: int, _parameter: Any, items: Any) -> llvm_ir.Value:
            packed = [self._cast(builder, item, to) for item, to in zip(items, signature.args[index], strict=True)]
            return cgutils.make_anonymous_struct(builder, packed)

        if signature.pysig is None:
            arguments = [self._cast(builder, item, to) for item, to in zip(given, signature.args, strict=True)]
        else:
            arguments = typing.fold_arguments(signature.pysig, given, {}, cast, default, rest)
        return found.code(builder, arguments)

    def _cast(self, builder: Any, item: tuple[llvm_ir.Value, types.Type], to: types.Type) -> llvm_ir.Value:
        value, type = item
        return value if type == to else self.context.cast(builder, value, type, to)

    def cast(self, builder: Any, value: llvm_ir.Value, type: ir.Type, to: ir.Type) -> llvm_ir.Value:
        """Emit the conversion of a value."""
        return self._cast(builder, (value, numba_type(type)), numba_type(to))

    def constant(self, builder: Any, constant: ir.Constant) -> llvm_ir.Value:
        """Return a literal's value."""
        if isinstance(constant.type, ir.Number) and constant.type.kind in ("int", "uint"):
            return llvm_ir.Constant(llvm_ir.IntType(constant.type.bits), constant.value)
        return self.context.get_constant_generic(builder, numba_type(constant.type), constant.value)

    def llvm_type(self, type: ir.Type) -> llvm_ir.Type:
        """Return the LLVM type of a value in a register."""
        if type == ir.NOTHING:
            return llvm_ir.VoidType()
        return self.context.get_value_type(numba_type(type))

    def load_of(self, storage: Storage) -> Load:
        """Return the primitive that loads elements."""
        return _load(storage.name)

    def store_of(self, storage: Storage, rounded: bool) -> Store | StoreRounded:
        """Return the primitive that stores elements."""
        return _store(storage.name, rounded)

    def library(self, name: str) -> KernelLibrary:
        """Return a new library, for code and for the libraries that it links."""
        return KernelLibrary(self.context.codegen(), name)

    def linking(self, library: KernelLibrary) -> Any:
        """Return a context manager inside which libraries that calls need are linked to a library."""
        return self.context.push_code_library(library)
