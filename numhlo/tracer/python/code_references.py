"""What a code object reads from outside: globals, closure cells and given parameters, with the attributes after them.

This file reads bytecode and nothing else; what the names stand for is looked up where it is used.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator, Sequence
from types import CellType, CodeType
from typing import Any, Literal

from numhlo.lowering.ir.records import record

ATTRIBUTE_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
GLOBAL_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
CELL_LOADS = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF"})
KEEPERS = ("STORE_", "COPY", "DUP_TOP", "SWAP", "ROT_", "GET_ITER", "BUILD_", "RETURN_", "YIELD_")
"""Instructions after which a loaded value can be used more than once, or who knows where."""


@record(frozen=True, slots=True)
class Reference:
    """One load of an outer name.

    Attributes
    ----------
    kind : str
        ``"global"``, ``"cell"`` (a variable of a function around this one) or ``"local"`` (a parameter).
    name : str
    links : tuple
        ``("attribute", name)`` and ``("item", constant)``, in order.
    once : bool
        The value goes straight into one operation or call.
    written : bool
        All that happens to the value is that an attribute or item of it is set.
    code : CodeType
        Where the load stands: the function itself, or one inside it.
    """

    kind: Literal["global", "cell", "local"]
    name: str
    links: tuple[tuple[str, Any], ...]
    once: bool
    written: bool
    code: CodeType


IGNORED = frozenset({"CACHE", "NOP", "PRECALL", "PUSH_NULL", "RESUME"})


@functools.lru_cache(maxsize=4096)
def references_of(code: CodeType) -> tuple[Reference, ...]:
    """Return what a function and the functions inside it read from outside, in order.

    A ``"local"`` reference is to a parameter that nothing rebinds.
    """
    body = _Body(code)
    count = code.co_argcount + code.co_kwonlyargcount
    fixed = frozenset(code.co_varnames[:count]) - body.rebound()
    return tuple(body.references({**dict.fromkeys(code.co_freevars, "cell"), **dict.fromkeys(fixed, "local")}))


@functools.lru_cache(maxsize=4096)
def rebound_names(code: CodeType) -> frozenset[str]:
    """Return the variables that a function or the functions inside it assign to or delete."""
    return _Body(code).rebound()


@functools.lru_cache(maxsize=4096)
def outer_names(code: CodeType) -> frozenset[str]:
    """Return the names of globals, attributes and imports in a function and the functions inside it.

    Examples
    --------
    >>> sorted(outer_names((lambda x: math.sqrt(x)).__code__))
    ['math', 'sqrt']
    """
    inner = [outer_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(code.co_names).union(*inner)


class _Body:
    """A code object and those inside it, disassembled once."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions = [i for i in dis.get_instructions(code) if i.opname not in IGNORED]
        self.inner = [_Body(c) for c in code.co_consts if isinstance(c, CodeType)]

    def rebound(self) -> frozenset[str]:
        """Return the names that are assigned to or deleted, here or inside."""
        found: set[str] = set()
        for i in self.instructions:
            if i.opname.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_")):
                found.update(i.argval if isinstance(i.argval, tuple) else (i.argval,))
        return frozenset(found).union(*[body.rebound() for body in self.inner])

    def references(self, scope: dict[str, Any]) -> Iterator[Reference]:
        """Yield the references; ``scope`` says what free variables and parameters are, by name."""
        instructions = self.instructions
        cells = frozenset((*self.code.co_freevars, *self.code.co_cellvars))
        for position, instruction in enumerate(instructions):
            if not instruction.opname.startswith("LOAD_"):
                continue
            names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            for k, name in enumerate(names):
                kind = _kind(instruction.opname, name, scope, cells)
                if kind is not None:
                    links, end = _links(instructions, position + 1) if k == len(names) - 1 else ((), position)
                    consumer = instructions[end].opname if end < len(instructions) else "RETURN_VALUE"
                    written = _is_written(instructions, end)
                    yield Reference(kind, name, links, not consumer.startswith(KEEPERS), written, self.code)
        for body in self.inner:
            own = set(body.code.co_varnames) | set(body.code.co_cellvars)
            yield from body.references({n: scope[n] for n in body.code.co_freevars if n in scope and n not in own})


