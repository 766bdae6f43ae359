"""What a kernel does with its buffers, found out from its IR: which it loads from, which it stores to.

This file knows what callees do with pointers and nothing of who writes kernels. A pointer of the IR knows its buffer;
plain addresses are followed to the pointers that they are made of. Next: `chunks` asks which elements are meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.callees import Access, access_of, looks_at_nothing, reads_result, subroutine_access
from numhlo.backend.kernels.expressions import BINARY
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.result_types import DefinedTypes
from numhlo.backend.kernels.spelling import spelling
from numhlo.backend.primitives.arithmetic import select
from numhlo.backend.primitives.convert import to_i64
from numhlo.backend.primitives.memory import address, integer_address
from numhlo.backend.primitives.native import call_fortran, call_function
from numhlo.backend.program import Kernel
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.records import record

Places: TypeAlias = Mapping[ir.Variable, frozenset[int]]
"""Which buffers, by their places in the kernel's order, variables that hold plain addresses may point into."""
NOWHERE: frozenset[int] = frozenset()
DERIVING = frozenset({*BINARY.values(), min, max, integer_address, select, to_i64})
"""Callees whose result points to where their operands do, if it is an address."""
LOAD, STORE = Access(reads=(0,)), Access(writes=(0,))


@record(slots=True)
class Effects:
    """What a kernel does with its buffers.

    Attributes
    ----------
    reads, writes : set of int
        Places of buffers in the kernel's order.
    given : set of int
        Places of buffers that a user's function gets, which writes its results and reads the rest: as arguments, or
        among addresses in memory.
    is_list : bool
        The kernel goes through a list of launches, which says what the buffers are.
    """

    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)
    is_list: bool = False


class Touch(NamedTuple):
    """One access: a load, store or call, which of its operands is the pointer, whether it writes; and the buffer."""

    node: ir.Load | ir.Store | ir.Call
    operand: int
    writes: bool
    place: int


@lru_cache(maxsize=1024)
def ir_of(kernel: Kernel) -> ir.Module:
    """Return a kernel's IR, as it was written.

    Raises
    ------
    UnreadableError
        If the kernel calls something that is no primitive, or passes a pointer to what takes none.
    """
    return read_kernel(kernel.name, kernel.source, DefinedTypes())


@lru_cache(maxsize=8192)
def effects_of(kernel: Kernel) -> Effects:
    r"""Return what a kernel does with its buffers.

    Raises
    ------
    UnreadableError, InternalError
        If the kernel calls something that is no primitive, or passes a pointer to what is not known to take one.

    Examples
    --------
    >>> found = effects_of(Kernel("copy",
    ...     "from numhlo.backend.primitives import *\n"
    ...     "def copy(ctx, bufs, dims, lo, hi):\n"
    ...     "    a = address(bufs, 0)\n"
    ...     "    b = address(bufs, 1)\n"
    ...     "    for k in range(lo, hi):\n"
    ...     "        store_f32(b, k, load_f32(a, k))\n"
    ... ))
    >>> found.reads, found.writes
    ({0}, {1})
    """
    module, effects = ir_of(kernel), Effects()
    places, context = places_of(module), module.entry.parameters[0]
    for node in accesses_in(module):
        if isinstance(node, ir.Call) and node.callee is address:
            effects.is_list |= node.type == ir.ANYWHERE
        elif isinstance(node, ir.Call) and node.callee is call_function and _reads(node.operands[1], context):
            effects.given |= NOWHERE.union(*[pointed_to(operand, places) for operand in node.operands])
        else:
            if isinstance(node, ir.Store):  # an address in memory is for a native function to find
                effects.given |= pointed_to(node.value, places)
            for touch in touches_of(node, places):
                (effects.writes if touch.writes else effects.reads).add(touch.place)
    return Effects(is_list=True) if effects.is_list else effects


def _reads(node: ir.Expression, variable: ir.Variable) -> bool:
    return isinstance(node, ir.Read) and node.variable is variable


def accesses_in(module: ir.Module) -> Iterator[ir.Load | ir.Store | ir.Call]:
    """Yield all that may look at memory."""
    for function in module.functions:
        for statement in ir.walk(function.body):
            if isinstance(statement, ir.Store):
                yield statement
            yield from (node for node in ir.expressions(statement) if isinstance(node, ir.Load | ir.Call))


def operands_of(node: ir.Load | ir.Store | ir.Call) -> tuple[ir.Expression, ...]:
    """Return the operands of an access; the pointers of loads and stores are first."""
    return ir.values_of(node) if isinstance(node, ir.Store) else ir.operands_of(node)


def touches_of(node: ir.Load | ir.Store | ir.Call, places: Places) -> list[Touch]:
    """Return the accesses that a load, a store or a call is."""
    if isinstance(node, ir.Call) and (isinstance(node.callee, ir.Function) or looks_at_nothing(node.callee)):
        return []
    targets = [pointed_to(operand, places) for operand in operands_of(node)]
    if not any(targets):
        return []
    pointers = tuple(number for number, target in enumerate(targets) if target)
    access = _access(node, pointers) if isinstance(node, ir.Call) else LOAD if isinstance(node, ir.Load) else STORE
    return [
        Touch(node, number, writes, place)
        for operands, writes in ((access.reads, False), (access.writes, True))
        for number in operands
        for place in sorted(targets[number])
    ]


def _access(call: ir.Call, pointers: tuple[int, ...]) -> Access:
    if call.callee is call_fortran:
        return subroutine_access(call.operands[0], pointers)
    if call.callee is call_function:
        return Access(pointers, pointers)
    access = access_of(call.callee)
    if access is not None:
        return Access((*access.reads, *access.writes), access.writes) if reads_result(call) else access
    if call.callee in DERIVING:
        return Access()
    name = spelling(call.callee)[1]
    raise InternalError(f"{name} gets a pointer in a kernel", fix="teach kernels.callees what it does with it")


def places_of(module: ir.Module) -> Places:
    """Return where the variables that hold plain addresses may point."""
    places: dict[ir.Variable, frozenset[int]] = {}
    if integer_address not in module.callees:
        return places
    assigned = [
        (statement.variable, statement.value)
        for function in module.functions
        for statement in ir.walk(function.body)
        if isinstance(statement, ir.Let | ir.Assign) and statement.variable.type == ir.INT64
    ]
    while True:
        before = dict(places)
        for variable, value in assigned:
            places[variable] = places.get(variable, NOWHERE) | pointed_to(value, places)
        if places == before:
            return places


def pointed_to(node: ir.Expression, places: Places) -> frozenset[int]:
    """Return the places of the buffers that an expression may point into."""
    if isinstance(node.type, ir.Pointer):
        return NOWHERE if node.type.buffer is None else frozenset({node.type.buffer})
    if isinstance(node, ir.Read):
        return places.get(node.variable, NOWHERE)
    derives = isinstance(node, ir.Conditional) or (isinstance(node, ir.Call) and node.callee in DERIVING)
    return NOWHERE.union(*[pointed_to(operand, places) for operand in ir.operands_of(node)] if derives else [])
