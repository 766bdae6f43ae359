"""The writer of a random NumPy source: its lines, the variables in scope, and random choices.

Each program is drawn with weights of its own for the kinds of statements, many of them zero: programs with few kinds
that occur often find more than programs with a little of everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

T = TypeVar("T")

FLOATS = ("float64", "float32")

INTEGERS_BELOW = 7
"""Integers in arrays are kept in 0 ... 6."""


class UnfitError(Exception):
    """The variables in scope do not allow a statement or an expression that was drawn."""


@dataclass(frozen=True)
class Variable:
    """A name in scope.

    Attributes
    ----------
    name : str
    shape : tuple of int
        Empty for a scalar.
    dtype : str
    rebinds : bool
        Whether a statement may bind the name to something else of its shape and dtype.
    bounds : tuple of int, optional
        The least and greatest value of a loop's index or of a counter.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    rebinds: bool = True
    bounds: tuple[int, int] | None = None

    @property
    def is_array(self) -> bool:
        return bool(self.shape)


@dataclass
class Writer:
    """A source as it is written.

    Attributes
    ----------
    random : Random
    traced : bool
        Whether `if` and `while` may depend on values of arrays.
    most_statements : int
        From how many statements on no loops and branches are begun.
    returned : list of Variable
        Variables of the types that all returns have; empty where there is one return.
    without : frozenset of str
        Kinds of statements that are left out.
    iterations : int
        How often the line that is written next runs in a call.
    loops : int
        How many loops are around it.
    """

    random: Random
    traced: bool
    most_statements: int
    returned: list[Variable] = field(default_factory=list)
    without: frozenset[str] = frozenset()
    lines: list[str] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    helpers: list[Helper] = field(default_factory=list)
    depth: int = 0
    iterations: int = 1
    loops: int = 0
    in_helper: bool = False
    statements: int = 0
    count: int = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, items: Sequence[T]) -> T:
        if not items:
            raise UnfitError
        return self.random.choice(items)

    def between(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def number(self, least: float = -0.9, most: float = 0.9) -> str:
        """Return a constant with few digits that are rarely a value of an array."""
        return f"{self.random.uniform(least, most):.4f}"

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def weight(self, kind: str) -> float:
        """Return the program's weight of a kind of statement or expression, drawn when it is first asked for."""
        if kind not in self.weights:
            self.weights[kind] = self.random.choice([0.0, 0.0, 0.3, 1.0, 1.0, 3.0])
        return self.weights[kind]

    def bind(self, variable: Variable) -> None:
        """Put a variable into scope, in the place of one of its name."""
        self.variables = [v for v in self.variables if v.name != variable.name]
        self.variables.append(variable)

    @contextmanager
    def block(self, *, keep: bool) -> Iterator[None]:
        """Indent; afterwards keep what was bound, or have the variables that there were."""
        before = self.variables.copy()
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if not keep:
                self.variables = before

    @contextmanager
    def repeated(self, times: int) -> Iterator[None]:
        """Count the lines of a loop's body as often as they run."""
        self.iterations *= times
        self.loops += 1
        try:
            yield
        finally:
            self.iterations //= times
            self.loops -= 1

    def arrays(self, dimensions: int | None = None, dtype: str | None = None) -> list[Variable]:
        return [
            v
            for v in self.variables
            if v.is_array and dimensions in (None, len(v.shape)) and dtype in (None, v.dtype) and v.bounds is None
        ]

    def array(self, dimensions: int | None = None, dtype: str | None = None) -> Variable:
        return self.choose(self.arrays(dimensions, dtype))

    def like(self, shape: tuple[int, ...], dtype: str | None = None, *, rebinds: bool = False) -> list[Variable]:
        return [
            v
            for v in self.variables
            if v.shape == shape and dtype in (None, v.dtype) and v.bounds is None and (v.rebinds or not rebinds)
        ]

    def indices(self) -> list[Variable]:
        return [v for v in self.variables if v.bounds is not None]


@dataclass(frozen=True)
class Helper:
    """A function inside the program.

    Attributes
    ----------
    name : str
    parameters : tuple of Variable
    result : Variable or None
        What it returns, by any name.
    """

    name: str
    parameters: tuple[Variable, ...]
    result: Variable | None
