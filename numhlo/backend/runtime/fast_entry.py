"""The fast entry: a built-in function, made at run time, that checks arguments and runs a program in one native call.

What would be a microsecond of Python an array (type, dtype, shape, address, result) is a few nanoseconds when read
natively from the objects. Where that can't be done (`object_layout` finds out), calls go through Python.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from numhlo.backend.fortran import capsule_address, function_address
from numhlo.backend.primitives import layout
from numhlo.backend.program import Buffer, Place, Program
from numhlo.backend.runtime import library
from numhlo.backend.runtime.immortal import immortal
from numhlo.backend.runtime.native_functions import native_address
from numhlo.backend.runtime.object_layout import (
    ALIGNED,
    C_CONTIGUOUS,
    WRITEABLE,
    content_address,
    is_read_only,
    objects_are_as_expected,
    scalar_classes,
    views_are_as_expected,
)

METH_FASTCALL = 0x0080
METH_KEYWORDS = 0x0002
NEW_FROM_DESCR = 94
"""Number of `PyArray_NewFromDescr` in NumPy's table of C functions; part of its stable ABI."""


FEWEST_SHARING = 8
"""Scalars among results from which on they share memory: making it for each takes as long as all else about them."""

SHARED_BYTES = 512
"""Of a block of results: all of it is held while any one of them is, so it is not much more than their objects."""


