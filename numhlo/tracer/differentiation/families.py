"""All families of derivative rules: importing this module registers them."""

from __future__ import annotations

from numhlo.tracer.differentiation import (  # noqa: F401 - each registers its rules
    calls,
    collectives,
    composites,
    contraction,
    control_flow,
    convolution,
    elementwise,
    extension_ops,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    scatter,
    while_loops,
    windows,
)
