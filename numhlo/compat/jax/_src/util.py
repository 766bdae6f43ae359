"""`jax._src.util`: small functions on sequences, which libraries import."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from numhlo.compat.jax.api_util import safe_map

__all__ = [
    "cache", "concatenate", "foreach", "merge_lists", "partition_list", "safe_map", "safe_zip", "split_list",
    "unzip2", "unzip3", "weakref_lru_cache", "wraps",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def safe_zip(*sequences: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return tuples of items of sequences of one length.

    Examples
    --------
    >>> safe_zip([1, 2], "ab")
    [(1, 'a'), (2, 'b')]
    """
    return list(zip(*sequences, strict=True))


def foreach(function: Callable[..., Any], *sequences: Iterable[Any]) -> None:
    """Call a function for its effects on items of sequences of one length."""
    for items in zip(*sequences, strict=True):
        function(*items)


def unzip2(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the first and the second items of pairs.

    Examples
    --------
    >>> unzip2([(1, 2), (3, 4)])
    ((1, 3), (2, 4))
    """
    found = list(pairs)
    return tuple(x for x, _ in found), tuple(y for _, y in found)


def unzip3(triples: Iterable[tuple[Any, Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the first, second and third items of triples.

    Examples
    --------
    >>> unzip3([(1, 2, 3)])
    ((1,), (2,), (3,))
    """
    found = list(triples)
    return tuple(x for x, _, _ in found), tuple(y for _, y, _ in found), tuple(z for _, _, z in found)


def split_list(items: Sequence[Any], lengths: Sequence[int]) -> list[list[Any]]:
    """Return parts of a list of given lengths, and the rest.

    Examples
    --------
    >>> split_list([1, 2, 3], [1])
    [[1], [2, 3]]
    """
    rest, parts = list(items), []
    for length in lengths:
        parts.append(rest[:length])
        rest = rest[length:]
    return [*parts, rest]


def partition_list(flags: Sequence[bool], items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the items whose flag is False, and the others.

    Examples
    --------
    >>> partition_list([True, False], [1, 2])
    ([2], [1])
    """
    parts: tuple[list[Any], list[Any]] = [], []
    for flag, item in zip(flags, items, strict=True):
        parts[bool(flag)].append(item)
    return parts


def merge_lists(flags: Sequence[bool], first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Return items of two lists in the order of flags, of the second where they are True.

    Examples
    --------
    >>> merge_lists([True, False], [2], [1])
    [1, 2]
    """
    parts = iter(first), iter(second)
    return [next(parts[bool(flag)]) for flag in flags]


def concatenate(lists: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the items of all lists in one.

    Examples
    --------
    >>> concatenate([[1], [2, 3]])
    [1, 2, 3]
    """
    return [item for items in lists for item in items]


def wraps(wrapped: Any, namestr: str | None = None, docstr: str | None = None, **kwargs: Any) -> Callable[[F], F]:
    """Return a decorator that gives a function the name and the docstring of another."""

    def decorate(function: F) -> F:
        name = getattr(wrapped, "__name__", "<unnamed function>")
        function.__name__ = name if namestr is None else namestr.format(fun=name)
        function.__doc__ = getattr(wrapped, "__doc__", None) if docstr is None else docstr
        function.__wrapped__ = wrapped  # type: ignore[attr-defined]
        return function

    return decorate


def cache(max_size: int | None = 4096, **options: Any) -> Callable[[F], Any]:
    """Return a decorator that keeps a function's results."""
    return functools.lru_cache(max_size)


def weakref_lru_cache(call: F, maxsize: int | None = 2048, **options: Any) -> Any:
    """Return a function whose results are kept."""
    return functools.lru_cache(maxsize)(call)
