"""All families of batching rules: importing this module registers them."""

from __future__ import annotations

from numhlo.tracer.batching import (
    contraction,
    control_flow,
    elementwise,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    windows,
)

FAMILIES = (
    contraction,
    control_flow,
    elementwise,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    windows,
)
"""The modules that say how ops run on lanes."""
