"""What `precision=` takes: all means the same, since products are computed in their own dtype; the rest raises."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

NAMES = ("highest", "float32", "high", "bfloat16_3x", "tensorfloat32", "default", "bfloat16", "fastest")


def require_precision(precision: Any) -> None:
    """Refuse what names no precision.

    Parameters
    ----------
    precision : None, str, Precision, or a pair of them

    Raises
    ------
    ArgumentError
    """
    if isinstance(precision, tuple | list) and len(precision) == 2:
        for part in precision:
            require_precision(part)
        return
    is_text = isinstance(precision, str)
    is_algorithm = is_text and ("_" in precision and precision.isupper())
    if (is_text and precision.lower() not in NAMES and not is_algorithm) or isinstance(precision, int | float | tuple):
        raise ArgumentError(
            f"precision={precision!r}",
            where=capture_location(),
            why="Precision argument must be None, a lax.Precision, a pair of them, or a name",
            fix=f"use one of {', '.join(NAMES)}",
        )
