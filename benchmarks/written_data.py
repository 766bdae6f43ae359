"""What programs that are written for JAX are made of: a name, the program, and its arguments.

A program takes the library, ``jax`` or what stands for it, and arguments. Next: `written_arrays` and `written_networks`
have the programs, `written_for_jax` runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Make = Callable[[np.random.Generator], Any]
"""Makes an argument: an array, or a tree of arrays."""


class Written(NamedTuple):
    """One program.

    Attributes
    ----------
    name : str
    compute : callable
        ``compute(library, *arguments)``.
    makes : tuple of callable
        What makes each argument.
    signs : bool
        Whether results are the same in both libraries; else they are compared by `numpy.abs`, as singular vectors are.
    """

    name: str
    compute: Callable[..., Any]
    makes: tuple[Make, ...]
    signs: bool = True

    def arguments(self) -> tuple[Any, ...]:
        """Return fresh arguments, the same ones every time."""
        rng = np.random.default_rng(0)
        return tuple(make(rng) for make in self.makes)


def program(
    into: list[Written], *makes: Make, signs: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds a program to a list, under the function's name."""

    def decorate(compute: Callable[..., Any]) -> Callable[..., Any]:
        into.append(Written(compute.__name__, compute, makes, signs))
        return compute

    return decorate


def single(*shape: int, scale: float = 1.0) -> Make:
    """Make normal numbers, float32."""
    return lambda rng: (scale * rng.normal(size=shape)).astype(np.float32)


def double(*shape: int, scale: float = 1.0) -> Make:
    """Make normal numbers, float64."""
    return lambda rng: scale * rng.normal(size=shape)


def positive(*shape: int) -> Make:
    """Make numbers between 0 and 1, float64."""
    return lambda rng: rng.random(shape)


def rising(size: int) -> Make:
    """Make sorted normal numbers, float64."""
    return lambda rng: np.sort(rng.normal(size=size))


def whole(below: int, *shape: int) -> Make:
    """Make integers from 0 on, int32."""
    return lambda rng: rng.integers(0, below, shape).astype(np.int32)


def regular(count: int, size: int) -> Make:
    """Make square matrices, float64, that are far from singular."""
    return lambda rng: size * np.eye(size) + rng.normal(size=(count, size, size))


def seed() -> Make:
    """Make the number that random keys are made from."""
    return lambda rng: np.uint32(3)


def tree(**makes: Make) -> Make:
    """Make a dictionary of arguments."""
    return lambda rng: {name: make(rng) for name, make in makes.items()}
