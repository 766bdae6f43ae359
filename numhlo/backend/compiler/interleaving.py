"""Loops that take two vectors at a time: what one waits for, the other computes.

Polynomials are long chains of operations, and a processor looks only so far ahead. LLVM takes several vectors at a time
in short loops alone, so the one loop of a kernel that evaluates polynomials says that it wants to. Loops within loops
don't: their rows may be as short as two vectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llvmlite import ir

VECTORS = 2
"""How many at a time. With four, erf gains another eighth, and logistic and exp lose a twentieth."""


CROWDED = frozenset({"atan_f64", "atan2_f64"})
"""Functions whose twenty coefficients leave no registers for a second vector: with a square root it costs a quarter."""


def gains_by_interleaving(callees: Iterable[Any]) -> bool:
    """Return whether a kernel that calls these evaluates polynomials that leave registers for a second vector."""
    called = list(callees)
    return evaluates_polynomials(called) and CROWDED.isdisjoint(getattr(callee, "__name__", "") for callee in called)


def evaluates_polynomials(callees: Iterable[Any]) -> bool:
    """Return whether some of the callees are functions of `numhlo.backend.vector_math`."""
    modules = [getattr(callee, "__module__", None) or "" for callee in callees]
    return any(module.startswith("numhlo.backend.vector_math") for module in modules)


def interleave(module: ir.Module) -> None:
    """Let the loop of a module's functions, where it is the only one, take several vectors at a time."""
    found = [branch for function in module.functions for branch in _branches_back(function)]
    if len(found) != 1:
        return
    wish = module.add_metadata(["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), VECTORS)])
    loop = module.add_metadata(["numhlo.loop"])
    loop.operands = (loop, wish)  # what names a loop begins with itself
    found[0].set_metadata("llvm.loop", loop)


def _branches_back(function: ir.Function) -> list[ir.Instruction]:
    """Return what ends blocks that lead back to one on the way to them."""
    found: list[ir.Instruction] = []
    left: set[ir.Block] = set()
    way: dict[ir.Block, list[ir.Block]] = {block: _following(block) for block in function.blocks[:1]}
    while way:
        block = next(reversed(way))
        if not way[block]:
            way.pop(block)
            left.add(block)
            continue
        following = way[block].pop()
        if following in way:
            found.append(block.terminator)
        elif following not in left:
            way[following] = _following(following)
    return found


def _following(block: ir.Block) -> list[ir.Block]:
    return [operand for operand in block.terminator.operands if isinstance(operand, ir.Block)]