class MethodDefinition(ctypes.Structure):
    """CPython's `PyMethodDef`; the structure owns its texts."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


@cache
def method_definition(name: str, address: int, flags: int, documentation: str) -> int:
    """Return the address of a `PyMethodDef`, which is never freed.

    A built-in function points to its definition and reads it when it is freed, which may be after all modules are gone.
    """
    return ctypes.addressof(immortal(MethodDefinition(name.encode(), address, flags, documentation.encode())))


@lru_cache(maxsize=1)
def api_table() -> np.ndarray:
    """Return the addresses of the functions of Python and NumPy that the entry calls."""
    table = immortal(np.zeros(layout.API_WORDS, np.int64))
    python = ctypes.pythonapi
    functions = {
        layout.API_INCREF: python.Py_IncRef,
        layout.API_DECREF: python.Py_DecRef,
        layout.API_NEW_TUPLE: python.PyTuple_New,
        layout.API_ALLOCATE: python.PyType_GenericAlloc,
        layout.API_SAVE_THREAD: python.PyEval_SaveThread,
        layout.API_RESTORE_THREAD: python.PyEval_RestoreThread,
        layout.API_FROM_INTEGER: python.PyLong_FromLong,
        layout.API_THREAD_IDENT: python.PyThread_get_thread_ident,
        layout.API_CHECK_SIGNALS: python.PyErr_CheckSignals,
        layout.API_CALL: python.PyObject_CallOneArg,
        layout.API_AS_INTEGER: python.PyLong_AsLong,
        layout.API_CLEAR_ERROR: python.PyErr_Clear,
        layout.API_HOLD_GIL: python.PyGILState_Ensure,
        layout.API_RELEASE_GIL: python.PyGILState_Release,
        layout.API_FETCH_ERROR: python.PyErr_Fetch,
        layout.API_RESTORE_ERROR: python.PyErr_Restore,
        layout.API_AS_LONG: python.PyLong_AsLongLong,
        layout.API_OCCURRED: python.PyErr_Occurred,
        layout.API_GET_ITEM: python.PyDict_GetItemWithError,
        layout.API_VECTORCALL: python.PyObject_Vectorcall,
    }
    for number, function in functions.items():
        table[number] = function_address(function)
    if sys.platform != "win32":
        libc = ctypes.CDLL(None)
        table[layout.API_SEEK], table[layout.API_WRITE] = function_address(libc.lseek), function_address(libc.write)
    numpy_table = capsule_address(np._core._multiarray_umath._ARRAY_API)  # type: ignore[attr-defined]
    table[layout.API_NEW_ARRAY] = (ctypes.c_int64 * (NEW_FROM_DESCR + 1)).from_address(numpy_table)[NEW_FROM_DESCR]
    table[layout.API_NONE], table[layout.API_SET_WAKEUP] = id(None), id(immortal(signal.set_wakeup_fd))
    table[layout.API_TRUE], table[layout.API_TUPLE] = id(True), id(tuple)
    table[layout.API_BYTE] = id(immortal(np.dtype(np.uint8)))
    library.table[layout.PYTHON_API] = table.ctypes.data
    return table


class EntryRecords:
    """What the native entry knows about one executable.

    The words are kept alive by the function that is made of them, and keep alive what they point to.

    Parameters
    ----------
    program : Program
    array_type : type
        Of results; arguments may be of this type or plain arrays.
    written : frozenset of int
        Arguments that the program writes into, which must be writable and share memory with no other.
    """

    __slots__ = ("words",)

    def __init__(self, program: Program, array_type: type[np.ndarray], written: frozenset[int]) -> None:
        numbered = list(enumerate(program.buffers))
        arguments = sorted((b.index, k, b) for k, b in numbered if b.place is Place.ARGUMENT)
        results = sorted((b.index, k, b) for k, b in numbered if b.place is Place.RESULT)
        arena = program.arena_buffers
        block = _Block(layout.ENTRY_WORDS)
        found = [block.append(_record(k, b, index in written)) for index, k, b in arguments]
        places = _shared_places([b for _, _, b in results])
        if places and not views_are_as_expected(array_type):
            places = {}
        made = [block.append(_record(k, b)) for _, k, b in results]
        pairs = block.append([number for pair in arena for number in pair])
        shapes = [block.append(b.type.shape) for _, _, b in (*arguments, *results)]
        sizes = {size: block.append([size]) for _, size in places.values() if size}
        self.words = words = block.finish()
        words.kept = [array_type, *{b.type.dtype for _, _, b in (*arguments, *results)}]
        start = int(words.ctypes.data)
        for record, shape in zip([*found, *made], shapes, strict=True):
            words[record + layout.RECORD_SHAPE] = start + shape * layout.WORD
        for number, (place, size) in places.items():
            words[made[number] + layout.RECORD_PLACE] = place
            words[made[number] + layout.RECORD_BLOCK] = start + sizes[size] * layout.WORD if size else 0
        words[layout.ENTRY_ARGUMENTS] = len(arguments)
        words[layout.ENTRY_RESULTS] = len(results)
        words[layout.ENTRY_WRITTEN] = len(written)
        words[layout.ENTRY_KEPT_FLAGS] = ~WRITEABLE if is_read_only(array_type) else -1
        words[layout.ENTRY_TYPE] = id(np.ndarray)
        words[layout.ENTRY_SUBTYPE] = id(array_type)
        words[layout.ENTRY_ARGUMENT_RECORDS] = start + layout.ENTRY_WORDS * layout.WORD
        words[layout.ENTRY_RESULT_RECORDS] = start + (made[0] if made else 0) * layout.WORD
        words[layout.ENTRY_API] = int(api_table().ctypes.data)
        words[layout.ENTRY_ARENA_BUFFERS], words[layout.ENTRY_ARENA_COUNT] = start + pairs * layout.WORD, len(arena)

    def keep(self, *things: Any) -> None:
        """Keep objects alive for as long as a function that is made of the words may run: what its code works with."""
        self.words.kept += things

    def offer_frame(self, address: int) -> bool:
        """Add a context to those that calls take; return False if an earlier one has not been taken yet."""
        if self.words[layout.ENTRY_OFFERED_FRAME] != 0:
            return False
        self.words[layout.ENTRY_OFFERED_FRAME] = address
        return True

    def function(self) -> Callable[..., Any] | None:
        """Return the built-in function, or None while its code is not there."""
        return _built_in(self.words)

    def route(
        self,
        nodes: Sequence[tuple[int, int, int]],
        scalars: Sequence[type | None],
        captures: Sequence[Any],
        held: Sequence[tuple[Any, str | None, Any]] = (),
    ) -> Callable[..., Any] | None:
        """Return a built-in function that takes arguments of another structure than one array each; None if it can't.

        Parameters
        ----------
        nodes : sequence of (int, int, int)
            For each tuple and each leaf of the arguments, in order, the number of the tuple that it is in (0: the
            arguments themselves), its position there, and its own length, or -1 for a leaf.
        scalars : sequence of type or None
            For each leaf the class of scalars that it is, or, of NumPy's classes, may be; None for arrays. Python's
            numbers have the dtype that NumPy gives them.
        captures : sequence of numpy.ndarray
            Arguments of the executable that follow the leaves. Nothing here keeps them, or the executable, alive.
        held : sequence of (object, str or None, object)
            What a dict must hold under a key, or without one a closure cell as its content, or a function as its code:
            that very object. The function returns None where it does not. It keeps all of these alive, and the words
            of this executable.
        """
        most = max(len(nodes) + 1, len(scalars) + len(captures))
        if most > layout.ROUTE_MOST or not set(scalars) <= scalar_classes() | {None}:
            return None
        guards = [_guard(*thing) for thing in held]
        if any(holder == 0 for holder, _, _ in guards):
            return None
        block = _Block(layout.ROUTE_WORDS)
        places = [block.append([word for node in nodes for word in node])]
        places.append(block.append([word for kind in scalars for word in _reading(kind)]))
        places.append(block.append([id(array) for array in captures]))
        places.append(block.append([word for guard in guards for word in guard]))
        words = block.finish()
        words.kept = [self.words, held]
        words[layout.ROUTE_SELF] = id(words)
        start = int(words.ctypes.data)
        fields = (layout.ROUTE_NODES, layout.ROUTE_SCALARS, layout.ROUTE_CAPTURES, layout.ROUTE_GUARDS)
        for field, place in zip(fields, places, strict=True):
            words[field] = start + place * layout.WORD
        words[layout.ENTRY_ROUTE] = int(self.words.ctypes.data)
        words[layout.ROUTE_ARGUMENTS] = sum(holder == 0 for holder, _, _ in nodes)
        words[layout.ROUTE_NODE_COUNT] = len(nodes)
        words[layout.ROUTE_LEAVES], words[layout.ROUTE_CAPTURE_COUNT] = len(scalars), len(captures)
        words[layout.ROUTE_GUARD_COUNT] = len(guards)
        return _built_in(words)


def _guard(holder: Any, key: str | None, value: Any) -> tuple[int, int, int]:
    """Return the words that say what an object must hold; the first is 0 where native code can't look."""
    return (content_address(holder), 0, id(value)) if key is None else (id(holder), id(key), id(value))


