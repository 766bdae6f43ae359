"""Native functions that custom calls reach by address, in the forms that XLA calls them in on the CPU.

The form is the custom call's ``api_version``: 1 is ``void f(void *out, const void **in)``; 2 adds a status, 3 an opaque
text and a status. Version 4, XLA's typed form, is `typed_calls`'. Here is what an address may be given as, and how a
call is made from Python; the backend calls the same address from machine code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from numhlo.lowering.ir import Location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.native_errors import NativeCallError

PLAIN, WITH_STATUS, WITH_TEXT, TYPED = 1, 2, 3, 4
"""The forms, by ``api_version``."""

BEFORE, EXECUTE = ("instantiate", "prepare", "initialize"), "execute"
"""XLA's names of the stages at which handlers of the typed form are called."""

STATUS_BYTES = 1024
"""Bytes of a status: how long the message of a failure is (0: none), as int64, and then the message."""

MESSAGE_PLACE = 8

_FUNCTION_POINTER: Any = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of all that ctypes calls: functions of libraries, and those made of Python functions."""

_NARROWEST = 8
"""Bits of the smallest elements that native functions take: narrower ones are packed by some, and not by others."""


class NativeFunction(NamedTuple):
    """Machine code, and how it is called.

    Attributes
    ----------
    name : str
        Of the custom calls that reach it, for messages.
    address : int
    version : int
        The form: an ``api_version``.
    holder : object
        What keeps the machine code in memory.
    stages : mapping of str to int
        Of typed functions: addresses of those that run before, by XLA's name of the stage.
    """

    name: str
    address: int
    version: int
    holder: Any
    stages: Mapping[str, int]

    def run(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], text: str) -> None:
        """Call a function of the forms 1 to 3 from Python, on dense arrays; it fills in the results.

        Raises
        ------
        NativeCallError
            If it says that it failed.
        """
        inputs = (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
        outputs = (ctypes.c_void_p * max(len(results), 1))(*[a.ctypes.data for a in results])
        target = outputs[0] if len(results) == 1 else ctypes.addressof(outputs)
        status = ctypes.create_string_buffer(STATUS_BYTES)
        words: list[Any] = [target, ctypes.addressof(inputs)]
        if self.version == WITH_TEXT:
            data = text.encode()
            words += [ctypes.c_char_p(data), len(data)]
        if self.version != PLAIN:
            words.append(ctypes.addressof(status))
        _native_type(len(words))(self.address)(*[_as_pointer(word) for word in words])
        raise_failure(self.name, ctypes.addressof(status))


def _as_pointer(word: Any) -> ctypes.c_void_p:
    return ctypes.cast(word, ctypes.c_void_p) if isinstance(word, ctypes.c_char_p) else ctypes.c_void_p(word)


def _native_type(count: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)


def raise_failure(name: str, status: int) -> None:
    """Raise what a status at an address says, if it says that a call failed.

    Parameters
    ----------
    name : str
        The custom call's target.
    status : int
    """
    length = ctypes.c_int64.from_address(status).value
    if length:
        kept = max(0, min(length, STATUS_BYTES - MESSAGE_PLACE))
        refuse_result(name, ctypes.string_at(status + MESSAGE_PLACE, kept).decode("utf-8", "replace"))


def refuse_result(name: str, message: str, code: str = "", where: Location | None = None) -> NoReturn:
    """Raise the failure of a native function, with its message."""
    raise NativeCallError(f"custom_call {name}: {message}", where=where, why=f"it failed with {code}" if code else "")


def native_function(name: str, implementation: Any, version: int | None) -> NativeFunction | None:
    """Return what is native as such; None for a Python function.

    Parameters
    ----------
    name : str
        The custom call's target.
    implementation : object
        A function of ctypes, one that Numba's ``cfunc`` made, or a capsule that holds an address; or a mapping of such
        by the names of XLA's stages.
    version : int or None
        The form; None for the typed form of a capsule, and the plain one of all else.

    Raises
    ------
    ArgumentError
        If the version is not one of the forms, or is given for a Python function.
    """
    stages: dict[str, Any] = {}
    main = implementation
    if isinstance(implementation, Mapping):
        stages, version = dict(implementation), TYPED if version is None else version
        main = stages.pop(EXECUTE, None)
        _require_stages(name, stages, main, version)
    address = address_of(main)
    if address is None:
        if version not in (None, TYPED):
            raise ArgumentError(
                f"custom_call {name}: api_version={version} of a Python function",
                why="it says how a native function is called",
                fix="leave it out, or give a ctypes function, a function of numba.cfunc, or a PyCapsule",
            )
        return None
    if version is None:
        version = TYPED if is_capsule(main) else PLAIN
    if version not in (PLAIN, WITH_STATUS, WITH_TEXT, TYPED):
        raise ArgumentError(
            f"custom_call {name}: api_version={version!r}",
            fix="give 1 for void f(out, in), 2 with a status, 3 with a text and a status, or 4 for XLA's typed form",
        )
    found = {stage: address_of(function) or 0 for stage, function in stages.items()}
    return NativeFunction(name, address, version, implementation, found)


def _require_stages(name: str, stages: Mapping[str, Any], main: Any, version: int) -> None:
    wrong = [stage for stage, function in stages.items() if stage not in BEFORE or address_of(function) is None]
    if wrong or version != TYPED or address_of(main) is None:
        raise ArgumentError(
            f"custom_call {name}: handlers for the stages {', '.join(map(repr, [*stages, EXECUTE]))}",
            fix=f"give native functions of XLA's typed form: {EXECUTE!r}, and {', '.join(map(repr, BEFORE))} if needed",
        )


def is_capsule(value: Any) -> bool:
    """Return whether something is a ``PyCapsule``."""
    return type(value).__name__ == "PyCapsule"


def address_of(implementation: Any) -> int | None:
    """Return the address of a native function, None for what is none.

    Examples
    --------
    >>> address_of(print) is None
    True
    """
    if isinstance(implementation, _FUNCTION_POINTER):
        return ctypes.cast(implementation, ctypes.c_void_p).value
    if is_capsule(implementation):
        return _capsule_address(implementation)
    address = getattr(implementation, "address", None)
    return address if isinstance(address, int) and hasattr(implementation, "ctypes") else None


def _capsule_address(capsule: Any) -> int:
    name_of: Any = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    pointer_of: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return int(pointer_of(capsule, name_of(capsule)))


def refusal_of_types(dtypes: Sequence[np.dtype]) -> str:
    """Return why native functions take no arrays of some dtypes, or nothing."""
    narrow = [dtype.name for dtype in dtypes if _bits(dtype) < _NARROWEST]
    return f"elements of {narrow[0]} have no form in memory that native functions agree on" if narrow else ""


def _bits(dtype: np.dtype) -> int:
    digits = "".join(c for c in dtype.name.partition("_")[0] if c.isdigit())
    return int(digits) if dtype.kind == "V" and digits else 8 * dtype.itemsize


Runner = Callable[[NativeFunction, Sequence[np.ndarray], Sequence[np.ndarray], Mapping[str, Any]], None]
"""``runner(function, arrays, results, attributes)`` calls a function of a form from Python."""


def run_by_status(
    function: NativeFunction, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], attributes: Mapping[str, Any]
) -> None:
    """Call a function of the forms 1 to 3."""
    options = attributes["backend_config"]
    function.run(arrays, results, options if isinstance(options, str) else "")


RUNNERS: dict[int, Runner] = dict.fromkeys((PLAIN, WITH_STATUS, WITH_TEXT), run_by_status)
"""How functions of each form are called from Python; `typed_calls` adds its own."""
