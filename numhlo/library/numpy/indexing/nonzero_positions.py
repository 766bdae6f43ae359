"""``np.nonzero(mask)`` and ``np.where(mask)`` of a traced mask: where elements are whose number is not known.

Indexing by all of them is indexing by the mask. They are elements that a mask selects themselves, of the positions:
sums, differences and further indexing by them, as in ``y[i + 1] - y[i]``, are computed at every place of the mask.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import normalize_index
from numhlo.library.numpy.indexing.selected import Selected, Spread
from numhlo.library.numpy.joining import stack
from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.lowering.ops.indexing import BEYOND
from numhlo.tracer.building import Tracer, as_traced, asarray, convert, new_array, shape_of
from numhlo.tracer.building import operations as b


class Places(Selected):
    """The coordinates along one axis of the true elements of a mask.

    Parameters
    ----------
    values : Tracer
        Every element's coordinate.
    mask : Tracer
    spread : callable
    axis : int
    searched : str
        What was searched, for messages.
    """

    def __init__(self, values: Tracer, mask: Tracer, spread: Spread, axis: int, searched: str) -> None:
        super().__init__(values, mask, spread)
        self.axis = axis
        self.searched = searched

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs the number of elements."""
        raise DataDependentShapeError(
            f"nonzero of a traced array {self.searched}",
            where=where or capture_location(),
            why="the number of true elements is not known while tracing",
            fix="index by the mask itself (x[mask]), use where(mask, x, y), or write numhlo.numpy.nonzero(..., size=n)",
        )

    def __getitem__(self, index: Any) -> Any:
        """Return one coordinate; their axes stay as they are."""
        if isinstance(index, tuple) and any(entry is None for entry in index):
            self.refuse()
        return super().__getitem__(index)


class Rows(Places):
    """The coordinates of the true elements of a mask, one row each.

    Parameters
    ----------
    places : tuple of Places
    """

    def __init__(self, places: tuple[Places, ...]) -> None:
        first = places[0]
        values = as_traced(stack([place.values for place in places], -1))
        super().__init__(values, first.mask, first.spread, -1, first.searched)
        self.places = places

    def __getitem__(self, index: Any) -> Any:
        """Return one row, or the coordinates along one axis."""
        if isinstance(index, tuple) and index[:1] == (slice(None),) and isinstance(index[-1], int) and len(index) == 2:
            return self.places[index[1]]
        return super().__getitem__(index)

    @property
    def T(self) -> tuple[Places, ...]:  # noqa: N802 - NumPy's name
        """Return the coordinates along each axis."""
        return self.places


def places_of(mask: Tracer, spread: Spread, searched: str) -> tuple[Places, ...]:
    """Return the coordinates of a mask's true elements, one array an axis."""
    kept = new_array(mask)
    coordinates = [as_traced(b.iota_along(kept.shape, axis)) for axis in range(kept.ndim)]
    return tuple(Places(x, kept, spread, axis, searched) for axis, x in enumerate(coordinates))


def has_selected(index: Any) -> bool:
    """Return whether elements of unknown number are among the entries of an index."""
    return any(isinstance(entry, Selected) for entry in (index if isinstance(index, tuple) else (index,)))


def with_masks(x: Tracer, index: Any) -> Any:
    """Return an index with the coordinates of a mask, one after the other and all of them, as that mask."""
    first = index[0] if isinstance(index, tuple) else index
    if isinstance(first, Places) and first.mask.shape != x.shape[: first.mask.ndim]:
        return index  # into an array of another shape
    entries = list(index) if isinstance(index, tuple) else [index]
    found: list[Any] = []
    while entries:
        first = entries[0]
        group = entries[: first.mask.ndim] if isinstance(first, Places) else []
        if _is_whole(group):
            found.append(group[0].mask)
            del entries[: len(group)]
        else:
            found.append(entries.pop(0))
    return found[0] if len(found) == 1 else tuple(found)


def _is_whole(group: list[Any]) -> bool:
    places = [place for place in group if isinstance(place, Places)]
    same = all(place.mask is places[0].mask and place.axis == axis for axis, place in enumerate(places))
    return bool(places) and same and len(places) == len(group) == places[0].mask.ndim


def get_at(x: Tracer, index: Any) -> Selected:
    """Return ``x[index]`` for an index with elements of unknown number: as many elements, of the same mask."""
    entries, chosen = _whole_entries(index, 0)
    items = normalize_index(entries, x.shape, checked=False)
    return Selected(as_traced(advanced.gather_points(x, items)), chosen.mask, chosen.spread)


def set_at(x: Tracer, index: Any, value: Any, kind: str = "set") -> None:
    """Write ``x[index] = value`` for an index with elements of unknown number; the value is a number, or as many.

    Another ``kind`` of `scatter_points` combines the elements there with the value.
    """
    entries, chosen = _whole_entries(index, BEYOND)
    if isinstance(value, Selected):
        value = value.values if chosen.matches(value) else value.refuse()
    elif shape_of(asarray(value)):
        chosen.refuse()
    advanced.scatter_points(x, normalize_index(entries, x.shape, checked=False), value, kind)


def _whole_entries(index: Any, filler: int) -> tuple[tuple[Any, ...], Selected]:
    """Return an index over the whole mask, with positions of elements left out replaced, and one of its entries."""
    entries = index if isinstance(index, tuple) else (index,)
    chosen = [entry for entry in entries if isinstance(entry, Selected)]
    last = max(k for k, entry in enumerate(entries) if isinstance(entry, Selected))
    for entry in entries[: last + 1]:
        if not isinstance(entry, int | np.integer) and not (isinstance(entry, Selected) and chosen[0].matches(entry)):
            chosen[0].refuse()
    if any(entry.dtype.kind not in "iu" or entry.ndim != 1 for entry in chosen):
        chosen[0].refuse()
    whole = [b.select(e.mask, convert(e.values, np.int64), filler) if isinstance(e, Selected) else e for e in entries]
    return tuple(whole), chosen[0]
