"""The harness of tests of running programs: a program is right on every call, and leaves alone what it was given.

`check_every_call` waits for machine code and calls the function about ten times, with other inputs in between and with
arrays in every form of `forms`: read-only memory, strided, one array twice, overlapping views. After each call it
compares all results with the reference's, all arguments with what the reference leaves of its own, and all that earlier
calls were given and gave with what it was. The reference is the same function under the interpreter, or any callable,
such as plain NumPy running the same source:

    check_every_call(numhlo.jit(f), [(x, 3), (y, 4)])                        # against the interpreter
    check_every_call(numhlo.jit(f), [(x,), (y,)], reference=f)                # against NumPy, written arguments included
    check_executable(executable, function, [(a, b), (c, d)])                   # a program of the backend

It raises `EveryCallError`, which says which call of which form on which input, which result or argument, and what
differs. `python -m tests.every_call` sends all tests through it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten
from tests.every_call.comparison import CLOSE, EXACT, Tolerance, compare
from tests.every_call.forms import FORMS, SHARING, is_array, own_copy

SCHEDULE = (
    ("plain", 0),
    ("plain", 0),
    ("plain", 1),
    ("in read-only memory", 0),
    ("strided", 1),
    ("one array twice", 0),
    ("backwards", 0),
    ("overlapping views", 1),
    ("unaligned", 1),
    ("plain", 0),
)
"""Forms of the native calls, and which input each is given."""

MOST_SHOWN = 6


class EveryCallError(AssertionError):
    """A call gave something else than the reference, or changed what it should have left alone."""


@dataclass
class _Kept:
    """Arrays that earlier calls were given and gave, with what they held when the call was over."""

    arrays: list[tuple[str, np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, what: str, leaves: Iterable[Any]) -> None:
        self.arrays += [(f"{what} {k}", x, np.array(x)) for k, x in enumerate(leaves) if isinstance(x, np.ndarray)]

    def changed(self) -> list[str]:
        found = []
        for what, array, before in self.arrays:
            text = compare(array, before)
            if text is not None:
                found.append(f"{what} has changed since: {text}")
        return found


@dataclass
class _Checked:
    """One function under test, and what its calls have done so far."""

    function: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: list[tuple[list[Any], PyTreeDef]]
    owned: Collection[int]
    donated: Collection[int]
    tolerance: Tolerance | Sequence[Tolerance]
    same_bits: bool
    number: int = 0
    kept: _Kept = field(default_factory=_Kept)
    firsts: dict[tuple[int, bool], list[Any]] = field(default_factory=dict)

    def call(self, form: str, which: int, *, native: bool) -> None:
        """Make one call and raise if anything about it is wrong."""
        self.number += 1
        leaves, tree = self.inputs[which]
        given, others = (FORMS[form](leaves, self.owned) for _ in range(2))
        before = [own_copy(x) for x in given]
        wanted = tree_flatten(self.reference(*tree_unflatten(tree, others)))[0]
        found = tree_flatten(self.function(*tree_unflatten(tree, given)))[0]
        wrong = [
            *self._results(found, wanted, form, which, native=native),
            *self._arguments(given, others, before),
            *self.kept.changed(),
        ]
        if wrong:
            engine = "native" if native else "first"
            lines = [f"call {self.number} ({engine}, {form}, input {which}):", *wrong[:MOST_SHOWN]]
            lines += [f"and {len(wrong) - MOST_SHOWN} more"] if len(wrong) > MOST_SHOWN else []
            raise EveryCallError("\n  ".join(lines))
        self.kept.add(f"call {self.number}'s result", found)
        self.kept.add(f"call {self.number}'s argument", [x for k, x in enumerate(given) if k not in self.donated])

    def _results(self, found: list[Any], wanted: list[Any], form: str, which: int, *, native: bool) -> list[str]:
        if len(found) != len(wanted):
            return [f"{len(found)} results instead of {len(wanted)}"]
        allowed = self.tolerance
        each = [allowed] * len(found) if isinstance(allowed, Tolerance) else allowed
        trios = enumerate(zip(found, wanted, each, strict=True))
        wrong = [f"result {k}: {t}" for k, (x, y, near) in trios if (t := compare(x, y, near)) is not None]
        if self.same_bits and form == "plain" and not wrong:
            first = self.firsts.setdefault((which, native), [np.array(x) for x in found])
            pairs = enumerate(zip(found, first, strict=True))
            text = "result {}: not what an earlier call gave for the same: {}"
            wrong = [text.format(k, t) for k, (x, y) in pairs if (t := compare(x, y)) is not None]
        return wrong

    def _arguments(self, given: list[Any], others: list[Any], before: list[Any]) -> list[str]:
        """Return what is wrong with the arguments: those written into are as the reference's, others as they were."""
        wrong = []
        for number, (array, other, old) in enumerate(zip(given, others, before, strict=True)):
            if number in self.donated or not isinstance(array, np.ndarray):
                continue
            is_owned = number in self.owned
            near = self.tolerance if is_owned and isinstance(self.tolerance, Tolerance) else EXACT
            text = compare(array, other if is_owned else old, near)
            if text is not None:
                wrong.append(f"argument {number} {'is left wrong' if is_owned else 'has been written into'}: {text}")
        return wrong


