"""Values of Python that no array holds: text, dates, exact numbers. Beside traced arrays they are refused, with advice.

Types are known by name, so that the modules that define them need not be loaded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.trace import Tracer

_TEXT = "keep text outside the traced function, or let integers stand for it"
_NUMBERS = "write float(value) for it"
_DATES = "let integers stand for it, such as days or seconds since a date"
ADVICE = {
    ("builtins", "str"): _TEXT,
    ("builtins", "bytes"): _TEXT,
    ("decimal", "Decimal"): _NUMBERS,
    ("fractions", "Fraction"): _NUMBERS,
    **{("datetime", name): _DATES for name in ("date", "time", "timedelta", "tzinfo")},
}
"""By module and name of a class: what to write instead."""

MODULES = {
    "decimal": "compute with floats; what must be exact belongs outside the traced function",
    "fractions": "compute with floats; what must be exact belongs outside the traced function",
    "statistics": "use numpy's mean, median, std, var, quantile and corrcoef",
}
"""Modules of Python whose functions and classes need values, and what to write instead."""


ARRAYS = ("pandas", "xarray", "polars")
"""Packages whose objects are arrays beside traced ones: labels of theirs are not traced."""


def as_operand(value: Any) -> Any:
    """Return an operand as an array; NotImplemented for one of a class that is not known here: it may have its rule.

    Raises
    ------
    DTypeError
        For one that no array holds.
    """
    cls = type(value)
    advice = ADVICE.get((cls.__module__, cls.__name__))
    if advice is None and hasattr(cls, "__array__") and cls.__module__.partition(".")[0] in ARRAYS:
        return np.asarray(value)
    if advice is None:
        return NotImplemented
    raise DTypeError(
        f"arithmetic of a traced array and a {cls.__module__}.{cls.__name__}".replace("builtins.", ""),
        where=capture_location(),
        why="traced arrays hold bools, integers, floats and complex numbers",
        fix=advice,
    )


def refusing(function: Any) -> Callable[..., Any]:
    """Return a function, or class, of one of the modules that says so where it is given traced arrays."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        for x in (*args, *kwargs.values()):
            if isinstance(x, Tracer) and x.known() is None:
                module = function.__module__
                raise DTypeError(
                    f"{module}.{function.__name__} of a traced array {x.aval.short()}",
                    where=capture_location(),
                    why="it needs values, which are not known while tracing",
                    fix=MODULES[module],
                )
        return function(*args, **kwargs)

    return call
