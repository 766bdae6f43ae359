"""The keys that paths to the leaves of a pytree are made of, and their spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir.records import record


@record(frozen=True, slots=True)
class SequenceKey:
    """The place of a child in a list or tuple.

    Parameters
    ----------
    idx : int

    Examples
    --------
    >>> str(SequenceKey(0))
    '[0]'
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


@record(frozen=True, slots=True)
class DictKey:
    """The key of a child in a dict.

    Parameters
    ----------
    key : hashable

    Examples
    --------
    >>> str(DictKey("w"))
    "['w']"
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@record(frozen=True, slots=True)
class GetAttrKey:
    """The name of a child that is an attribute.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> str(GetAttrKey("weights"))
    '.weights'
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@record(frozen=True, slots=True)
class FlattenedIndexKey:
    """The place of a child in a container that does not name its children.

    Parameters
    ----------
    key : int

    Examples
    --------
    >>> str(FlattenedIndexKey(1))
    '[<flat index 1>]'
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


Path = tuple[Any, ...]


def plain(key: Any) -> Any:
    """Return a key's index, name or dict key without decoration; other objects as they are."""
    match key:
        case SequenceKey(idx):
            return idx
        case DictKey(inner) | FlattenedIndexKey(inner):
            return inner
        case GetAttrKey(name):
            return name
        case _:
            return key


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """Return a path's spelling.

    Parameters
    ----------
    keys : sequence
        A path, such as `flatten_with_path` gives.
    simple : bool, optional
        Names and numbers alone, without brackets and dots.
    separator : str, optional
        Between keys.

    Returns
    -------
    str

    Examples
    --------
    >>> keystr((DictKey("w"), SequenceKey(0)))
    "['w'][0]"
    >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
    'w/0'
    """
    return separator.join(str(plain(k)) if simple else str(k) for k in keys)
