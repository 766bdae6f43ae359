"""NumPy as the oracle of the namespace: one function, run by NumPy and traced, must give the same arrays.

A function under test takes the namespace first, ``fun(np, *arrays)``. It runs with NumPy itself, traced with
``numhlo.numpy``, and traced with plain ``numpy``, which reaches the same code through the protocols. Traced functions
are executed op by op.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy
import pytest

import numhlo.numpy
from numhlo.lowering.interpreter import interpret
from numhlo.tracer.core.arguments import leaf_type
from numhlo.tracer.python.function_tracing import trace_pytree_function
from numhlo.tracer.trees.pytrees import tree_flatten, tree_unflatten

ULPS = {"f": 4, "c": 8}
"""How far floats and complex numbers may be apart, in units in the last place, where a test doesn't say."""


def strides_of(array: Any) -> tuple[int, ...] | None:
    """Return an argument's layout as tracing takes it: None where it is C-contiguous."""
    plain = not isinstance(array, numpy.ndarray) or array.flags.c_contiguous
    return None if plain else array.strides


def run_traced(fun: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return the traced function's results, and the arguments as it leaves them."""
    types = [leaf_type(x) for x in arguments]
    traced = trace_pytree_function("f", lambda leaves: fun(*leaves), types, [strides_of(x) for x in arguments])
    arrays: list[Any] = [numpy.asarray(x, t.tensor.dtype, order="C") for x, t in zip(arguments, types, strict=True)]
    captures: list[Any] = traced.captures
    results = interpret(traced.function, [*arrays, *captures])
    count = traced.out_tree.num_leaves
    for cut in traced.cuts:
        results[cut.leaf] = results[cut.leaf].take(range(int(results[cut.length])), cut.axis)
    after = list(arguments)
    for place, new in zip(traced.written, results[count + len(traced.cuts) :], strict=True):
        after[place] = new
    return tree_unflatten(traced.out_tree, results[:count]), after


def fresh(arguments: Sequence[Any]) -> list[Any]:
    """Return copies that keep memory layout, so that one run can't spoil the next one's arguments."""
    return [_copy(x) if isinstance(x, numpy.ndarray) else x for x in arguments]


def _copy(array: numpy.ndarray) -> numpy.ndarray:
    if array.flags.c_contiguous:
        return array.copy()
    base = array
    while isinstance(base.base, numpy.ndarray):
        base = base.base
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    buffer = base.copy(order="K")
    return numpy.ndarray(array.shape, array.dtype, buffer, offset, array.strides)


def assert_same(found: Any, wanted: Any, label: str = "", ulps: int | None = None) -> None:
    """Assert that two pytrees of arrays have the same structure, shapes, dtypes and values.

    NumPy's scalars and 0-d arrays count as the same.
    """
    found_leaves, found_tree = tree_flatten(found)
    wanted_leaves, wanted_tree = tree_flatten(wanted)
    assert len(found_leaves) == len(wanted_leaves), f"{label}: {found_tree} against NumPy's {wanted_tree}"
    for one, other in zip(found_leaves, wanted_leaves, strict=True):
        assert_same_array(numpy.asarray(one), numpy.asarray(other), label, ulps)


def assert_same_array(x: numpy.ndarray, y: numpy.ndarray, label: str, ulps: int | None = None) -> None:
    """Assert that ``x`` is NumPy's ``y``: shape, dtype, and values up to some units in the last place."""
    assert x.dtype == y.dtype, f"{label}: dtype {x.dtype} against NumPy's {y.dtype}"
    assert x.shape == y.shape, f"{label}: shape {x.shape} against NumPy's {y.shape}"
    if x.dtype.kind not in "fcV":
        numpy.testing.assert_array_equal(x, y, err_msg=label)
        return
    allowed = ULPS.get(x.dtype.kind, 1) if ulps is None else ulps
    if x.dtype.kind == "c":
        size = numpy.abs(y.astype(numpy.complex128))
        for part in ("real", "imag"):
            _assert_close(getattr(x, part), getattr(y, part), label, allowed, size)
    else:
        _assert_close(x, y, label, allowed, 0.0)


def _assert_close(x: numpy.ndarray, y: numpy.ndarray, label: str, ulps: int, scale: Any) -> None:
    """Assert that floats agree; ``scale`` is how large a number may count as, beyond its own size."""
    info = ml_dtypes.finfo(x.dtype)
    eps, tiny = float(info.eps), float(info.smallest_normal)
    x, y = x.astype(numpy.float64), y.astype(numpy.float64)
    same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    if ulps == 0:
        same &= (numpy.signbit(x) == numpy.signbit(y)) | numpy.isnan(x)
    else:
        with numpy.errstate(all="ignore"):
            room = ulps * eps * numpy.maximum(numpy.maximum(numpy.abs(y), scale), tiny)
            same |= numpy.isfinite(y) & (numpy.abs(x - y) <= room)
    if not same.all():
        wrong = numpy.flatnonzero(~same)[:5]
        raise AssertionError(f"{label}: {x.ravel()[wrong]} against NumPy's {y.ravel()[wrong]} at {wrong}")


def check(
    fun: Callable[..., Any], *arguments: Any, label: str = "", ulps: int | None = None, plain: bool = True
) -> None:
    """Assert that ``fun(np, *arguments)`` gives NumPy's results and leaves its arguments as NumPy does.

    Parameters
    ----------
    fun : callable
        Takes the namespace, then the arguments.
    *arguments : array or Python scalar
    label : str, optional
        What to call the case in messages.
    ulps : int, optional
        Allowed distance; 0 asks for the same bits, signs of zeros included.
    plain : bool, optional
        Also trace with NumPy's own functions.
    """
    inputs = fresh(arguments)
    with numpy.errstate(all="ignore"):
        wanted = fun(numpy, *inputs)
    for namespace in (numhlo.numpy, numpy) if plain else (numhlo.numpy,):
        where = f"{label} traced with {namespace.__name__}"
        found, after = run_traced(lambda *leaves, np=namespace: fun(np, *leaves), fresh(arguments))
        assert_same(found, wanted, where, ulps)
        assert_same(after, inputs, f"{where}: arguments afterwards", ulps)


def check_all(cases: Iterable[Sequence[Any]], **options: Any) -> None:
    """Check many cases, each ``(label, fun, *arguments)``, and report all that fail."""
    failures = []
    for label, fun, *arguments in cases:
        try:
            check(fun, *arguments, label=label, **options)
        except Exception as error:  # noqa: BLE001 - every case is reported
            failures.append(f"{label}: {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} cases:\n" + "\n".join(failures)


def refusal(fun: Callable[..., Any], *arguments: Any, kind: type[Exception] = Exception) -> str:
    """Return the message with which tracing ``fun`` is refused; where in the file is left out."""
    with pytest.raises(kind) as caught:
        run_traced(lambda *leaves: fun(numhlo.numpy, *leaves), arguments)
    return re.sub(r"(  at \w+\.py):\d+ in .*", r"\1", str(caught.value))


def same_refusal(fun: Callable[..., Any], *arguments: Any, plain: bool = True) -> None:
    """Assert that NumPy refuses ``fun``, and that tracing refuses it with an exception of the same class."""
    with pytest.raises(Exception) as wanted:  # noqa: PT011 - whatever NumPy raises
        fun(numpy, *fresh(arguments))
    kinds = [k for k in type(wanted.value).__mro__ if k.__module__ in ("builtins", "numpy.exceptions")]
    for namespace in (numhlo.numpy, numpy) if plain else (numhlo.numpy,):
        with pytest.raises(kinds[0]):
            run_traced(lambda *leaves, np=namespace: fun(np, *leaves), arguments)
