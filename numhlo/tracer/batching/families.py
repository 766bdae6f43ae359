"""All families of batching rules: importing this module registers them."""

from __future__ import annotations

from numhlo.tracer.batching import (  # noqa: F401 - each registers its rules
    calls,
    contraction,
    control_flow,
    elementwise,
    extension_ops,
    fourier,
    indexing,
    layout,
    linear_algebra,
    random_bits,
    reduction,
    windows,
)
