"""The tables of the families: how an opcode is read, and how an op is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numhlo.lowering.hlo.attributes import COMMON, KINDS
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.rule_table import RuleTable

if TYPE_CHECKING:
    from numhlo.lowering.hlo.translator import Translator
    from numhlo.lowering.hlo.writer import Writer

Bundle = Any
"""What an instruction returns: a `Value`, or a tuple of bundles, which is a tuple of HLO."""

ReadRule = Callable[["Translator", Instruction, Sequence[Bundle]], Bundle]
"""``rule(translator, instruction, operands) -> result``: appends ops that mean what the instruction does."""

WriteRule = Callable[["Writer", Op], None]
"""Writes the instructions that mean what an op does, and names its results."""


@record(frozen=True, slots=True)
class Reading:
    """How an opcode is read: its rule, the attributes that it may have, and those that it needs."""

    rule: ReadRule
    attributes: frozenset[str]
    needed: frozenset[str]


READ: dict[str, Reading] = {}
"""By opcode."""

PHASES: dict[str, ReadRule] = {}
"""Rules of opcodes that have ``-start``, ``-update`` or ``-done`` behind another one, by that word."""


def find_reading(opcode: str) -> Reading | None:
    """Return how an opcode is read, be it one that begins or ends another; None where there is no rule for it."""
    found = READ.get(opcode)
    if found is not None:
        return found
    whole, _, phase = opcode.rpartition("-")
    if whole not in READ or phase not in PHASES or whole == "constant":
        return None
    needed = READ[whole].needed if phase == "start" else frozenset[str]()
    return Reading(PHASES[phase], READ[whole].attributes, needed)


WRITE: RuleTable[WriteRule] = RuleTable("write", "numhlo/lowering/hlo")


def reads(*opcodes: str, needs: str = "", may: str = "") -> Callable[[ReadRule], ReadRule]:
    """Return a decorator that makes a function the rule of opcodes, with these attributes beside the common ones."""
    needed = frozenset(needs.split())
    allowed = needed | frozenset(may.split())
    assert allowed <= KINDS.keys(), allowed - KINDS.keys()

    def add(rule: ReadRule) -> ReadRule:
        for opcode in opcodes:
            assert opcode not in READ, opcode
            READ[opcode] = Reading(rule, allowed | COMMON, needed)
        return rule

    return add


def leaves(bundle: Bundle) -> Iterator[Value]:
    """Yield the values of a bundle, tuples flat.

    Examples
    --------
    >>> list(leaves((1, (2, ()), 3)))
    [1, 2, 3]
    """
    if isinstance(bundle, tuple):
        for item in bundle:
            yield from leaves(item)
    else:
        yield bundle
