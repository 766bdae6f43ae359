"""`jax.monitoring`: events that programs record, and functions that hear of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "clear_event_listeners", "record_event", "record_event_duration_secs", "record_event_time_span", "record_scalar",
    "register_event_duration_secs_listener", "register_event_listener", "register_event_time_span_listener",
    "register_scalar_listener", "unregister_event_duration_listener", "unregister_event_listener",
    "unregister_event_time_span_listener", "unregister_scalar_listener",
]  # fmt: skip

_events: list[Callable[..., None]] = []
_durations: list[Callable[..., None]] = []
_spans: list[Callable[..., None]] = []
_scalars: list[Callable[..., None]] = []


def record_event(event: str, **kwargs: Any) -> None:
    """Tell the functions that hear of events.

    Examples
    --------
    >>> register_event_listener(lambda event, **kwargs: print(event, kwargs))
    >>> record_event("/begin", step=1)
    /begin {'step': 1}
    >>> clear_event_listeners()
    """
    for listener in _events:
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: Any) -> None:
    """Tell the functions that hear of durations, in seconds."""
    for listener in _durations:
        listener(event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: Any) -> None:
    """Tell the functions that hear of spans of time, in seconds."""
    for listener in _spans:
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: Any) -> None:
    """Tell the functions that hear of numbers."""
    for listener in _scalars:
        listener(event, value, **kwargs)


def register_event_listener(callback: Callable[..., None]) -> None:
    """Call ``callback(event, **kwargs)`` for each event."""
    _events.append(callback)


def register_event_duration_secs_listener(callback: Callable[..., None]) -> None:
    """Call ``callback(event, duration, **kwargs)`` for each duration."""
    _durations.append(callback)


def register_event_time_span_listener(callback: Callable[..., None]) -> None:
    """Call ``callback(event, start_time, end_time, **kwargs)`` for each span of time."""
    _spans.append(callback)


def register_scalar_listener(callback: Callable[..., None]) -> None:
    """Call ``callback(event, value, **kwargs)`` for each number."""
    _scalars.append(callback)


def unregister_event_listener(callback: Callable[..., None]) -> None:
    """Call a function no more."""
    _events.remove(callback)


def unregister_event_duration_listener(callback: Callable[..., None]) -> None:
    """Call a function no more."""
    _durations.remove(callback)


def unregister_event_time_span_listener(callback: Callable[..., None]) -> None:
    """Call a function no more."""
    _spans.remove(callback)


def unregister_scalar_listener(callback: Callable[..., None]) -> None:
    """Call a function no more."""
    _scalars.remove(callback)


def clear_event_listeners() -> None:
    """Call none of the functions any more."""
    for listeners in (_events, _durations, _spans, _scalars):
        listeners.clear()
