"""All families of derivative rules: importing this module registers them."""

from __future__ import annotations

from numhlo.tracer.differentiation import (
    collectives,
    composites,
    contraction,
    control_flow,
    convolution,
    elementwise,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    scatter,
    windows,
)

FAMILIES = (
    collectives,
    composites,
    contraction,
    control_flow,
    convolution,
    elementwise,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    scatter,
    windows,
)
"""The modules that say how tangents flow through ops."""
