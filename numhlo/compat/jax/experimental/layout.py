"""`jax.experimental.layout`: in which order an array's elements lie; kernels choose it themselves."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.lowering.ir.records import record

__all__ = ["Format", "Layout"]


@record(frozen=True)
class Layout:
    """An order of axes, the one that varies least first.

    Attributes
    ----------
    major_to_minor : tuple of int
    """

    major_to_minor: tuple[int, ...]


@record(frozen=True)
class Format:
    """A layout, and where the array is.

    Attributes
    ----------
    layout : Layout or None
    sharding : Sharding or None
    """

    layout: Any = None
    sharding: Any = None


__getattr__ = _refusing(__name__)
