"""The forms in which a call may be given its arrays: plain, read-only, strided, one array twice, overlapping views.

A form makes arrays of the same values as the leaves that it is given, but for the last two, which make all arrays of a
type share elements. It is called once for the function under test and once for the reference, so both get the same
values in the same layout. Arrays that a call may write into have memory of their own in every form.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

Leaves = list[Any]
Form = Callable[[Sequence[Any], Collection[int]], Leaves]
"""``form(leaves, owned)`` returns leaves; those whose numbers are in ``owned`` are writable arrays of their own."""

PAGE = mmap.PAGESIZE


def is_array(leaf: Any) -> bool:
    """Return whether a leaf is an array whose memory a form may choose."""
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind not in "OSU" and (type(leaf) is np.ndarray or leaf.ndim > 0)


def own_copy(leaf: Any) -> Any:
    """Return a copy of an array in its own layout, writable where the array is; other leaves as they are."""
    if not is_array(leaf):
        return leaf
    made = leaf.copy(order="K").view(type(leaf))
    made.flags.writeable = leaf.flags.writeable
    return made


def _writable(leaf: Any) -> Any:
    return leaf.copy(order="K").view(type(leaf)) if is_array(leaf) else leaf


def plain(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return copies, as the caller's arrays are."""
    return [_writable(x) if k in owned else own_copy(x) for k, x in enumerate(leaves)]


def in_read_only_memory(array: np.ndarray) -> np.ndarray:
    """Return a copy in pages that the process may not write, at their end: a write into it is a crash.

    Where the system can, reading a page that follows is a crash, too.
    """
    size = array.nbytes
    room = -(-size // PAGE) * PAGE
    with tempfile.TemporaryFile() as file:
        file.write(bytes(room - size) + array.tobytes() + bytes(PAGE))
        file.flush()
        memory = mmap.mmap(file.fileno(), room + PAGE, access=mmap.ACCESS_READ)
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), room)
    found = np.frombuffer(memory, np.uint8, size, room - size)
    return found.view(array.dtype).reshape(array.shape).view(type(array))


def read_only(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return arrays whose memory can't be written, whatever ignores the flag."""
    return _each(leaves, owned, lambda x: in_read_only_memory(x) if x.nbytes else _frozen(x.copy()))


def flagged(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return read-only views of arrays that others may write."""
    return _each(leaves, owned, lambda x: _frozen(x.copy(order="K").view(type(x))[...]))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def strided(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return every other element along the last axis of larger arrays, those of at least two axes in Fortran order."""
    return [_strided(x) if is_array(x) and x.ndim else x for x in plain(leaves, owned)]


def _strided(array: np.ndarray) -> np.ndarray:
    shape = (*array.shape[:-1], 2 * array.shape[-1])
    base = np.zeros(shape, array.dtype, order="F")
    base[..., ::2] = array
    return base[..., ::2].view(type(array))  # which may be a type whose arrays can't be written into


def backwards(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return views that go backwards in memory along the first axis."""
    return [x[::-1].copy()[::-1] if is_array(x) and x.ndim else x for x in plain(leaves, owned)]


def unaligned(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return arrays an odd byte after where their elements should begin."""
    return _each(leaves, owned, lambda x: _unaligned(x) if x.itemsize > 1 and x.dtype.isbuiltin == 1 else x.copy())


def _unaligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + array.itemsize + 1, np.uint8)
    start = 1 - memory.ctypes.data % array.itemsize + array.itemsize - 1
    start += 1 if (memory.ctypes.data + start) % array.itemsize == 0 else 0
    made = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def same_twice(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return one array for all leaves of one type; what any of them may write into is a copy of it."""
    firsts: dict[Any, Any] = {}
    made = plain(leaves, owned)
    for number, leaf in enumerate(made):
        if is_array(leaf) and number not in owned:
            made[number] = firsts.setdefault((leaf.dtype, leaf.shape, type(leaf)), leaf)
    return made


def overlapping(leaves: Sequence[Any], owned: Collection[int]) -> Leaves:
    """Return contiguous views of one base for all leaves of a dtype, each an element further than the one before."""
    made = plain(leaves, owned)
    groups: dict[Any, list[int]] = {}
    for number, leaf in enumerate(made):
        if is_array(leaf) and leaf.size and leaf.ndim and number not in owned:
            groups.setdefault((leaf.dtype, type(leaf)), []).append(number)
    for numbers in groups.values():
        longest = max(numbers, key=lambda k: made[k].size)
        others = [made[k].ravel() for k in numbers if k != longest]
        elements = np.concatenate([made[longest].ravel(), *others]).view(type(made[longest]))
        for shift, number in enumerate(numbers):
            size, shape = made[number].size, made[number].shape
            made[number] = elements[shift : shift + size].reshape(shape)
    return made


def _each(leaves: Sequence[Any], owned: Collection[int], change: Callable[[np.ndarray], np.ndarray]) -> Leaves:
    made = plain(leaves, owned)
    return [change(x) if is_array(x) and k not in owned else x for k, x in enumerate(made)]


KEEPING: dict[str, Form] = {
    "plain": plain,
    "in read-only memory": read_only,
    "strided": strided,
    "backwards": backwards,
    "unaligned": unaligned,
    "flagged read-only": flagged,
}
"""Forms that keep the values of what they are given."""

SHARING: dict[str, Form] = {"one array twice": same_twice, "overlapping views": overlapping}
"""Forms that make arrays of a type share elements."""

FORMS = KEEPING | SHARING
