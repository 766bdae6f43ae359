"""What a benchmark program is: inputs by size, and the same computation written for each library.

A version is made by a function that gets the library's module, so that reading a program imports nothing but NumPy, and
a process that measures one library's start does not pay for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

LIBRARIES = ("numhlo", "jax", "numba", "numba_serial", "numpy")
"""What is compared, in the order of the columns. The names are those of the modules to import, but for one:
``numba_serial`` is Numba's version compiled without threads."""

SIZES = ("tiny", "small", "large", "other")
"""Sizes that every program knows: for tests, for quick looks, for throughput, and near ``small`` for a new shape."""

Version = Callable[[ModuleType], Callable[..., Any]]


@dataclass(frozen=True)
class Program:
    """One computation, written once for each library.

    Attributes
    ----------
    name : str
    sizes : mapping from str to object
        What ``inputs`` gets for each of `SIZES`.
    inputs : callable
        Makes the arguments: ``inputs(size, rng)``, a tuple of arrays.
    versions : mapping from str to callable
        By library: a function from the library's module to the function that is timed.
    tolerance : float
        Relative to the largest number of a result, how far versions may differ.
    note : str
        What the reader of a table must know.
    """

    name: str
    sizes: Mapping[str, Any]
    inputs: Callable[[Any, np.random.Generator], tuple[Any, ...]]
    versions: Mapping[str, Version] = field(repr=False)
    tolerance: float = 1e-10
    note: str = ""

    def arguments(self, size: str, seed: int = 0) -> tuple[Any, ...]:
        """Return fresh arguments of a size, the same ones every time."""
        return self.inputs(self.sizes[size], np.random.default_rng(seed))


def leaves(result: Any) -> list[np.ndarray]:
    """Return a result's arrays, those in tuples and lists too, as NumPy arrays."""
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in leaves(part)]
    return [np.asarray(result)]


def difference(result: Any, expected: Any) -> float:
    """Return the largest difference of two results, relative to the largest number expected in the same array.

    Infinite where shapes or dtype kinds differ, or one is finite where the other is not.
    """
    found, wanted = leaves(result), leaves(expected)
    if len(found) != len(wanted):
        return np.inf
    return max((_array_difference(a, b) for a, b in zip(found, wanted, strict=True)), default=0.0)


def _array_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    if found.shape != wanted.shape or found.dtype.kind != wanted.dtype.kind:
        return np.inf
    if not wanted.size:
        return 0.0
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.isfinite(a), finite) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    return float(np.abs(a[finite] - b[finite]).max() / max(float(np.abs(b[finite]).max()), np.finfo(float).tiny))


def versions(numhlo: Version, jax: Version, numba: Version, numpy: Version) -> dict[str, Version]:
    """Return the versions by library, none forgotten."""
    return dict(zip(LIBRARIES, (numhlo, jax, numba, numba, numpy), strict=True))


def select(programs: Sequence[Program], only: Sequence[str]) -> list[Program]:
    """Return the programs whose name begins with one of the given names; all without names.

    Raises
    ------
    SystemExit
        If a name fits no program.
    """
    for name in only:
        if not any(p.name.startswith(name) for p in programs):
            raise SystemExit(f"no program {name!r}; there are {', '.join(p.name for p in programs)}")
    return [p for p in programs if not only or p.name.startswith(tuple(only))]
