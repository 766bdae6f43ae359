"""Pairs that begin and end an instruction, made one: what begins does all, what ends returns the result.

Any opcode may stand with ``-start`` and ``-done`` behind it; ``async-start`` names a computation instead. What begins
returns its operands, the result and a state; opcodes that had such pairs before return something of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.record import Instruction, Shape
from numhlo.lowering.hlo.tables import PHASES, READ, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, rebuilt

GATHERED = 1
"""Where a pair's result is among what begins returns."""


@reads("async-start", needs="calls", may="async_execution_thread")
def read_async_start(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Do what the computation does."""
    return _begun(t, i, operands, t.inline(i, i.attributes["calls"], operands))


@reads("async-update", may="calls async_execution_thread")
def read_async_update(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the operand: it is done already."""
    return _state(t, i, operands)


@reads("async-done", may="calls async_execution_thread")
def read_async_done(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the result."""
    return _result(t, i, operands)


@reads("all-reduce-done", "all-gather-done", "collective-permute-done", may="channel_id")
def read_collective_done(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the result: of an all-reduce what its start returns, of others its second element."""
    if i.opcode != "all-reduce-done":
        return _result(t, i, operands)
    if len(operands) != 1:
        raise t.complaint(i, "all-reduce-done takes what all-reduce-start returns")
    return operands[0]


@reads("copy-start", may="cross_program_prefetch_index is_cross_program_prefetch")
def read_copy_start(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the copy, the operand and a state."""
    if len(operands) != 1:
        raise t.complaint(i, "copy-start takes one operand")
    elements = t.shape(i).elements
    states = [t.state(i, element.type) for element in elements[2:3]]
    return (operands[0], operands[0], *states)


@reads("copy-done")
def read_copy_done(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the copy."""
    return _state(t, i, operands)[0]


def read_start(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Do the instruction that an opcode with ``-start`` begins."""
    opcode = i.opcode.removesuffix("-start")
    shape = t.shape(i)
    inner = shape if opcode == "all-reduce" else _part(t, i, shape)
    plain = Instruction(i.name, opcode, inner, i.place, i.location, i.operands, i.attributes)
    result = READ[opcode].rule(t, plain, operands)
    return result if opcode == "all-reduce" else _begun(t, i, operands, result)


def _part(t: Translator, i: Instruction, shape: Shape) -> Shape:
    if len(shape.elements) <= GATHERED:
        raise t.complaint(i, f"{i.opcode} returns a tuple of operands, result and state")
    return shape.elements[GATHERED]


def _begun(t: Translator, i: Instruction, operands: Sequence[Bundle], result: Bundle) -> Bundle:
    """Return what begins returns: operands, result, and a state for each element that is left of its type."""
    shape = t.shape(i)
    _part(t, i, shape)
    is_single = len(operands) == 1 and not shape.elements[0].elements and not isinstance(operands[0], tuple)
    states = [
        rebuilt(element, iter([t.state(i, type) for type in element.leaves()]))
        for element in shape.elements[GATHERED + 1 :]
    ]
    return (operands[0] if is_single else tuple(operands), result, *states)


def _state(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    if len(operands) != 1 or not isinstance(operands[0], tuple) or not operands[0]:
        raise t.complaint(i, f"{i.opcode} takes what begins it returns")
    return operands[0]


def _result(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    state = _state(t, i, operands)
    if len(state) <= GATHERED:
        raise t.complaint(i, f"{i.opcode} takes a tuple of operands, result and state")
    return state[GATHERED]


PHASES.update(start=read_start, update=read_async_update, done=read_async_done)
