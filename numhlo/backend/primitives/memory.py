"""Reading and writing elements through addresses, as kernels do it.

A kernel names a buffer once, ``x = address(bufs, 0)``, and reads ``load_f32(x, i)`` and writes ``store_f32(x, i, v)``
elements by index. Compiled, each buffer number is an alias scope of its own, so that LLVM knows that different buffers
never overlap; a plain integer may be used as a pointer too, and then nothing is promised. Here is the meaning in plain
Python, for stepping with the JIT off; `numhlo.backend.compiler.intrinsics.memory` has the machine code.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numhlo.backend.primitives.narrow_floats import narrowed, widened
from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

INT64 = STORAGES["i64"]


class StackPointer(int):
    """The address of a stack array; keeps the memory alive in plain Python."""

    memory: Any


def address(bufs: int, number: int) -> int:
    """Return the pointer to buffer ``number`` (a literal), whose memory no other buffer of the kernel overlaps."""
    return int(INT64.view(bufs + 8 * number)[0])


def number(dims: int, index: int) -> int:
    """Return run-time number ``index`` of the launch: an extent, a stride."""
    return int(INT64.view(dims + 8 * index)[0])


def advance(pointer: int, nbytes: int) -> int:
    """Return the pointer ``nbytes`` further on, into the same buffer."""
    return pointer + int(nbytes)


def prefetch(pointer: int, nbytes: int) -> None:
    """Ask for the cache line that lies ``nbytes`` further on, wherever that is; nothing is read.

    It is brought into the processor's second cache: far more lines may be on their way there than into the first.
    """


def prefetch_near(pointer: int, nbytes: int) -> None:
    """Ask for a cache line that is needed at once, as `prefetch` does: it is brought into the first cache."""


def integer_address(pointer: int) -> int:
    """Return a pointer as a plain int64, to be passed to a native function."""
    return int(pointer)


def stack_array(count: int, itemsize: int) -> int:
    """Return a pointer to uninitialized memory on the kernel's stack; both numbers are literals.

    The memory is one per place in the source: a call inside a loop gives the same memory each time round.
    """
    memory = ctypes.create_string_buffer(count * itemsize + 64)
    pointer = StackPointer((ctypes.addressof(memory) + 63) & -64)
    pointer.memory = memory
    return pointer


@record(frozen=True)
class Load:
    """``load(pointer, index)`` gives one element as it is in a register."""

    storage: Storage

    def __call__(self, pointer: int, index: int) -> Any:
        """Return the element."""
        element = self.storage.view(pointer + int(index) * self.storage.dtype.itemsize)
        return widened(element)[0] if self.storage.is_narrow_float else element.astype(self.storage.register)[0]


@record(frozen=True)
class Store:
    """``store(pointer, index, value)`` writes one element, rounding to nearest even where storage is narrower."""

    storage: Storage

    def __call__(self, pointer: int, index: int, value: Any) -> None:
        """Write the element."""
        element = self.storage.view(pointer + int(index) * self.storage.dtype.itemsize)
        register, dtype = np.asarray(value, self.storage.register), self.storage.dtype
        element[0] = narrowed(register, dtype) if self.storage.is_narrow_float else register.astype(dtype)


@record(frozen=True)
class StoreRounded:
    """``store_rounded(pointer, index, value)`` writes what was computed: of its NaN nobody asks which one it is."""

    storage: Storage

    def __call__(self, pointer: int, index: int, value: Any) -> None:
        """Write the element."""
        element = self.storage.view(pointer + int(index) * self.storage.dtype.itemsize)
        element[0] = np.asarray(value, np.float32).astype(self.storage.dtype)


@record(frozen=True)
class Round:
    """``round(value)`` rounds a float32 to a narrower format (nearest even) and gives it as float32 again."""

    storage: Storage

    def __call__(self, value: Any) -> Any:
        """Return the value rounded."""
        narrow = np.asarray(value, np.float32).astype(self.storage.dtype)
        return narrow.astype(np.float32)[()]


load_bool, store_bool = Load(STORAGES["bool"]), Store(STORAGES["bool"])
load_i2, store_i2 = Load(STORAGES["i2"]), Store(STORAGES["i2"])
load_i4, store_i4 = Load(STORAGES["i4"]), Store(STORAGES["i4"])
load_i8, store_i8 = Load(STORAGES["i8"]), Store(STORAGES["i8"])
load_i16, store_i16 = Load(STORAGES["i16"]), Store(STORAGES["i16"])
load_i32, store_i32 = Load(STORAGES["i32"]), Store(STORAGES["i32"])
load_i64, store_i64 = Load(STORAGES["i64"]), Store(STORAGES["i64"])
load_u2, store_u2 = Load(STORAGES["u2"]), Store(STORAGES["u2"])
load_u4, store_u4 = Load(STORAGES["u4"]), Store(STORAGES["u4"])
load_u8, store_u8 = Load(STORAGES["u8"]), Store(STORAGES["u8"])
load_u16, store_u16 = Load(STORAGES["u16"]), Store(STORAGES["u16"])
load_u32, store_u32 = Load(STORAGES["u32"]), Store(STORAGES["u32"])
load_u64, store_u64 = Load(STORAGES["u64"]), Store(STORAGES["u64"])
load_f16, store_f16 = Load(STORAGES["f16"]), Store(STORAGES["f16"])
load_bf16, store_bf16 = Load(STORAGES["bf16"]), Store(STORAGES["bf16"])
load_f32, store_f32 = Load(STORAGES["f32"]), Store(STORAGES["f32"])
load_f64, store_f64 = Load(STORAGES["f64"]), Store(STORAGES["f64"])
load_c64, store_c64 = Load(STORAGES["c64"]), Store(STORAGES["c64"])
load_c128, store_c128 = Load(STORAGES["c128"]), Store(STORAGES["c128"])
round_f16, round_bf16 = Round(STORAGES["f16"]), Round(STORAGES["bf16"])
store_rounded_f16, store_rounded_bf16 = StoreRounded(STORAGES["f16"]), StoreRounded(STORAGES["bf16"])
