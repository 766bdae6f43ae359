"""The hash behind random numbers: Threefry 2x32 in 20 rounds, as one word of kernel source."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ops.counter_based import threefry2x32


def threefry2x32_u64(key0: Any, key1: Any, counter0: Any, counter1: Any) -> Any:
    """Return the hash of a counter under a key, the first word on top; all four are uint32."""
    first, second = threefry2x32(key0, key1, np.asarray(counter0), np.asarray(counter1))
    return np.uint64(int(first) << 32 | int(second))
