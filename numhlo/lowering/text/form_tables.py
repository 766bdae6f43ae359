"""The tables of pretty forms, keyed by op: how to print one, how to parse one; and of ops that are others' spellings.

An op that is in neither table has the generic form only, which is derived from its `Primitive` record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.rule_table import RuleTable

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

PrintRule = Callable[["Printer", Op], None]
"""Writes an op from its name on: everything after ``%0 =``."""

ParseRule = Callable[["Parser", Primitive], Op]
"""Reads an op from behind its name to its end, location excluded."""

PRINT: RuleTable[PrintRule] = RuleTable("print", "numhlo/lowering/text")
PARSE: RuleTable[ParseRule] = RuleTable("parse", "numhlo/lowering/text")

TranslateRule = Callable[["Parser"], Sequence[Value]]
"""Reads an op from its name to its end, location excluded, appends ops of StableHLO, and returns its results."""

TRANSLATIONS: dict[str, TranslateRule] = {}
"""Ops of other dialects by the token that they begin with; no such op is in a program that was read."""
