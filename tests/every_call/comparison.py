"""When two arrays agree: in all bits, NaN aside, or within a stated tolerance of the expected array's scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numhlo.lowering.ir.types import COMPLEX, FLOATS
from tests.end_to_end.agreement import difference

RELATIVE = {"float64": 1e-9, "float32": 2e-4, "float16": 5e-2, "bfloat16": 2e-1, "complex128": 1e-9, "complex64": 2e-4}
"""How far apart two engines may be, relative to the largest number of a result: they add up in other orders."""


@dataclass(frozen=True)
class Tolerance:
    """How far results may be from what is expected.

    Attributes
    ----------
    ulps : float
        Units in the last place that floats may be apart; 0 asks for the same bits, those of NaN aside.
    relative : mapping of str to float
        By name of the dtype, how far numbers may be apart beyond that, relative to the largest finite number expected.
    least : float
        What that largest number counts as at least.
    """

    ulps: float = 0.0
    relative: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0


EXACT = Tolerance()
CLOSE = Tolerance(relative=RELATIVE)


def compare(found: Any, expected: Any, tolerance: Tolerance = EXACT) -> str | None:
    """Return how two arrays differ, or None where they agree.

    Parameters
    ----------
    found, expected : array_like
        Scalars count as arrays without dimensions.
    tolerance : Tolerance, optional
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype.kind in "OSU":
        return None if found.shape == expected.shape and (found == expected).all() else f"{found!r}, not {expected!r}"
    if found.dtype not in FLOATS | COMPLEX or found.dtype != expected.dtype or found.shape != expected.shape:
        return difference(found, expected)
    text = difference(found, expected, tolerance.ulps)
    relative = tolerance.relative.get(found.dtype.name, 0.0)
    if text is None or not relative:
        return text
    far = _far(_wide(found), _wide(expected), relative, tolerance.least)
    if not far.any():
        return None
    place = tuple(int(k) for k in np.argwhere(far)[0])
    first = f"{found[place]!r} instead of {expected[place]!r}"
    return f"{int(far.sum())} of {far.size} are more than {relative:g} apart, first at {place}: {first}"


def _wide(array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(array.astype(np.complex128 if array.dtype in COMPLEX else np.float64))


def _far(found: np.ndarray, expected: np.ndarray, relative: float, least: float) -> np.ndarray:
    if found.dtype.kind == "c":
        finite = np.isfinite(expected)
        return np.where(finite, _far_parts(found, expected, relative, least), np.isfinite(found))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return ~same & _far_parts(found, expected, relative, least)


def _far_parts(found: np.ndarray, expected: np.ndarray, relative: float, least: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=least)
        return np.asarray(~(np.abs(found - expected) <= relative * scale))
