"""The Numba type of a pointer into one of a kernel's buffers, and the alias metadata of accesses through it.

Each buffer number is an alias scope. An access through buffer k is in scope k and in none of the others, which is what
LLVM needs to vectorize without run-time overlap checks. A plain integer is a pointer of which nothing is known.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import register_model

BYTE = ir.IntType(8)
BYTE_POINTER = BYTE.as_pointer()  # typed, as Numba wants it; LLVM itself has one pointer type


FIRST_CACHE, SECOND_CACHE = 3, 2
"""What LLVM calls the locality of a line that is asked for: the cache that it is brought into."""


class BufferPointer(types.Type):
    """A pointer into buffer ``scope``, or to memory of which nothing is known (None)."""

    def __init__(self, scope: int | None) -> None:
        self.scope = scope
        super().__init__(name=f"BufferPointer({scope})")


@register_model(BufferPointer)
class BufferPointerModel(models.PrimitiveModel):
    """A pointer is an LLVM pointer."""

    def __init__(self, data_model_manager: Any, frontend_type: BufferPointer) -> None:
        super().__init__(data_model_manager, frontend_type, BYTE_POINTER)


class AliasScopes:
    """The alias scopes of one LLVM module, and for each the list of all the others.

    The lists are metadata nodes that are completed as scopes appear; they are printed only when the module is done.
    """

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.domain = module.add_metadata([ir.MetaDataString(module, "numhlo buffers")])
        self.scopes: dict[int, ir.MDValue] = {}
        self.members: dict[int, ir.MDValue] = {}
        self.others: dict[int, ir.MDValue] = {}

    def attach(self, instruction: ir.Instruction, scope: int) -> None:
        """Say that a load or store touches buffer ``scope`` and no other."""
        if scope not in self.scopes:
            self._add(scope)
        instruction.set_metadata("alias.scope", self.members[scope])
        if len(self.scopes) > 1 or scope in self.others:
            instruction.set_metadata("noalias", self.others[scope])

    def _add(self, scope: int) -> None:
        label = ir.MetaDataString(self.module, f"buffer {scope}")
        self.scopes[scope] = self.module.add_metadata([label, self.domain])
        self.members[scope] = self.module.add_metadata([self.scopes[scope]])
        self.others[scope] = ir.MDValue(self.module, (), name=str(len(self.module.metadata)))
        for number, node in self.others.items():
            node.operands = tuple(s for k, s in self.scopes.items() if k != number)


_SCOPES: WeakKeyDictionary[ir.Module, AliasScopes] = WeakKeyDictionary()


def is_pointer(type: types.Type) -> bool:
    """Return whether a Numba type can be used as a pointer."""
    return isinstance(type, (BufferPointer, types.Integer))


def as_pointer(builder: ir.IRBuilder, value: ir.Value, element: ir.Type = BYTE) -> ir.Value:
    """Return a pointer or an address as an LLVM pointer to ``element``."""
    if isinstance(value.type, ir.PointerType):
        return builder.bitcast(value, element.as_pointer())
    return builder.inttoptr(value, element.as_pointer())


def element_pointer(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, element: ir.Type) -> ir.Value:
    """Return the pointer to element ``index``."""
    return builder.gep(as_pointer(builder, base, element), [index], inbounds=True)


def annotate(builder: ir.IRBuilder, instruction: ir.Instruction, pointer: types.Type) -> None:
    """Attach the alias metadata of a pointer's type to a load or store through it."""
    scope = getattr(pointer, "scope", None)
    if scope is None:
        return
    module = builder.module
    if module not in _SCOPES:
        _SCOPES[module] = AliasScopes(module)
    _SCOPES[module].attach(instruction, scope)


def ask_for(builder: ir.IRBuilder, address: ir.Value, cache: int) -> None:
    """Ask for the line at an address, which is an integer: wherever it lies, to read it later."""
    word = ir.IntType(32)
    type = ir.FunctionType(ir.VoidType(), [BYTE_POINTER, word, word, word])
    function = cgutils.get_or_insert_function(builder.module, type, "llvm.prefetch.p0i8")
    builder.call(function, [builder.inttoptr(address, BYTE_POINTER), word(0), word(cache), word(1)])
