"""SciPy's own functions of traced arrays: those that `numhlo.scipy` has are called there instead.

A program that says ``scipy.special.erf(x)`` means the same while it is traced. SciPy's ufuncs ask us themselves; its
functions are exchanged where the user's code calls them. SciPy is not imported for this: what was not can't be called.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from numhlo.lowering.ir.late_modules import late
from numhlo.tracer.building import PACKAGES, Package, contains_tracer

blas = late("numhlo.library.scipy.linalg.blas")
host_routines = late("numhlo.library.scipy.linalg.host_routines")
lapack = late("numhlo.library.scipy.linalg.lapack")

MODULES = (
    ("scipy.special", "scipy.special"),
    ("scipy.linalg", "scipy.linalg"),
    ("scipy.linalg", "numpy.linalg"),
    ("scipy.signal", "scipy.signal"),
    ("scipy.fft", "scipy.fft"),
    ("scipy.fft", "numpy.fft"),
    ("scipy.integrate", "scipy.integrate"),
    ("scipy.ndimage", "scipy.ndimage"),
)
"""SciPy's modules, and those of ours that have functions of the same names."""

OTHER_NAMES = {"psi": "digamma"}
"""Names that functions of SciPy's give of themselves, and those that ours have."""

DISTRIBUTIONS = "scipy.stats"


def counterpart(function: Any) -> Callable[..., Any] | None:
    """Return what `numhlo.scipy` has for a function, a ufunc or a distribution's method of SciPy's.

    Examples
    --------
    >>> import scipy.special
    >>> counterpart(scipy.special.erf)(0.0)
    Array(0.)
    >>> counterpart(scipy.special.jv) is counterpart(len) is None
    True
    """
    if isinstance(function, MethodType):
        return _method_of_distribution(function.__self__, function.__name__)
    found = [_named_alike(*paths, getattr(function, "__name__", ""), function) for paths in MODULES]
    return next((ours for ours in found if ours is not None), None)


def _method_of_distribution(owner: Any, name: str) -> Callable[..., Any] | None:
    """Return our method for one of a distribution of SciPy's, or of one that holds its parameters."""
    if not is_frozen(owner):
        return getattr(_named_alike(DISTRIBUTIONS, DISTRIBUTIONS, getattr(owner, "name", ""), owner), name, None)
    original = getattr(sys.modules[DISTRIBUTIONS], getattr(owner.dist, "name", None) or "", None)
    method = _method_of_distribution(original, name) if type(original) is type(owner.dist) else None
    return method and (lambda *points: method(*points, *owner.args, **owner.kwds))


def is_frozen(value: Any) -> bool:
    """Return whether a value is a distribution of SciPy's that holds its parameters, such as ``norm(0.0, 2.0)``."""
    return is_from_scipy(type(value)) and {"dist", "args", "kwds"} <= getattr(value, "__dict__", {}).keys()


def _named_alike(path: str, own: str, name: object, value: Any) -> Any:
    """Return what our module has under the name that a value has in one of SciPy's, or None."""
    if not isinstance(name, str) or getattr(sys.modules.get(path), name, None) is not value:
        return None
    name = OTHER_NAMES.get(name, name)
    face = sys.modules[__name__.partition(".")[0]]  # it loads them; this room can't import them
    ours: Any = functools.reduce(getattr, own.split("."), face)
    return getattr(ours, name) if name in ours.__all__ else None


def is_from_scipy(value: Any) -> bool:
    """Return whether a function or an object's class is SciPy's."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.startswith("scipy.")


def of_traced_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of SciPy's that takes traced arrays, too, if there is one."""
    if type(function).__name__ == "fortran":
        return functools.partial(_routine, function)
    ours = None if isinstance(function, np.ufunc) else counterpart(function)
    if ours is None:
        return function

    owner: Any = getattr(function, "__self__", None)
    held = (owner.args, (*owner.kwds.values(),)) if is_frozen(owner) else ()

    def call(*args: Any, **kwargs: Any) -> Any:
        return (ours if contains_tracer((args, (*kwargs.values(),), held)) else function)(*args, **kwargs)

    return call


def _routine(routine: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a routine of BLAS or LAPACK: SciPy's own without traced arrays; else ours, or it on the host."""
    if not contains_tracer((args, (*kwargs.values(),))):
        return routine(*args, **kwargs)
    name = routine.__name__.rpartition(" ")[2]
    found = (lapack.ROUTINES | blas.ROUTINES).get(name)
    options = {k: v for k, v in kwargs.items() if not k.startswith("overwrite_")}
    if found is not None and _takes(found[0], (found[1], *args), options):
        return found[0](found[1], *args, **options)
    return host_routines.call(routine, name, args, options)


def _takes(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Return whether a function has parameters for all arguments: ours have none for strides and offsets."""
    try:
        inspect.signature(function).bind(*args, **options)
    except TypeError:
        return False
    return True


PACKAGES["scipy"] = Package(of_traced_arrays, counterpart)
