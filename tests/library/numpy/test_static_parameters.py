"""Every function of NumPy's with a parameter that is a whole number, where an argument of the traced function is given."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
from numhlo.lowering.ir.errors import NumhloError

ARRAYS = (
    np.arange(1.0, 5.0),
    np.arange(4),
    np.eye(4) * 3.0,
    np.arange(16.0).reshape(2, 2, 2, 2),
    np.array([True, False, True, True]),
)
NUMBERS = (2, 1, 0, 3)
PARAMETER = re.compile(r"^    (\w[\w, *]*) : (int\b.*)$", re.MULTILINE)
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
TEXT = {"array2string", "array_repr", "array_str", "set_printoptions"}
"""What makes text, or says how: nothing of it is traced."""

SQUARE = np.arange(16.0).reshape(4, 4)
EXAMPLES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("numpy.apply_along_axis", "axis"): lambda n: hnp.apply_along_axis(np.sum, n, SQUARE),
    ("numpy.apply_over_axes", "axes"): lambda n: hnp.apply_over_axes(np.sum, SQUARE, n),
    ("numpy.argpartition", "axis"): lambda n: hnp.argpartition(SQUARE, 2, axis=n),
    ("numpy.partition", "axis"): lambda n: hnp.partition(SQUARE, 2, axis=n),
    ("numpy.fromfunction", "shape"): lambda n: hnp.fromfunction(np.negative, (n,)),
    ("numpy.mask_indices", "n"): lambda n: hnp.mask_indices(n, np.triu),
    ("numpy.compress", "axis"): lambda n: hnp.compress([True, False], SQUARE, axis=n),
    ("numpy.linalg.cross", "axis"): lambda n: hnp.linalg.cross(SQUARE[:3, :3], SQUARE[:3, :3], axis=n),
    ("numpy.put_along_axis", "axis"): lambda n: hnp.put_along_axis(np.zeros((2, 2)), np.zeros((2, 2), int), 1.0, n),
    ("numpy.sliding_window_view", "axis"): lambda n: hnp.sliding_window_view(SQUARE, 2, n),
    ("numpy.trim_zeros", "axis"): lambda n: hnp.trim_zeros(np.arange(4), axis=n),
    ("numpy.unique", "axis"): lambda n: hnp.unique(np.arange(4), axis=n),
    ("numpy.unpackbits", "axis"): lambda n: hnp.unpackbits(np.eye(3, dtype=np.uint8), n),
    ("numpy.unpackbits", "count"): lambda n: hnp.unpackbits(np.ones(3, np.uint8), count=n),
}  # fmt: skip
"""Calls that are not found by trying arrays."""


def whole_numbers(function: Callable[..., Any]) -> list[str]:
    """Return the parameters that are documented as whole numbers."""
    known = inspect.signature(function).parameters
    found = [name.strip(" *") for names, _ in PARAMETER.findall(function.__doc__ or "") for name in names.split(",")]
    return [name for name in found if name in known and name != "fill_value"]


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in (hnp, hnp.linalg, hnp.fft):
        for name in module.__all__:
            member = getattr(module, name)
            if name not in TEXT and callable(member) and not isinstance(member, type | np.ufunc):
                with contextlib.suppress(ValueError, TypeError):
                    inspect.signature(member)
                    yield f"{module.__name__.removeprefix('numhlo.')}.{name}", member


CASES = [(name, function, parameter) for name, function in functions() for parameter in whole_numbers(function)]


def required(function: Callable[..., Any], parameter: str) -> list[str]:
    """Return what a function must have besides one of its parameters."""
    found = inspect.signature(function).parameters.values()
    return [p.name for p in found if p.default is p.empty and p.kind in POSITIONAL and p.name != parameter]


def call(function: Callable[..., Any], parameter: str, given: Any, number: Any) -> Any:
    """Call a function with values of what it must have, and a number for one of its parameters."""
    left, args, options = list(given), [], {}
    for p in inspect.signature(function).parameters.values():
        if p.name == parameter and (p.kind == p.POSITIONAL_ONLY or (p.default is p.empty and p.kind in POSITIONAL)):
            args.append(number)
        elif p.name == parameter:
            options[p.name] = number
        elif p.default is p.empty and p.kind in POSITIONAL:
            args.append(left.pop(0))
    return function(*args, **options)


def examples(name: str, function: Callable[..., Any], parameter: str) -> Iterator[Callable[[Any], Any]]:
    """Yield calls of a function that may work, as functions of a number for one of its parameters."""
    if (name, parameter) in EXAMPLES:
        yield EXAMPLES[name, parameter]
    for given in itertools.product((*ARRAYS, 2), repeat=len(required(function, parameter))):
        yield functools.partial(call, function, parameter, given)


def works(program: Callable[[Any], Any], number: int) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            program(number)
            numhlo.jit(program, static_argnums=0).lower(number)
        except Exception:  # noqa: BLE001 - whatever is wrong with arguments that were tried
            return False
    return True


@pytest.mark.parametrize(("name", "function", "parameter"), CASES, ids=[f"{name}-{p}" for name, _, p in CASES])
def test_a_traced_number_works_or_is_said_to_be_static(name, function, parameter):
    tried = ((f, k) for f in examples(name, function, parameter) for k in NUMBERS)
    example, number = next((f, k) for f, k in tried if works(f, k))

    def program(count):
        return example(count)

    try:
        numhlo.jit(program).lower(number)
    except NumhloError as error:
        advice = f"{error.what}; {error.why}; {error.fix}"
        assert "argument count" in error.fix, advice
        assert "static" in error.fix, advice


def message_of(function, *args):
    with pytest.raises(NumhloError) as caught:
        numhlo.jit(function)(*args)
    return caught.value


def test_the_full_text():
    def differences(x, count):
        return np.diff(x, n=count + 1)

    error = message_of(differences, np.ones(3), 1)
    assert (error.what, error.why, error.fix) == (
        "diff: n is a traced array int64[]",
        "it must be known while tracing, and follows from argument count of differences",
        "mark the argument count static (static_argnums, static_argnames)",
    )
    assert error.where.source == "return np.diff(x, n=count + 1)"


def test_numbers_in_containers_loops_and_arrays_are_not_said_to_be_static_by_themselves():
    sized = message_of(lambda options: np.zeros(options["size"]), {"size": 3})
    assert sized.fix.startswith("pass options['size'] as an argument of its own, static (static_argnums,")
    found = message_of(lambda x: np.hanning(np.argmax(x)), np.ones(3))
    assert found.fix == "give a number that is known while tracing, such as an argument that is marked static"
    looped = message_of(lambda x: numhlo.lax.fori_loop(0, 3, lambda k, y: y + np.tile(y, k)[0], x), np.ones(3))
    assert looped.what == "tile: reps is a traced array int64[]"
    assert "argument" not in looped.why


def test_several_arguments_are_all_named():
    def window(first, second):
        return np.hanning(first * second)

    assert (
        message_of(window, 2, 3).fix == "mark the arguments first and second static (static_argnums, static_argnames)"
    )


def test_users_own_conversions_are_not_taken_for_those_of_the_function_that_called_them():
    error = message_of(lambda x, n: np.apply_along_axis(lambda row: row * len(range(n)), 0, x), np.ones((2, 2)), 2)
    assert error.what == "the use as a Python index or length of a traced array int64[]"