def check_every_call(
    function: Callable[..., Any],
    inputs: Sequence[Sequence[Any]],
    *,
    reference: Callable[..., Any] | None = None,
    written: Collection[int] | None = None,
    donated: Collection[int] = (),
    tolerance: Tolerance | Sequence[Tolerance] = CLOSE,
    first_answers: bool = True,
    native: bool = True,
    shares: bool = True,
    same_bits: bool = True,
    schedule: Sequence[tuple[str, int]] = SCHEDULE,
) -> int:
    """Call a function often and in every form, and compare each call with the reference.

    Parameters
    ----------
    function : callable
        As `numhlo.jit` makes it; or any with a method ``wait()``, which waits for machine code, or without one.
    inputs : sequence of sequences
        Positional arguments of calls: pytrees of arrays and scalars. At least one; where there is only one, another is
        made of it by halving floats and exchanging other elements. They stay as they are.
    reference : callable, optional
        Gives what is expected; it is called on arrays of its own and may write into them. By default the jitted
        function under the interpreter.
    written : collection of int, optional
        Argument leaves that the function may write into. They are given as writable arrays of their own, and have to be
        as the reference leaves its own. By default those that the reference changes on any of the inputs.
    donated : collection of int, optional
        Argument leaves whose memory the function may use: nothing is said of what is in them afterwards.
    tolerance : Tolerance or sequence of Tolerance, optional
        Of results and written arguments; or of each result, where none is written into.
    first_answers : bool, optional
        Whether the calls begin before machine code is there.
    native : bool, optional
        Whether to wait for machine code; without, all calls are first answers or what comes of them.
    shares : bool, optional
        Whether arrays of one dtype may have each other's elements, as arguments that are one array do.
    same_bits : bool, optional
        Whether calls on the same values in machine code have to give the same bits.
    schedule : sequence of (str, int), optional
        Forms of the calls, and the number of the input that each is given, modulo how many there are.

    Returns
    -------
    int
        How many calls were made.

    Raises
    ------
    EveryCallError
        On the first call that is wrong.
    """
    reference = interpreted(function) if reference is None else reference
    flat = [_flattened(x) for x in inputs]
    if len(flat) == 1:
        flat.append((_other_values(flat[0][0]), flat[0][1]))
    changed = _changed_by(reference, flat) if written is None else set(written)
    owned = changed | set(donated)
    state = _Checked(function, reference, flat, owned, frozenset(donated), tolerance, same_bits)
    if first_answers:
        for which in range(2):
            state.call("plain", which % len(flat), native=False)
    for form, which in schedule:
        if form in SHARING and not (shares and can_share(flat[0][0], owned)):
            continue
        _call_until_known(state, form, which % len(flat), native=native)
    return state.number


