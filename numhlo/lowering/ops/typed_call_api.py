"""The table of functions that XLA's typed custom calls get, as its header ``xla/ffi/api/c_api.h`` declares it.

Handlers call these to say what failed, to keep state, to ask for memory, and to end later than they return. All of
them are Python here, which a handler reaches only when it calls them. What a CPU has none of (streams) is an error that
says so. Structures are looked at as arrays of 64-bit words; `typed_calls` makes the frame of a call.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import traceback
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numhlo.lowering.ops.native_functions import refuse_result

MAJOR, MINOR = 0, 3
"""The version of the interface."""

CODES = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
]
INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL = (
    CODES.index(code)
    for code in ("INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "INTERNAL")
)

WORD = 8
ALIGNMENT = 64
"""Of memory that a handler asks for without saying how."""

EMPTY = 0
INSTANCE, RUN = 0, 1
"""Words of an execution context: the number of the call's instance, and what tells runs apart that run at a time."""


class Instance:
    """One call with its options: the state that its handlers keep.

    Attributes
    ----------
    states : dict
        By stage: the type's number and the address.
    """

    def __init__(self) -> None:
        self.states: dict[int, tuple[int, int]] = {}


class _Failure(NamedTuple):
    code: int
    message: bytes


class _Future:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.error = 0


_numbers = itertools.count(1)
_failures: dict[int, _Failure] = {}
_futures: dict[int, _Future] = {}
_types: dict[bytes, int] = {}
_memory: dict[int, Any] = {}
INSTANCES: dict[int, Instance] = {}
"""Instances by number; they live as long as the process, as machine code that names them does."""


def new_instance() -> int:
    """Return the number of a new instance."""
    number = next(_numbers)
    INSTANCES[number] = Instance()
    return number


def failure(code: int, message: str) -> int:
    """Return the handle of a new error."""
    number = next(_numbers)
    _failures[number] = _Failure(code, message.encode())
    return number


def raise_error(name: str, handle: int) -> None:
    """Raise what an error's handle stands for, and give it up.

    Parameters
    ----------
    name : str
        The custom call's target.
    handle : int
        0 for no error.
    """
    if handle:
        found = _failures.pop(handle, _Failure(INTERNAL, b"an error that numhlo did not make"))
        code = CODES[found.code] if 0 <= found.code < len(CODES) else f"code {found.code}"
        refuse_result(name, found.message.decode("utf-8", "replace"), code)


def await_future(name: str, handle: int) -> None:
    """Wait until a handler's work is done, and raise the error that it ended with."""
    future = _futures.pop(handle, None)
    if future is not None:
        future.done.wait()
        raise_error(name, future.error)


