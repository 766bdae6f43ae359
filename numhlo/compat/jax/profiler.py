"""`jax.profiler`: names for stretches of a program; traces are recorded by a profiler of Python's.

Annotations are accepted where they stand. What would write a trace for TensorBoard is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, NoReturn, TypeVar

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "StepTraceAnnotation", "TraceAnnotation", "annotate_function", "device_memory_profile",
    "save_device_memory_profile", "start_server", "start_trace", "stop_server", "stop_trace", "trace",
]  # fmt: skip


class TraceAnnotation(ContextDecorator):
    """A name for what runs in a block, for a trace that somebody records.

    Parameters
    ----------
    name : str
    **details : object
    """

    def __init__(self, name: str, **details: Any) -> None:
        self.name, self.details = name, details

    def __enter__(self) -> TraceAnnotation:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: nobody records."""


class StepTraceAnnotation(TraceAnnotation):
    """A name for one step of a training loop."""


def annotate_function(func: F, name: str | None = None, **details: Any) -> F:
    """Return a function as it is: its name is in every trace of Python's."""
    return func


def _refused(what: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise UnsupportedError(
            f"jax.profiler.{what}",
            where=capture_location(),
            why="traces of XLA's are not written",
            fix="use numhlo.debugging(time=True), jit(f).lower(x).compile().cost_analysis(), or cProfile",
        )

    refuse.__name__ = refuse.__qualname__ = what
    return refuse


trace = _refused("trace")
start_trace = _refused("start_trace")
stop_trace = _refused("stop_trace")
start_server = _refused("start_server")
stop_server = _refused("stop_server")
device_memory_profile = _refused("device_memory_profile")
save_device_memory_profile = _refused("save_device_memory_profile")

__getattr__ = _refusing(__name__)
