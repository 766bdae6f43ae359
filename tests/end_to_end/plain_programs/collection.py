"""How plain programs are collected: a function as somebody wrote it for NumPy, and what it is called with.

``@program(...)`` notes a function with makers of its arguments: each takes a random generator. What needs a hint, such as
an argument that must be static, states it; what is refused states the message that a person gets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Maker = Callable[[np.random.Generator], Any]


class Program(NamedTuple):
    """A program and its arguments.

    Attributes
    ----------
    function : callable
        Takes and returns arrays, numbers, or containers of them; runs under NumPy, too.
    makers : tuple of callable
        One for each argument.
    kind : str
        What Python or NumPy it shows, for the table of the documentation.
    static : tuple of str
        Parameters that must be static: the hint that the program needs.
    refused : str
        A regular expression of the message, where the program can't be traced; empty where it runs.
    """

    function: Callable[..., Any]
    makers: tuple[Maker, ...]
    kind: str
    static: tuple[str, ...] = ()
    refused: str = ""

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.function.__name__

    def arguments(self, seed: int) -> list[Any]:
        """Return new arguments; equal ones for equal seeds."""
        rng = np.random.default_rng([seed, len(self.name)])
        return [make(rng) for make in self.makers]


PROGRAMS: list[Program] = []


def program(
    *makers: Maker, kind: str, static: tuple[str, ...] = (), refused: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that collects a program and leaves it as it is."""

    def collect(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, makers, kind, static, refused))
        return function

    return collect


def normal(*shape: int) -> Maker:
    """Return a maker of normal numbers."""
    return lambda rng: rng.normal(size=shape) if shape else float(rng.normal())


def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Maker:
    """Return a maker of uniform numbers."""
    return lambda rng: rng.uniform(low, high, size=shape) if shape else float(rng.uniform(low, high))


def integers(*shape: int, low: int = 0, high: int = 10) -> Maker:
    """Return a maker of integers from ``low`` to ``high - 1``."""
    return lambda rng: rng.integers(low, high, size=shape) if shape else int(rng.integers(low, high))


def always(value: Any) -> Maker:
    """Return a maker of one value, a copy of it where that is an array."""
    return lambda rng: value.copy() if isinstance(value, np.ndarray) else value
