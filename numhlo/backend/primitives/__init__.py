"""The words of kernel source: loads and stores, conversions, arithmetic, atomics, native calls.

Importable without Numba: here is what each word means in plain Python, for stepping through a kernel with the JIT off.
The compiler process teaches Numba the machine code of the same objects (`numhlo.backend.compiler.intrinsics`).

All words of the modules below can be imported from here: their functions, and what their classes make for each type.
"""

from types import FunctionType
from typing import Any

from numhlo.backend.primitives import (
    arithmetic,
    atomic,
    bits,
    convert,
    fourier,
    lanes,
    memory,
    native,
    products,
    running,
    search,
    streaming,
    tiny_floats,
    transposing,
)
from numhlo.backend.primitives.storage import STORAGES, Storage, register_name, storage_name

MODULES = (
    *(arithmetic, atomic, bits, convert, fourier, lanes, memory, native, products, running, search, streaming),
    *(tiny_floats, transposing),
)

WORDS = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if callable(value) and not isinstance(value, type) and value.__module__.startswith(__name__)
    if not name.startswith("_") and (value.__module__ == module.__name__ or not isinstance(value, FunctionType))
}
"""Functions of the modules, and what their classes make."""

globals().update(WORDS)


def __getattr__(name: str) -> Any:
    """Say that there is no such word."""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["STORAGES", "Storage", "register_name", "storage_name"]
__all__.extend(WORDS)
