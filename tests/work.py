"""How much work a call does, counted in function calls instead of seconds: the same on every machine, busy or not."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_calls(function: Callable[..., Any], *arguments: Any) -> int:
    """Return how many functions, Python's and C's, ``function(*arguments)`` calls."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()  # what finalizers call isn't the function's work
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return count
