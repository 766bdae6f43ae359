"""The machine code of the words of kernel source; importing this package teaches Numba all of them.

One file per file of `numhlo.backend.primitives`, of the same name. Only a compiler process imports this.
"""

from numhlo.backend.compiler.intrinsics import (
    arithmetic,
    atomic,
    bits,
    columns,
    convert,
    fourier,
    lanes,
    memory,
    native,
    products,
    running,
    search,
    streaming,
    threefry,
    tiny_floats,
    transposing,
    vector_math,
)

__all__ = [
    "arithmetic",
    "atomic",
    "bits",
    "columns",
    "convert",
    "fourier",
    "lanes",
    "memory",
    "native",
    "products",
    "running",
    "search",
    "streaming",
    "threefry",
    "tiny_floats",
    "transposing",
    "vector_math",
]
