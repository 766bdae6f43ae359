"""Where things lie in CPython's and NumPy's objects: checked once, on real objects, before anything relies on it.

If they are not where `numhlo.backend.primitives.layout` says, or the interpreter has no GIL, arrays are asked instead.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any

import numpy as np

from numhlo.backend.primitives import layout

FUNCTION_WORDS = FunctionType.__basicsize__ // layout.WORD
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x0001, 0x0100, 0x0400


def _words_of(thing: object, count: int) -> ctypes.Array:
    return (ctypes.c_int64 * count).from_address(id(thing))


def _halves_of(thing: object, count: int) -> ctypes.Array:
    return (ctypes.c_int32 * count).from_address(id(thing))


@lru_cache(maxsize=1)
def objects_are_as_expected() -> bool:
    """Return whether arrays look in memory as `layout` says: same words for several arrays of known properties."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if object.__basicsize__ != 2 * layout.WORD or ctypes.sizeof(ctypes.c_void_p) != layout.WORD:
        return False
    samples: list[np.ndarray] = [np.zeros((2, 3), np.float32), np.zeros((), np.int64)]
    samples.append(np.zeros((5, 7, 2), np.bool_)[:, ::2])
    if not all(_looks_right(sample) for sample in samples):
        return False
    held = (samples, None)
    return list(_words_of(held, layout.TUPLE_ITEMS + 2)[layout.TUPLE_SIZE :]) == [2, id(samples), id(None)]


def is_read_only(array_type: type[np.ndarray]) -> bool:
    """Return whether results of a type can't be written, as its attribute of that name says."""
    return bool(getattr(array_type, "is_read_only", False))


def views_are_as_expected(array_type: type[np.ndarray]) -> bool:
    """Return whether native code can make arrays of a type in memory of others: they look as those that NumPy makes."""
    plain = array_type.__basicsize__ == np.ndarray.__basicsize__ and array_type.__dictoffset__ == 0
    own_say = any(
        getattr(array_type, name) is not getattr(np.ndarray, name) for name in ("__array_finalize__", "__new__")
    )
    if not objects_are_as_expected() or not plain or own_say:
        return False
    owner = np.zeros(16, np.uint8)
    view = array_type((), np.dtype(np.float32), owner, 8)
    count = np.ndarray.__basicsize__ // layout.WORD
    expected = [0] * count
    expected[layout.ARRAY_DATA] = owner.ctypes.data + 8
    expected[layout.ARRAY_BASE] = id(owner)
    expected[layout.ARRAY_DESCR] = id(view.dtype)
    expected[layout.ARRAY_FLAGS_HALF // 2] = layout.SCALAR_FLAGS
    head = layout.ARRAY_DATA
    return list(_words_of(view, count))[head:] == expected[head:]


@lru_cache(maxsize=1)
def scalar_classes() -> frozenset[type]:
    """Return the classes of scalars that native code can read: those whose value lies where `layout` says."""
    found = {int, bool}
    kinds: list[type] = [float, complex, *np.sctypeDict.values()]
    for kind in kinds:
        dtype = np.dtype(kind)
        if dtype.kind not in "biufc" or dtype.itemsize > 16:
            continue
        sample = kind(1.5) if dtype.kind in "fc" else kind(1)
        expected = np.array(sample, dtype).tobytes()
        if ctypes.string_at(id(sample) + layout.SCALAR_VALUE * layout.WORD, dtype.itemsize) == expected:
            found.add(kind)
    return frozenset(found)


@lru_cache(maxsize=1)
def _code_word() -> int:
    """Return which word of a function points to its code; 0 where that can't be told."""
    samples = (_words_of, _halves_of)
    places = [k for k in range(2, FUNCTION_WORDS) if all(_words_of(f, k + 1)[k] == id(f.__code__) for f in samples)]
    return places[0] if len(places) == 1 else 0


@lru_cache(maxsize=1)
def _cells_are_as_expected() -> bool:
    cells = [CellType(object()), CellType(object())]
    contents = [_words_of(cell, layout.CELL_CONTENT + 1)[layout.CELL_CONTENT] for cell in cells]
    return contents == [id(cell.cell_contents) for cell in cells]


def content_address(holder: Any) -> int:
    """Return the address of the word that points to a cell's content or a function's code; 0 where it isn't known."""
    if type(holder) is CellType and _cells_are_as_expected():
        return id(holder) + layout.CELL_CONTENT * layout.WORD
    if type(holder) is FunctionType and _code_word():
        return id(holder) + _code_word() * layout.WORD
    return 0


def _looks_right(array: np.ndarray) -> bool:
    words, halves = _words_of(array, layout.ARRAY_DESCR + 1), _halves_of(array, layout.ARRAY_FLAGS_HALF + 1)
    shape = (ctypes.c_int64 * max(array.ndim, 1)).from_address(words[layout.ARRAY_SHAPE] or id(array))
    flags = halves[layout.ARRAY_FLAGS_HALF]
    return (
        words[layout.OBJECT_TYPE] == id(type(array))
        and words[layout.ARRAY_DATA] == int(array.ctypes.data)
        and halves[layout.ARRAY_NDIM_HALF] == array.ndim
        and tuple(shape[: array.ndim]) == array.shape
        and words[layout.ARRAY_DESCR] == id(array.dtype)
        and flags == array.flags.num
        and bool(flags & C_CONTIGUOUS) == array.flags.c_contiguous
    )


def array_address(array: np.ndarray) -> int:
    """Return the address of an array's first element."""
    if objects_are_as_expected():
        return int(ctypes.c_int64.from_address(id(array) + layout.ARRAY_DATA * layout.WORD).value)
    return int(array.ctypes.data)
