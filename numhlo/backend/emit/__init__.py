"""Kernel source from ops: one file per op family, and the writers that they share. Importing it fills the tables."""

from numhlo.backend.emit import (
    comparison,
    contraction,
    conversion,
    convolution,
    cumulative,
    elementwise,
    factorizations,
    indexing,
    layout,
    linear_systems,
    reduction,
    sorting,
    special,
    triangles,
    user_kernels,
    windows,
)

__all__ = [
    "comparison",
    "contraction",
    "conversion",
    "convolution",
    "cumulative",
    "elementwise",
    "factorizations",
    "indexing",
    "layout",
    "linear_systems",
    "reduction",
    "sorting",
    "special",
    "triangles",
    "user_kernels",
    "windows",
]
