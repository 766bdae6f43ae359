"""What the Array API standard lets a program ask about a namespace: devices, dtypes, capabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

DTYPES: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
"""The standard's dtypes by kind."""

GROUPS: dict[str, tuple[str, ...]] = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}
"""The standard's names for several kinds together."""


class NamespaceInfo:
    """What ``__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the namespace can do; data-dependent shapes work outside `numhlo.jit` only."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device of new arrays."""
        return "cpu"

    def devices(self) -> list[str]:
        """Return all devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype]:
        """Return the dtypes of arrays made without one."""
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype]:
        """Return the standard's dtypes, of one kind or several.

        Raises
        ------
        ArgumentError
            If the standard has no such kind.
        """
        if isinstance(kind, tuple):
            return {name: dtype for k in kind for name, dtype in self.dtypes(kind=k).items()}
        kinds = tuple(DTYPES) if kind is None else GROUPS.get(kind, (kind,))
        if not set(kinds) <= set(DTYPES):
            raise ArgumentError(
                f"dtypes(kind={kind!r})", where=capture_location(), fix=f"use one of {', '.join([*DTYPES, *GROUPS])}"
            )
        return {name: np.dtype(name) for k in kinds for name in DTYPES[k]}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807 - the standard's name
    """Return an object that answers questions about this namespace.

    Examples
    --------
    >>> __array_namespace_info__().devices()
    ['cpu']
    """
    return NamespaceInfo()