def _is_written(instructions: Sequence[dis.Instruction], position: int) -> bool:
    """Return whether what was loaded is the target of an assignment: ``loaded.name = ...`` or ``loaded[key] = ...``."""
    names = [i.opname for i in instructions[position : position + 2]]
    return names[:1] in (["STORE_ATTR"], ["DELETE_ATTR"]) or (
        names[1:] in (["STORE_SUBSCR"], ["DELETE_SUBSCR"]) and names[0].startswith("LOAD_")
    )


def _kind(
    opname: str, name: Any, scope: dict[str, Any], cells: frozenset[str]
) -> Literal["global", "cell", "local"] | None:
    if opname in GLOBAL_LOADS:
        return "global"
    # From Python 3.13 on, LOAD_FAST of such a name hands the cell itself to a function that is being made.
    if opname in CELL_LOADS or (opname.startswith("LOAD_FAST") and name not in cells):
        found: Literal["global", "cell", "local"] | None = scope.get(name)
        return found
    return None


def _links(instructions: Sequence[dis.Instruction], position: int) -> tuple[tuple[tuple[str, Any], ...], int]:
    """Return the attribute and item loads that follow, and the position of the instruction after them."""
    links: list[tuple[str, Any]] = []
    while position < len(instructions):
        instruction = instructions[position]
        if instruction.opname in ATTRIBUTE_LOADS:
            links.append(("attribute", instruction.argval))
            position += 1
        elif _is_constant(instruction) and _is_subscript(instructions, position + 1):
            links.append(("item", instruction.argval))
            position += 2
        else:
            break
    return tuple(links), position


def _is_constant(instruction: dis.Instruction) -> bool:
    constant = instruction.opname in {"LOAD_CONST", "LOAD_SMALL_INT"}
    return constant and isinstance(instruction.argval, str | int)


def _is_subscript(instructions: Sequence[dis.Instruction], position: int) -> bool:
    if position >= len(instructions):
        return False
    instruction = instructions[position]
    return instruction.opname == "BINARY_SUBSCR" or (instruction.opname == "BINARY_OP" and instruction.argrepr == "[]")


@functools.lru_cache(maxsize=4096)
def indexes_own_tables(code: CodeType) -> bool:
    """Return whether a function, or one inside it, makes lists or has tuples of numbers, and indexes by variables."""
    if any(indexes_own_tables(c) for c in code.co_consts if isinstance(c, CodeType)):
        return True
    seen = [i for i in dis.get_instructions(code) if i.opname not in IGNORED]
    places = [k for k in range(len(seen)) if _is_subscript(seen, k)]
    by_variables = [k for k in places if not seen[k - 1].opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT"))]
    return bool(by_variables) and any(
        i.opname == "BUILD_LIST"
        or (i.opname == "LOAD_CONST" and isinstance(i.argval, tuple) and not _is_subscript(seen, k))
        for k, i in enumerate(seen, 1)
    )


_DECIDING = frozenset(
    number
    for name, number in dis.opmap.items()
    if ("JUMP" in name and "IF" in name) or name in {"FOR_ITER", "TO_BOOL", "UNARY_NOT"}
)


def decides(code: CodeType) -> bool:
    """Return whether code, or code inside it, has conditional jumps or loops.

    Examples
    --------
    >>> decides((lambda x: x if x else 1).__code__), decides((lambda x: x + 1).__code__)
    (True, False)
    """
    if not _DECIDING.isdisjoint(code.co_code[::2]):
        return True
    return any(decides(inner) for inner in code.co_consts if isinstance(inner, CodeType))


def content_of(cell: CellType) -> Any:
    """Return what a closure's cell holds; None for one that is still empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
