"""Kernel source from ops: one file per op family, and the writers that they share. Importing it fills the tables.

This folder's README is the map of it and of `numhlo.backend.planning`.
"""

from numhlo.backend.emit import (
    comparison,
    contraction,
    conversion,
    convolution,
    cumulative,
    elementwise,
    factorizations,
    fourier,
    indexing,
    layout,
    linear_systems,
    membership,
    order_statistics,
    ranking,
    reduction,
    sorting,
    special,
    triangles,
    true_places,
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
    "fourier",
    "indexing",
    "layout",
    "linear_systems",
    "membership",
    "order_statistics",
    "ranking",
    "reduction",
    "sorting",
    "special",
    "triangles",
    "true_places",
    "user_kernels",
    "windows",
]
