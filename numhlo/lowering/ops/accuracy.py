"""How exact a result must be: what ``result_accuracy`` asks for, and what the functions here are known to have.

The specification gives no numbers; the attribute is the official dialect's. A tolerance is met where the error
is at most ``atol + rtol * |x|``, or ``atol`` and ``ulps`` units in the last place, so one of the three suffices.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from numhlo.lowering.ir.types import COMPLEX, ELEMENT_TYPES

_FIELD = re.compile(r"(atol|rtol|ulps) = ([-+0-9.eE]+)", re.ASCII)
_MODE = re.compile(r"mode = (?:#\w+\.result_accuracy_mode<)?(\w+)")
F64 = ELEMENT_TYPES["f64"]
C128 = np.dtype(np.complex128)

ULPS_OF_DOUBLES = 4
"""Units in the last place within which functions of f64 are, as machine code and as NumPy has them."""

ULPS_OF_ROUNDED = 0.51
"""Of what is computed in f64 and rounded to another type: half a unit, and what the functions of f64 may add."""

BOUNDED = frozenset({"cosine", "logistic", "sine", "tanh"})
"""Functions whose results are at most 1, so that an absolute error can be promised."""

EXACT = frozenset({"sqrt"})
"""Functions that are rounded correctly in every type."""


class Requested(NamedTuple):
    """What an attribute asks for."""

    mode: str = "DEFAULT"
    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


def requested(attribute: object) -> Requested:
    """Return what a ``result_accuracy`` of StableHLO asks for.

    Examples
    --------
    >>> requested("#stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>")
    Requested(mode='TOLERANCE', atol=0.0, rtol=0.0, ulps=2)
    """
    text = str(attribute)
    mode = _MODE.search(text)
    if attribute is None or mode is None:
        return Requested()
    found = dict(_FIELD.findall(text))
    return Requested(mode[1], float(found.get("atol", 0)), float(found.get("rtol", 0)), int(found.get("ulps", 0)))


def is_rounded_once(dtype: np.dtype) -> bool:
    """Return whether a type is computed in f64, and rounded, where an accuracy is asked for."""
    return dtype not in {F64, C128}


def ulps_of(name: str, dtype: np.dtype) -> float:
    """Return the bound of a function's error in units in the last place, computed as an accuracy asks for it."""
    if name in EXACT and dtype not in COMPLEX:
        return 0.5
    return ULPS_OF_ROUNDED if is_rounded_once(dtype) else ULPS_OF_DOUBLES


def is_met(name: str, dtype: np.dtype, wanted: Requested, digits: int) -> bool:
    """Return whether a tolerance is met.

    Parameters
    ----------
    name : str
        The op's.
    dtype : numpy.dtype
        Of floats.
    wanted : Requested
    digits : int
        Bits of the type's significands, the first one included.
    """
    ulps = ulps_of(name, dtype)
    if wanted.ulps >= ulps or wanted.rtol >= math.ldexp(ulps, 1 - digits):
        return True
    return name in BOUNDED and wanted.atol >= math.ldexp(ulps, 1 - digits)
