"""Machine code of `numhlo.backend.primitives.tiny_floats`."""

from __future__ import annotations

from numhlo.backend.compiler.intrinsics.memory import implement_all
from numhlo.backend.primitives import tiny_floats

implement_all(tiny_floats)
