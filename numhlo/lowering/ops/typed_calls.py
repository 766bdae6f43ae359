"""Custom calls in XLA's typed form: the frame that a handler gets, with buffers, options, and the stage that it is at.

A handler that was compiled against XLA's header runs as it is. The frame's words are made once for a call with its
options and types, as a template; whoever calls copies it, and puts addresses of arrays in. Everything is as on a 64-bit
little-endian machine. `typed_call_api` has the functions that handlers may call back.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.implementations import hashable, options_of
from numhlo.lowering.ops.native_functions import RUNNERS, TYPED, NativeFunction, address_of
from numhlo.lowering.ops.typed_call_api import (
    MAJOR,
    WORD,
    api_address,
    await_future,
    new_instance,
    raise_error,
    register_type,
)

STAGES = {"instantiate": 0, "prepare": 1, "initialize": 2, "execute": 3}

API, CONTEXT, STAGE, ARGUMENTS, RESULTS, FUTURE = 2, 3, 4, 5, 10, 21
"""Words of a frame: what they point to, and where the groups of arguments and results begin."""

FRAME_WORDS = 22
GROUP_ITEMS = 4
"""In a group of arguments or results: the address of the addresses of its buffers."""

BUFFER_WORDS, BUFFER_DATA, BUFFER_DIMS = 6, 3, 5

_FRAME_BYTES, _GROUP_BYTES, _ATTRIBUTES_BYTES = 168, 40, 48
_ARRAY, _DICTIONARY, _SCALAR, _STRING = 1, 2, 3, 4
_METADATA, _METADATA_BYTES = 1, 48

_TYPES = {
    "i1": 1, "i8": 2, "i16": 3, "i32": 4, "i64": 5, "ui8": 6, "ui16": 7, "ui32": 8, "ui64": 9, "f16": 10, "f32": 11,
    "f64": 12, "complex<f32>": 15, "bf16": 16, "complex<f64>": 18, "f8E5M2": 19, "f8E4M3FN": 20, "f8E4M3B11FNUZ": 23,
    "f8E5M2FNUZ": 24, "f8E4M3FNUZ": 25, "f8E4M3": 28, "f8E3M4": 29, "f8E8M0FNU": 33,
}  # fmt: skip
NUMBERS = {ELEMENT_TYPES[name]: number for name, number in _TYPES.items()}
"""XLA's numbers of the element types that buffers and options may have."""


class _Memory:
    """Blocks that point at each other, kept as long as this is."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []

    def words(self, *values: int) -> int:
        """Return the address of 64-bit words."""
        return self._keep((ctypes.c_int64 * max(len(values), 1))(*values))

    def numbers(self, values: Sequence[int]) -> int:
        """Return the address of 32-bit numbers."""
        return self._keep((ctypes.c_int32 * max(len(values), 1))(*values))

    def data(self, data: bytes) -> int:
        """Return the address of bytes, which are aligned as any number must be."""
        return self._keep((ctypes.c_int64 * (len(data) // WORD + 1)).from_buffer_copy(data.ljust(len(data) + WORD)))

    def _keep(self, block: Any) -> int:
        self._blocks.append(block)
        return ctypes.addressof(block)

    def attributes(self, name: str, options: Mapping[str, Any]) -> list[int]:
        """Return the words of a dictionary: sorted by name, as handlers rely on."""
        kinds, names, items = [], [], []
        for key, value in sorted(options.items(), key=lambda item: item[0].encode()):
            kind, address = self._attribute(f"{name}: the option {key}", value)
            kinds.append(kind)
            items.append(address)
            text = key.encode()
            names.append(self.words(self.data(text), len(text)))
        return [
            _ATTRIBUTES_BYTES, 0, len(kinds), self.numbers(kinds), self.words(*names), self.words(*items)
        ]  # fmt: skip

    def _attribute(self, what: str, value: Any) -> tuple[int, int]:
        if isinstance(value, Mapping):
            return _DICTIONARY, self.words(*self.attributes(what, value))
        if isinstance(value, str):
            data = value.encode()
            return _STRING, self.words(self.data(data), len(data))
        try:
            array = np.asarray(value)
            number = NUMBERS[array.dtype]
        except (KeyError, ValueError, TypeError):
            raise UnsupportedError(
                f"custom_call {what}, {value!r}",
                why="XLA's typed calls take numbers, flags, texts, arrays of numbers of one type, and dictionaries",
            ) from None
        elements = self.data(array.tobytes())
        if array.ndim == 0:
            return _SCALAR, self.words(number, elements)
        return _ARRAY, self.words(number, array.size, elements)


class Call(NamedTuple):
    """What is the same in all executions of a call with its options and types.

    Attributes
    ----------
    native : NativeFunction
    instance : int
        Its number, which stands in the execution context.
    template : ctypes array
        The words of the frame, of the buffers of arguments and results, and of the addresses of these.
    values : int
        Arguments and results.
    memory : object
        What the template points to.
    """

    native: NativeFunction
    instance: int
    template: Any
    values: int
    memory: _Memory

    @property
    def template_address(self) -> int:
        """Return where the template lies."""
        return ctypes.addressof(self.template)

    @property
    def stages(self) -> list[tuple[int, int]]:
        """Return the numbers and addresses of what an execution calls, in order."""
        before = [(STAGES[name], self.native.stages[name]) for name in ("prepare", "initialize") if self._has(name)]
        return [*before, (STAGES["execute"], self.native.address)]

    def _has(self, name: str) -> bool:
        return bool(self.native.stages.get(name))

    def run(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Call the handlers on dense arrays."""
        given = [*arrays, *results]
        words = (ctypes.c_int64 * len(self.template))(*self.template)
        base = ctypes.addressof(words)
        context = (ctypes.c_int64 * 2)(self.instance, base)
        words[CONTEXT] = ctypes.addressof(context)
        words[ARGUMENTS + GROUP_ITEMS] = base + WORD * items_place(self.values)
        words[RESULTS + GROUP_ITEMS] = base + WORD * (items_place(self.values) + len(arrays))
        extents = []
        for number, value in enumerate(given):
            place = buffer_place(number)
            extents.append((ctypes.c_int64 * max(value.ndim, 1))(*value.shape))
            words[place + BUFFER_DATA] = value.ctypes.data
            words[place + BUFFER_DIMS] = ctypes.addressof(extents[-1])
            words[items_place(self.values) + number] = base + WORD * place
        for stage, address in self.stages:
            words[STAGE] = stage
            _call(self.native.name, address, words)
        await_future(self.native.name, words[FUTURE])


