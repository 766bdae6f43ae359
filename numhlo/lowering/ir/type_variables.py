"""`TypeVar` with a default, which Python has from 3.13 on: type checkers alone need it, and importing it takes 3 ms."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

__all__ = ["TypeVar"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:

    def TypeVar(name: str, *, default: Any) -> typing.TypeVar:  # noqa: N802 - the standard library's name
        """Return a type variable; what it is by default is nothing that runs.

        Examples
        --------
        >>> TypeVar("T", default=int)
        ~T
        """
        return typing.TypeVar(name)
