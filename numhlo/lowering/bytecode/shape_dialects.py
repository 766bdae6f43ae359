"""Ops of the dialects arith, tensor and shape in bytecode: they become ops of StableHLO, as those of text do.

What they mean is said in `numhlo.lowering.text.shape_meanings`; here stands what it asks of the parser that reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from numhlo.lowering.bytecode.cursor import MalformedError
from numhlo.lowering.bytecode.operations import RawOp
from numhlo.lowering.ir import UNKNOWN, Location, Op, TensorType, Type, Value
from numhlo.lowering.text.dense_parser import DenseError, parse_dense_body
from numhlo.lowering.text.form_tables import TRANSLATIONS
from numhlo.lowering.text.parser import Parser
from numhlo.lowering.text.shape_forms import apply_meaning, cast_all
from numhlo.lowering.text.shape_meanings import WITNESS, Meaning

ASSUMING, YIELD = "shape.assuming", "shape.assuming_yield"


def meaning_of(name: str) -> Meaning | None:
    """Return what an op means in ops of StableHLO, by its full name; None for ops that stand for themselves.

    Examples
    --------
    >>> meaning_of("stablehlo.add") is None, meaning_of("arith.addi") is None
    (True, False)
    """
    rule = TRANSLATIONS.get(f'"{name}"')
    found: Meaning | None = rule.keywords.get("meaning") if isinstance(rule, partial) else None
    return found


class Translator:
    """What meanings ask of a parser: where ops are appended, and how to complain.

    Attributes
    ----------
    ops : list of Op
        Those of the region that is being read.
    standing : set of Value
        Values that stand for others, whose types are spelled in another way.
    """

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.standing: set[Value] = set()

    def location(self, index: int) -> Location:
        """Return nothing: the op's location is set when its ops are there."""
        return UNKNOWN

    def complaint(self, what: str, index: int) -> MalformedError:
        """Return an error at the op's place in the file."""
        return MalformedError(what, "IR", index)

    def parse_elements(self, body: str, type: TensorType, index: int) -> np.ndarray:
        """Return the elements that a constant of index is kept as."""
        try:
            return parse_dense_body(body, type)
        except DenseError as error:
            raise self.complaint(error.what, index) from None

    def translate(
        self, name: str, raw: RawOp, meaning: Meaning, operands: list[Value], attributes: Mapping[str, Any],
        types: list[Type],
    ) -> list[Value]:  # fmt: skip
        """Append what an op stands for, and return the values that it makes."""
        return apply_meaning(cast("Parser", self), raw.place, name, meaning, (operands, attributes, types))

    def assume(self, raw: RawOp, witnesses: Sequence[Value], values: Sequence[Value], types: list[Type]) -> list[Value]:
        """Return what a region of ``shape.assuming`` yields."""
        if [x.type for x in witnesses] != [WITNESS] or len(values) != len(types):
            raise self.complaint("shape.assuming takes a witness, and yields what it declares", raw.place)
        return cast_all(cast("Parser", self), raw.place, values, types)