def buffer_place(number: int) -> int:
    """Return where the words of a buffer begin in a frame."""
    return FRAME_WORDS + BUFFER_WORDS * number


def items_place(count: int) -> int:
    """Return where the addresses of so many buffers begin in a frame."""
    return FRAME_WORDS + BUFFER_WORDS * count


_HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def _call(name: str, address: int, words: Any) -> None:
    raise_error(name, _HANDLER(address)(ctypes.addressof(words)) or 0)


_calls: dict[tuple[Any, ...], Call] = {}
"""What was made for calls: of the same options and types it is the same."""


def call_of(
    native: NativeFunction,
    options: Mapping[str, Any],
    arguments: Sequence[tuple[np.dtype, int]],
    results: Sequence[tuple[np.dtype, int]],
) -> Call:
    """Return what a call with some options and types needs; its handler of the first stage has run then.

    Parameters
    ----------
    native : NativeFunction
    options : mapping
    arguments, results : sequence of (dtype, int)
        Element types and ranks.
    """
    key = native.address, native.name, hashable(options), tuple(arguments), tuple(results)
    found = _calls.get(key)
    if found is None:
        memory = _Memory()
        words = _template(native.name, options, arguments, results, memory)
        number = new_instance()
        found = _calls[key] = Call(native, number, words, len(arguments) + len(results), memory)
        _instantiate(found)
    return found


def _template(
    name: str,
    options: Mapping[str, Any],
    arguments: Sequence[tuple[np.dtype, int]],
    results: Sequence[tuple[np.dtype, int]],
    memory: _Memory,
) -> Any:
    groups = [[_GROUP_BYTES, 0, len(kind), memory.numbers([1] * len(kind)), 0] for kind in (arguments, results)]
    words = [_FRAME_BYTES, 0, api_address(), 0, STAGES["execute"], *groups[0], *groups[1]]
    words += [*memory.attributes(name, options), 0]
    for dtype, rank in (*arguments, *results):
        words += [BUFFER_WORDS * WORD, 0, NUMBERS[dtype], 0, rank, 0]
    words += [0] * (len(arguments) + len(results))
    return (ctypes.c_int64 * len(words))(*words)


def _instantiate(call: Call) -> None:
    address = call.native.stages.get("instantiate")
    if not address:
        return
    words = (ctypes.c_int64 * len(call.template))(*call.template)
    context = (ctypes.c_int64 * 2)(call.instance, 0)
    words[CONTEXT], words[STAGE] = ctypes.addressof(context), STAGES["instantiate"]
    words[ARGUMENTS + 2] = words[RESULTS + 2] = 0  # there are no buffers yet
    _call(call.native.name, address, words)


def check_handlers(native: NativeFunction) -> None:
    """Ask handlers for the version that they were compiled for, as XLA does when they are registered.

    Raises
    ------
    UnsupportedError
        If it is another one, or this machine is no 64-bit little-endian one.
    """
    if sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != WORD:
        raise UnsupportedError(f"custom_call {native.name}: XLA's typed form on this machine")
    for address in [*native.stages.values(), native.address]:
        metadata = (ctypes.c_int64 * 6)(_METADATA_BYTES, 3 * WORD)
        extension = (ctypes.c_int64 * 4)(4 * WORD, _METADATA, 0, ctypes.addressof(metadata))
        words = _template(native.name, {}, (), (), _Memory())
        words[1] = ctypes.addressof(extension)
        _call(native.name, address, words)
        major = metadata[3] & 0xFFFFFFFF
        if major != MAJOR:
            raise UnsupportedError(
                f"custom_call {native.name}: its handler is for version {major} of XLA's interface",
                why=f"version {MAJOR} is known here",
                fix="compile it against another header",
            )


def register_types(name: str, types: Mapping[str, Any]) -> None:
    """Give types of states their numbers, which handlers keep where capsules say.

    Parameters
    ----------
    name : str
        The custom call's target, for messages.
    types : mapping of str to capsule, or mapping with one as ``"type_id"``
        By the types' names.
    """
    for type_name, given in types.items():
        place = address_of(given["type_id"] if isinstance(given, Mapping) else given)
        if place is None:
            raise ArgumentError(
                f"custom_call {name}: the type {type_name} is given by {given!r}",
                fix="give a PyCapsule that holds the address of its XLA_FFI_TypeId",
            )
        raise_error(name, register_type(type_name.encode(), place))


def _run(
    native: NativeFunction, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], attributes: Mapping[str, Any]
) -> None:
    kinds = [[(a.dtype, a.ndim) for a in group] for group in (arrays, results)]
    call_of(native, options_of(attributes), *kinds).run(arrays, results)


RUNNERS[TYPED] = _run
