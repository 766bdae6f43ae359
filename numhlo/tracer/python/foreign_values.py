"""Values of Python that no array holds: text, dates, exact numbers. Beside traced arrays they are refused, with advice.

Types are known by name, so that the modules that define them need not be loaded.
"""

from __future__ import annotations

import array
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.core.trace import Tracer

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

_MASKED = "keep a mask beside the array: numpy.where(mask, fill, x), and x.mean(where=~mask) for reductions"
MODULES = {
    "decimal": "compute with floats; what must be exact belongs outside the traced function",
    "fractions": "compute with floats; what must be exact belongs outside the traced function",
    **dict.fromkeys(["numpy.ma", "numpy.ma.core", "numpy.ma.extras"], _MASKED),
    **dict.fromkeys(["json", "struct", "_struct"], "return the array, and write it outside the traced function"),
    **dict.fromkeys(
        [
            "random",
            "numpy.random",
            "numpy.random._generator",
            "numpy.random.bit_generator",
            "numpy.random.mtrand",
            *[f"numpy.random._{name}" for name in ("mt19937", "pcg64", "philox", "sfc64")],
        ],
        "draw by numhlo.random, whose keys are made of traced seeds, too; or mark the argument static",
    ),
    "numpy.testing._private.utils": "return what is tested, and test it outside the traced function",
    "statistics": "use numpy's mean, median, std, var, quantile and corrcoef",
}
"""Modules of Python and NumPy whose functions and classes need values, and what to write instead."""

_MATRICES = "use arrays of two dimensions, and x @ y for a product of matrices"
_BYTES = "return the array, and ask for its bytes outside the traced function; x.view(numpy.uint8) has them as numbers"
FUNCTIONS = {
    **{id(f): _MATRICES for f in (np.matrix, np.asmatrix, np.bmat)},
    **{id(f): _BYTES for f in (memoryview, bytes, bytearray)},
}
"""By the id of others: what to write instead."""


KNOWN = (bool, int, float, complex, np.ndarray, np.generic, Tracer, list, tuple)
"""Classes of operands."""

ARRAYS = ("pandas", "xarray", "polars", "jaxlib", "torch")
"""Packages whose objects are arrays beside traced ones: labels of theirs are not traced."""

NUMBERS = (range, memoryview, bytearray, array.array)
"""Classes of Python's whose objects NumPy takes for arrays."""

NOTHING = "None is what a function without return gives"
OTHERS = "convert it with numpy.array, or keep it outside the traced function"


def as_operand(value: Any) -> Any:
    """Return an operand as an array; NotImplemented for one of a class that is not known here: it may have its rule.

    Raises
    ------
    DTypeError
        For one that no array holds.
    """
    cls = type(value)
    advice = ADVICE.get((cls.__module__, cls.__name__))
    if advice is None and _is_array(cls):
        made = value if cls in NUMBERS else value.__array__()
        return made if isinstance(made, Tracer) else np.asarray(made)
    if advice is None and cls.__module__ != "builtins":
        return NotImplemented
    error = DTypeError(
        f"arithmetic of a traced array and a {cls.__module__}.{cls.__name__}".replace("builtins.", ""),
        where=capture_location(),
        why="traced arrays hold bools, integers, floats and complex numbers",
        fix=advice or (NOTHING if value is None else OTHERS),
    )
    error.is_numpys = cls.__module__ == "builtins"
    raise error


def is_no_number(value: Any) -> bool:
    """Return whether a value is one of Python's own that no number is equal to, such as a set or a class."""
    return type(value).__module__ == "builtins" and not isinstance(value, (*KNOWN, *NUMBERS, str, bytes))


def _is_array(cls: type) -> bool:
    if cls in NUMBERS or not hasattr(cls, "__array__"):
        return cls in NUMBERS
    has_rules = hasattr(cls, "__radd__") or hasattr(cls, "__array_ufunc__")
    return not has_rules or cls.__module__.partition(".")[0] in ARRAYS


def advice_on(function: Any) -> str | None:
    """Return what to write instead of a function, or class, that needs values; None for others."""
    module = getattr(function, "__module__", None)
    return FUNCTIONS.get(id(function)) or (MODULES.get(module) if isinstance(module, str) else None)


def refusing(function: Any, advice: str) -> Callable[..., Any]:
    """Return a function, or class, that says so where it is given traced arrays."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        for x in (*args, *kwargs.values()):
            found = next((leaf for leaf in _items(x) if isinstance(leaf, Tracer) and leaf.known() is None), None)
            if found is not None:
                module = (
                    function.__module__.lstrip("_").removesuffix(".core").removesuffix(".extras").partition("._")[0]
                )
                error = DTypeError(
                    f"{module}.{function.__name__} of a traced array {found.aval.short()}",
                    where=capture_location(),
                    why="it needs values, which are not known while tracing",
                    fix=advice,
                )
                error.is_numpys = module == "json" and not found.is_scalar
                raise error
        return function(*args, **kwargs)

    return call


def _items(x: Any) -> Iterable[Any]:
    """Return what is looked at of an argument: itself, or what a container of Python's holds."""
    if type(x) is dict:
        return x.values()
    return x if type(x) in (list, tuple) else (x,)