def _built_in(words: np.ndarray) -> Callable[..., Any] | None:
    address = native_address("entry") if objects_are_as_expected() else 0
    if address == 0:
        return None
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    definition = method_definition("call", address, METH_FASTCALL, "Run a compiled program on arrays.")
    function: Callable[..., Any] = make(definition, words, None)
    return function


def _reading(kind: type | None) -> tuple[int, int]:
    """Return the words that say what scalar a leaf is, and how its value is read."""
    if kind is None:
        return 0, 0
    if issubclass(kind, np.generic):
        return id(kind), layout.READ_OR_ARRAY
    return id(kind), {int: layout.READ_INTEGER, bool: layout.READ_TRUTH}.get(kind, layout.READ_IN_PLACE)


class _Words(np.ndarray):
    """Words that know objects by their addresses alone, and keep these alive."""

    kept: list[Any]


class _Block:
    """A block of words under construction; what is appended lies behind what was appended before."""

    def __init__(self, count: int) -> None:
        self._words = [0] * count

    def append(self, words: Sequence[int]) -> int:
        """Append words and return the place of the first."""
        place = len(self._words)
        self._words += words
        return place

    def finish(self) -> _Words:
        """Return the block."""
        return np.array([*self._words, 0], np.int64).view(_Words)


def _record(number: int, buffer: Buffer, written: bool = False) -> list[int]:
    """Return what the entry knows about an argument or a result, but for the address of its shape."""
    record = [0] * layout.RECORD_WORDS
    record[layout.RECORD_DESCR] = id(buffer.type.dtype)
    record[layout.RECORD_NDIM] = buffer.type.ndim
    record[layout.RECORD_BUFFER] = number
    record[layout.RECORD_FLAGS] = C_CONTIGUOUS | ALIGNED | (WRITEABLE if written else 0)
    record[layout.RECORD_BYTES] = buffer.type.nbytes
    record[layout.RECORD_WRITTEN] = int(written)
    record[layout.RECORD_PLACE] = -1
    return record


def _shared_places(results: Sequence[Buffer]) -> dict[int, tuple[int, int]]:
    """Return where scalars among many results lie in the block that they share, and the size of one that they begin.

    Parameters
    ----------
    results : sequence of Buffer

    Returns
    -------
    dict from int to (int, int)
        By a result's number; the size is 0 for those that begin no block.
    """
    scalars = [number for number, buffer in enumerate(results) if buffer.type.ndim == 0]
    if len(scalars) < FEWEST_SHARING:
        return {}
    offsets: dict[int, int] = {}
    sizes: dict[int, int] = {}
    first, end = scalars[0], 0
    for number in scalars:
        nbytes = results[number].type.nbytes
        offset = -(-end // nbytes) * nbytes
        if offset + nbytes > SHARED_BYTES:
            first, offset = number, 0
        offsets[number], end = offset, offset + nbytes
        sizes[first] = end
    return {number: (offset, sizes.get(number, 0)) for number, offset in offsets.items()}
