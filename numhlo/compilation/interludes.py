"""Python that runs in the middle of tracing and is no part of what is traced: handlers of signals, and finalizers."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal.getsignal` makes enumerations, which takes 20 times as long
import functools
import sys
import threading
import weakref
from collections.abc import Set as AbstractSet
from types import CodeType, FrameType
from typing import Any

from numhlo.tracer.core.trace import Trace

FINALIZERS = frozenset({weakref.finalize.__call__.__code__})


def is_interlude(trace: Trace) -> bool:
    """Return whether the caller is called by a signal's handler, or a finalizer, that began after the trace did."""
    opener, codes = trace.root.opener, _interrupting_codes()
    frame: FrameType | None = sys._getframe(1) if opener else None
    while frame is not None and id(frame) != opener:
        if frame.f_code in codes or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _interrupting_codes() -> AbstractSet[CodeType]:
    if threading.current_thread() is not threading.main_thread():
        return FINALIZERS  # handlers run in the main thread
    handlers = [_signal.getsignal(number) for number in _SIGNALS]
    return FINALIZERS.union(_code_of(h) for h in handlers if callable(h))


_SIGNALS = sorted(map(int, _signal.valid_signals()))


def _code_of(function: Any) -> Any:
    """Return the code that a handler begins with; None where it is not Python's."""
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = type(function).__call__
    function = getattr(function, "__func__", function)
    return getattr(function, "__code__", None)
