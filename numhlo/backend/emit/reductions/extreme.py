"""Tells argmax and argmin among the bodies of reductions, by what they do, and what else their values answer.

A body that compares its arguments and does nothing else with them is known from its results for every way in which
values can compare: a table of few rows. So it does not matter how an exporter has spelled it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.backend.emit.expressions import Graph, Position
from numhlo.backend.emit.nest import Axis
from numhlo.backend.emit.registers import REGISTERS, Register, literal
from numhlo.lowering.interpreter import BoundRegion, Plan, Plans, free_values
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import BOOL, INTEGERS
from numhlo.lowering.ops import comparison, elementwise

COMPARING = frozenset({comparison.COMPARE, comparison.SELECT, elementwise.AND, elementwise.OR, elementwise.NOT})
"""Ops that make nothing of values but truths, and choices among them."""

SEARCHED = frozenset(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)) | {"f32", "f64", "bool"}
"""Register types of values that a primitive searches."""


def extreme_of(region: Region, *, value_matters: bool) -> str:
    """Return ``maximum`` or ``minimum`` where a body finds the first greatest or least value, else an empty string.

    Parameters
    ----------
    region : Region
        The body of a reduction of values and their places, which rise: all places on its left side come before those
        on its right side.
    value_matters : bool
        Whether somebody wants the value itself; else it may be either of two zeros, as in JAX's programs.
    """
    if len(region.arguments) != 4 or not all(_compares(op) for op in region.ops) or free_values(region):
        return ""
    value, place = (v.tensor.dtype for v in region.arguments[:2])
    if place not in INTEGERS or value.kind == "c":
        return ""
    lhs, rhs = _pairs(value)
    places = np.zeros(lhs.shape, place), np.ones(rhs.shape, place)
    with np.errstate(all="ignore"):
        found = BoundRegion(Plan(region, Plans()), [])(lhs, places[0], rhs, places[1])
        ways = (("maximum", lhs > rhs), ("minimum", lhs < rhs))
        ties = (lhs == rhs) | (lhs != lhs)
    for name, best in ways:
        left = best | ties
        wanted = np.where(left, lhs, rhs), np.where(left, *places)
        if _same(found[1], wanted[1]) and (_same(found[0], wanted[0]) or not value_matters):
            return name
    return ""


def _compares(op: Op) -> bool:
    return op.definition in COMPARING and op.attributes.get("compare_type") != "TOTALORDER"


def _pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of values that compare in every way."""
    if dtype in INTEGERS or dtype == BOOL:
        samples = np.array([0, 1]).astype(dtype)
    else:
        samples = np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan]).astype(dtype)
    return np.repeat(samples, len(samples)), np.tile(samples, len(samples))


def _same(found: np.ndarray, wanted: np.ndarray) -> bool:
    return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


def rises(expressions: Graph, node: int, inner: Sequence[Axis]) -> bool:
    """Return whether a node's values are places along the only reduced axis."""
    position = expressions.nodes[node]
    if not isinstance(position, Position) or len(inner) != 1 or position.access.starts:
        return False
    return position.access.strides[inner[0].dims[-1]] > 0 and position.register.bits >= 32


@record(frozen=True, slots=True)
class FoundValue:
    """A maximum or minimum of elements that a search for the first such element finds anyway.

    Zeros alone tell them apart: the search finds the first zero, the maximum is 0.0 if any is that. The maximum has a
    minus sign if all elements have one, the minimum if any has, whatever they are: so signs are all that is carried
    beside the search. That of NaN does not matter.

    Attributes
    ----------
    name : str
        ``maximum`` or ``minimum``.
    search : int
        The number of the reduction that searches.
    register : Register
        Of the elements.
    """

    name: str
    search: int
    register: Register

    @property
    def carried(self) -> list[Register]:
        """Return the types of what is carried: signs of floats, as words of their width."""
        if self.register.kind != "f":
            return []
        return [REGISTERS[np.dtype(np.int64 if self.register.name == "f64" else np.int32)]]

    @property
    def first(self) -> list[str]:
        """Return what is carried before the first element."""
        return [f"{word.convert}({-1 if self.name == 'maximum' else 0})" for word in self.carried]

    def signs(self, value: str) -> list[str]:
        """Return what is carried of one element."""
        return [f"bits_of_{self.register.name}({value})" for _ in self.carried]

    def join(self, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        """Return what is carried of two parts."""
        sign = "&" if self.name == "maximum" else "|"
        return [f"{w.convert}({a} {sign} {b})" for w, a, b in zip(self.carried, lhs, rhs, strict=True)]

    def value(self, found: str, signs: Sequence[str]) -> str:
        """Return the maximum or minimum, given the value that the search has found."""
        name = self.register.name
        return f"copy_sign({found}, {name}_from_bits({signs[0]}))" if signs else found


def better(name: str, register: Register, lhs: str, rhs: str) -> str:
    """Return the test whether a later element takes the place of the best one, where there are no NaNs.

    Examples
    --------
    >>> better("minimum", REGISTERS[np.dtype("float32")], "a", "b")
    'b < a'
    """
    if register.kind == "b":
        return f"{rhs} & ({lhs} ^ True)" if name == "maximum" else f"{lhs} & ({rhs} ^ True)"
    return f"{rhs} {'>' if name == 'maximum' else '<'} {lhs}"


def no_worse(name: str, register: Register, lhs: str, rhs: str) -> str:
    """Return the test whether an element stays the best one when a later one comes: a NaN stays, and so does an equal.

    Examples
    --------
    >>> no_worse("minimum", REGISTERS[np.dtype("int32")], "a", "b")
    'a <= b'
    """
    greatest = name == "maximum"
    if register.kind == "b":
        return f"{lhs} | ({rhs} ^ True)" if greatest else f"{rhs} | ({lhs} ^ True)"
    test = f"{lhs} {'>=' if greatest else '<='} {rhs}"
    return f"({test}) | ({lhs} != {lhs})" if register.kind == "f" else test


def worst(name: str, register: Register) -> str:
    """Return the text of a value that no other one is worse than."""
    greatest = name == "maximum"
    if register.kind == "f":
        return literal(np.float64(-np.inf if greatest else np.inf), register)
    if register.kind == "b":
        return str(not greatest)
    least = -(1 << (register.bits - 1)) if register.kind == "i" else 0
    most = (1 << (register.bits - (register.kind == "i"))) - 1
    return f"{register.convert}({least if greatest else most})"