class _Words:
    """The 64-bit words of a structure."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __getitem__(self, place: int) -> int:
        return int(ctypes.c_int64.from_address(self._address + WORD * place).value)

    def __setitem__(self, place: int, value: int) -> None:
        ctypes.c_int64.from_address(self._address + WORD * place).value = value

    def small(self, place: int) -> int:
        """Return a number of 32 bits."""
        return int(ctypes.c_int32.from_address(self._address + WORD * place).value)


def _create_error(args: _Words) -> int:
    return failure(args.small(3), ctypes.string_at(args[2]).decode("utf-8", "replace"))


def _get_message(args: _Words) -> int:
    found = _failures.get(args[2], _Failure(INTERNAL, b""))
    args[3] = ctypes.cast(ctypes.c_char_p(found.message), ctypes.c_void_p).value or 0
    return 0


def _destroy_error(args: _Words) -> int:
    _failures.pop(args[2], None)
    return 0


def _register_handler(args: _Words) -> int:
    return failure(UNIMPLEMENTED, "handlers are registered from Python, by numhlo.custom_call")


def _get_stream(args: _Words) -> int:
    return failure(UNIMPLEMENTED, "a CPU has no streams")


def _register_type(args: _Words) -> int:
    return register_type(ctypes.string_at(args[2], args[3]), args[4])


def register_type(name: bytes, address: int) -> int:
    """Give a type its number, which the handler keeps at an address; the same name has the same number.

    Returns
    -------
    int
        The handle of an error, or 0.
    """
    place, known = _Words(address), _types.get(name)
    given = place[0]
    if given == 0:
        place[0] = _types.setdefault(name, next(_numbers))
    elif known is None and given not in _types.values():
        _types[name] = given
    elif known != given:
        return failure(ALREADY_EXISTS, f"type {name.decode()} has another number already")
    return 0


def _get_context(args: _Words) -> int:
    return failure(NOT_FOUND, "this execution context has nothing of that type")


def _instance(args: _Words) -> Instance:
    return INSTANCES[_Words(args[2])[INSTANCE]]


def _set_state(args: _Words) -> int:
    states, stage = _instance(args).states, args.small(3)
    if stage in states:
        return failure(ALREADY_EXISTS, "the state is set already")
    states[stage] = _Words(args[4])[0], args[5]
    return 0


def _get_state(args: _Words) -> int:
    found = _instance(args).states.get(args.small(3))
    wanted = _Words(args[4])[0]
    if found is None:
        return failure(NOT_FOUND, "the state is not set")
    if found[0] != wanted:
        return failure(INVALID_ARGUMENT, "the state is of another type")
    args[5] = found[1]
    return 0


def _allocate(args: _Words) -> int:
    size, alignment = args[3], max(args[4], ALIGNMENT)
    try:
        block = (ctypes.c_char * (size + alignment))()
    except (MemoryError, OverflowError, ValueError):
        return failure(RESOURCE_EXHAUSTED, f"there are no {size} bytes of memory")
    address = -(-ctypes.addressof(block) // alignment) * alignment
    _memory[address] = block
    args[5] = address
    return 0


def _free(args: _Words) -> int:
    if _memory.pop(args[4], None) is None:
        return failure(INVALID_ARGUMENT, "this memory was not allocated, or is free already")
    return 0


_TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _schedule(args: _Words) -> int:
    """Run a task at once, in the caller's thread, as the interface allows."""
    _TASK(args[3])(args[4])
    return 0


def _count_threads(args: _Words) -> int:
    _Words(args[3])[0] = 1
    return 0


def _create_future(args: _Words) -> int:
    number = next(_numbers)
    _futures[number] = _Future()
    args[2] = number
    return 0


def _end_future(args: _Words) -> int:
    future = _futures.get(args[2])
    if future is None:
        return failure(INVALID_ARGUMENT, "there is no such future")
    future.done.set()
    return 0


def _fail_future(args: _Words) -> int:
    future = _futures.get(args[2])
    if future is None:
        return failure(INVALID_ARGUMENT, "there is no such future")
    future.error = args[3]
    future.done.set()
    return 0


def _get_run(args: _Words) -> int:
    args[3] = _Words(args[2])[RUN]
    return 0


def _get_device(args: _Words) -> int:
    ctypes.c_int32.from_address(args._address + 3 * WORD).value = 0
    return 0


_FUNCTIONS: tuple[Callable[[_Words], int], ...] = (
    _create_error,
    _get_message,
    _destroy_error,
    _register_handler,
    _get_stream,
    _register_type,
    _get_context,
    _set_state,
    _get_state,
    _allocate,
    _free,
    _schedule,
    _count_threads,
    _create_future,
    _end_future,
    _fail_future,
    _get_run,
    _get_device,
)
"""In the header's order."""

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def _guarded(function: Callable[[_Words], int]) -> Any:
    """Return a C function that gives an error where the Python one raises."""

    def call(args: int) -> int:
        try:
            return function(_Words(args))
        except Exception:  # noqa: BLE001 - nothing may be raised through native code
            return failure(INTERNAL, traceback.format_exc())

    return _FUNCTION(call)


@cache
def api_address() -> int:
    """Return the address of the table, which is made when it is first asked for."""
    functions = [_guarded(function) for function in _FUNCTIONS]
    addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
    words = [0, EMPTY, 3 * WORD, EMPTY, MAJOR | MINOR << 32, EMPTY, *addresses]
    words[0] = len(words) * WORD
    table = (ctypes.c_int64 * len(words))(*words)
    _memory[ctypes.addressof(table)] = (table, functions)
    return ctypes.addressof(table)
