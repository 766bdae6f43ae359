"""The composite ``numhlo.isin``: which elements are among others, as NumPy's `isin` says; its decomposition searches.

Zeros of either sign are equal, and NaN is among nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir.types import EXTENSIONS
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.primitive import Arrays, RegionFunction


def evaluate_isin(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Let NumPy find them; narrow floats and integers, which it does not know, as wider ones."""
    x, tested = (a.astype(np.float32) if a.dtype in EXTENSIONS else a for a in arrays)
    return [np.isin(x, tested)]


ISIN = register(CompositeDefinition("numhlo.isin", evaluate_isin, 2, 1, "Which elements are among others."))
