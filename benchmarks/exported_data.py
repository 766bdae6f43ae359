"""What exported programs are made from: arguments, and the type of what makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

F32 = np.float32
Made = tuple[Callable[..., Any], tuple[Any, ...]]
"""A JAX function and its arguments."""


def normal(*shape: int, seed: int = 0, dtype: Any = F32) -> np.ndarray:
    """Return normal numbers, the same ones at each call."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)