def _call_until_known(state: _Checked, form: str, which: int, *, native: bool) -> None:
    """Call once in machine code: another layout may be traced anew, and is called again."""
    wait = getattr(state.function, "wait", None) if native else None
    if wait is None:
        state.call(form, which, native=native)
        return
    wait()
    traced = _traces_of(state.function)
    state.call(form, which, native=traced > 0)
    if _traces_of(state.function) != traced:
        wait()
        state.call(form, which, native=True)


def _traces_of(function: Any) -> int:
    """Return how often a function has been traced; what is no jitted function is there from the start."""
    counts = getattr(function, "cache_info", None)
    return 1 if counts is None else int(counts().misses)


def _flattened(arguments: Sequence[Any]) -> tuple[list[Any], PyTreeDef]:
    return tree_flatten(tuple(arguments))


def _other_values(leaves: Sequence[Any]) -> list[Any]:
    """Return leaves of the same types and other values: floats are halved, other elements change their positions."""
    return [_other(x) if is_array(x) and type(x) is np.ndarray and x.ndim else own_copy(x) for x in leaves]


def _other(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "fcV":
        with np.errstate(all="ignore"):
            return np.asarray(array * np.asarray(0.5, array.dtype), array.dtype)
    return np.roll(array.ravel(), 1).reshape(array.shape)


def _changed_by(reference: Callable[..., Any], inputs: Sequence[tuple[list[Any], PyTreeDef]]) -> set[int]:
    """Return the leaves that a reference writes into."""
    found = set()
    for leaves, tree in inputs:
        given = FORMS["plain"](leaves, range(len(leaves)))
        reference(*tree_unflatten(tree, given))
        for number, (now, before) in enumerate(zip(given, leaves, strict=True)):
            if isinstance(now, np.ndarray) and compare(now, before) is not None:
                found.add(number)
    return found


def can_share(leaves: Sequence[Any], owned: Collection[int]) -> bool:
    """Return whether two arrays have a dtype in common, so that they can be one array or overlap."""
    free = [x.dtype for k, x in enumerate(leaves) if is_array(x) and x.ndim and x.size and k not in owned]
    return len(set(free)) < len(free)


def interpreted(function: Any) -> Callable[..., Any]:
    """Return a jitted function that runs under the interpreter.

    Parameters
    ----------
    function : JittedFunction
    """
    switches = {**function._switches, "engine": "interpreter"}
    kind, inner = type(function), function.__wrapped__
    return kind(inner, function._static, function._donated, inline=function._inline, switches=switches)


class ExecutableFunction:
    """An executable as a function of arrays.

    Attributes
    ----------
    executable : Executable
    """

    def __init__(self, executable: Executable) -> None:
        self.executable = executable

    def __call__(self, *arrays: Any) -> Sequence[np.ndarray]:
        """Return the results for arrays in any layout, which written ones take back."""
        laid = [np.asarray(x, order="C") for x in arrays]
        laid = [x if x.flags.aligned else x.copy() for x in laid]
        results = list(self.executable(laid))
        for given, own in zip(arrays, laid, strict=True):
            if isinstance(given, np.ndarray) and given.flags.writeable and not np.may_share_memory(given, own):
                given[...] = own
        return results

    def wait(self) -> None:
        """Wait until all that will ever be native code is."""
        assert self.executable.wait(), f"{self.executable.name or 'a program'} has not become ready"


def check_executable(
    executable: Executable, function: Function, inputs: Sequence[Sequence[np.ndarray]], **options: Any
) -> int:
    """Check an executable of the backend against the interpreter running the function that it was planned for.

    Parameters
    ----------
    executable : Executable
    function : Function
        Whose results are the executable's, those that are new values of written arguments aside.
    inputs, **options
        As for `check_every_call`.
    """
    count = len(executable.program.results)

    def reference(*arrays: np.ndarray) -> Sequence[np.ndarray]:
        results = [np.array(x) for x in interpret(function, arrays)]  # they may be views of the arguments
        for number, new in zip(executable.program.written, results[count:], strict=False):
            np.copyto(arrays[number], new)
        return results[:count]

    return check_every_call(ExecutableFunction(executable), inputs, reference=reference, **options)
