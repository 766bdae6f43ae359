"""An entry of the cache: what one signature was traced and compiled to, and how a call of it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.compilation.captured_state import Guards
from numhlo.compilation.keys import CallKey, describe_key
from numhlo.compilation.observer import Observer
from numhlo.compilation.programs import make_program
from numhlo.compilation.result_structure import unflattener, with_arrays, with_class, with_cuts
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, MutationError
from numhlo.lowering.ir.interruptions import copy_together
from numhlo.lowering.ops.strides import SCALAR, Strides
from numhlo.tracer.core.arguments import LeafType, as_ndarray
from numhlo.tracer.core.array import Array, stands_for_scalar
from numhlo.tracer.python.function_tracing import TracedFunction

OVERLAP_EFFORT: Any = 10_000  # NumPy's stubs once asked for a Literal
"""Bound on the work of telling whether two strided arrays share memory; beyond it they are taken to."""


class Entry:
    """One signature of a function, traced and compiled.

    Parameters
    ----------
    key : CallKey
    traced : TracedFunction
    types : sequence of LeafType
    names : sequence of str
        What the argument leaves are called in messages.
    guards : Guards
    layout : sequence of (int, tuple of int or None)
        Argument leaves whose strides in memory decided what was traced, and these (None: C-contiguous).
    donated : sequence of int
        Argument leaves whose memory may be reused.
    cause : callable
        Returns why it was traced, when somebody asks; the first word is the kind.
    observer : Observer
    array_type : type, optional
        Of the results.
    keeps_graph : bool, optional
        Whether the program's graph stays, to be looked at.

    Attributes
    ----------
    tensors : tuple of TensorType
        Of the arguments that compiled code takes: the leaves, then what was captured.
    """

    __slots__ = (
        "_calls",
        "_cause",
        "_counted",
        "cache_key",
        "captures",
        "donated",
        "guards",
        "keeps_loops",
        "key",
        "layout",
        "name",
        "names",
        "number",
        "observer",
        "program",
        "rebound",
        "tensors",
        "types",
        "unflatten",
        "written",
    )

    def __init__(  # noqa: PLR0913 - a record's fields
        self,
        name: str,
        key: CallKey,
        traced: TracedFunction,
        types: Sequence[LeafType],
        names: Sequence[str],
        guards: Guards,
        layout: Sequence[tuple[int, Strides | None]],
        donated: Sequence[int],
        cause: Callable[[], str],
        observer: Observer,
        array_type: type[Array] = Array,
        *,
        keeps_graph: bool = False,
    ) -> None:
        self.name, self.key, self.types, self.names = name, key, tuple(types), tuple(names)
        self.cache_key: CallKey | None = None  # the cache's own, once it has the entry
        self.number = 0  # entries of a cache are counted
        self.captures, self.written, self.rebound = tuple(traced.captures), traced.written, traced.rebound
        self.keeps_loops = traced.keeps_loops
        self.tensors = tuple([v.tensor for v in traced.function.body.arguments])
        self.guards, self.donated = guards, tuple(donated)
        self._cause: Callable[[], str] | str = cause
        self.layout = tuple(layout)
        self._calls = 0
        self._counted: list[np.ndarray] = []
        self.unflatten = unflattener(traced.out_tree)
        if array_type.weak_class is not None and any(traced.out_weak):
            weak = [k for k, is_weak in enumerate(traced.out_weak) if is_weak]
            self.unflatten = with_class(self.unflatten, weak, array_type.weak_class)
        if traced.out_arrays and array_type is Array:
            self.unflatten = with_arrays(self.unflatten, traced.out_arrays)
        if traced.cuts:
            cuts = [(cut.leaf, cut.length, cut.axis) for cut in traced.cuts]
            self.unflatten = with_cuts(self.unflatten, cuts, traced.out_tree.num_leaves)
        self.observer = observer
        self.program = make_program(
            traced.function, name, self.donated, traced.written, observer, array_type, keeps_graph=keeps_graph
        )

    @property
    def cause(self) -> str:
        """Return why the function was traced; the first word is the kind."""
        if not isinstance(self._cause, str):
            self._cause = self._cause()
        return self._cause

    @property
    def calls(self) -> int:
        """Return how many calls the entry has answered."""
        return self._calls + sum(int(count[0]) for count in self._counted)

    def called(self) -> None:
        """Count a call."""
        self._calls += 1

    def count_in(self, count: np.ndarray) -> None:
        """Count what native code counts, too."""
        if not any(count.ctypes.data == other.ctypes.data for other in self._counted):
            self._counted.append(count)

    @property
    def signature(self) -> str:
        """Return the argument types as text."""
        return f"{self.name}({describe_key(self.key, self.names)})"

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Return whether the entry may serve these arguments: their layout, and all captured state, is what it was."""
        for number, strides in self.layout:
            if strides_of(leaves[number]) != strides:
                return False
        return not self.guards or self.guards.hold()

    def run(self, leaves: Sequence[Any], arguments: Any) -> Any:
        """Call the compiled function on argument leaves of the entry's types, and the pytree that they are of."""
        self.called()
        if self.written or self.donated:
            self.check_ownership(leaves)
        if self.rebound is not None:
            self.rebound.check(arguments)
        arrays = [as_operand(x, t, n) for x, t, n in zip(leaves, self.types, self.names, strict=True)]
        arrays += [np.asarray(c, order="C") for c in self.captures]
        for number in self.written:
            if not isinstance(leaves[number], np.ndarray):  # whatever it lends its elements from stays as it is
                arrays[number] = arrays[number].copy()
        self.set_apart(leaves, arrays)
        results = self.observer.run(self.program, arrays) if self.observer.times_runs else self.program(arrays)
        self.copy_back(leaves, arrays)
        return self.unflatten(results) if self.rebound is None else self.finish(results, arguments)

    def finish(self, results: Sequence[Any], arguments: Any) -> Any:
        """Rebind items of the arguments' containers, and return what the function returns."""
        assert self.rebound is not None
        self.rebound.repeat(arguments, results)
        return self.unflatten(results[: len(results) - self.rebound.count])

    def set_apart(self, leaves: Sequence[Any], arrays: list[np.ndarray]) -> None:
        """Let a call that works on a copy of one written argument work on copies of all: they change together."""
        if len(self.written) > 1 and any(_is_copied(leaves[k], arrays[k]) for k in self.written):
            for number in self.written:
                if not _is_copied(leaves[number], arrays[number]):
                    arrays[number] = arrays[number].copy()

    def copy_back(self, leaves: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
        """Give written arguments their new contents where a call worked on copies of them."""
        written = [(leaves[k], arrays[k]) for k in self.written]
        copy_together([(leaf, array) for leaf, array in written if _is_copied(leaf, array)])

    def wait(self) -> None:
        """Wait until all kernels are compiled."""
        self.program.wait()

    def check_ownership(self, leaves: Sequence[Any]) -> None:
        """Raise unless arguments that are written into, or given away, can be.

        Raises
        ------
        MutationError
            If an array that the function writes into is read-only, or shares memory with another one.
        ArgumentError
            If a donated argument is no writable array.
        """
        check_written(self.name, self.written, self.names, leaves, self.captures)
        for number in self.donated:
            self._check_donated(leaves[number], self.names[number])

    def _check_donated(self, leaf: Any, name: str) -> None:
        if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            return
        shown = "read-only" if isinstance(leaf, np.ndarray) else f"of class {type(leaf).__qualname__}"
        raise ArgumentError(
            f"{self.name} was given argument {name} to reuse its memory, but it is {shown}",
            where=capture_location(),
            why="only a writable array has memory to give away",
            fix="pass a writable ndarray, or leave the argument out of donate_argnums and donate_argnames",
        )


def check_written(
    name: str, written: Sequence[int], names: Sequence[str], leaves: Sequence[Any], captures: Sequence[Any] = ()
) -> None:
    """Raise unless the arguments that a function writes into can be written, and are arrays of their own.

    Parameters
    ----------
    name : str
        The function's.
    written : sequence of int
        Numbers of the argument leaves that it writes into.
    names : sequence of str
        What the argument leaves are called.
    leaves, captures : sequence
        The argument leaves, and the arrays that the function captures.

    Raises
    ------
    MutationError
        If one is read-only, or shares memory with another argument or a captured array.
    """
    for number in written:
        target = leaves[number]
        if not isinstance(target, np.ndarray):
            continue  # a scalar, which Python rebinds
        if not target.flags.writeable:
            raise MutationError(
                f"{name} writes into argument {names[number]}, which is read-only",
                where=capture_location(),
                why="arrays that a jitted function writes into are updated for the caller, as NumPy does",
                fix="pass a copy, or don't write into the argument",
            )
        others = [(f"argument {names[k]}", leaf) for k, leaf in enumerate(leaves) if k != number]
        for called, other in [*others, *[("an array that it captures", c) for c in captures]]:
            if isinstance(other, np.ndarray) and overlap(target, other):
                raise MutationError(
                    f"{name} writes into argument {names[number]}, which shares memory with {called}",
                    where=capture_location(),
                    why="the function was traced as if the two were separate arrays",
                    fix="pass a copy of one of them",
                )


def _is_copied(leaf: Any, array: np.ndarray) -> bool:
    """Return whether an argument has to be given the elements of the array that a call works on."""
    return isinstance(leaf, np.ndarray) and leaf.size > 0 and not np.may_share_memory(leaf, array)


def strides_of(leaf: Any) -> Strides | None:
    """Return how a leaf lies in memory: None where it is C-contiguous; of scalars what stands for that."""
    if isinstance(leaf, np.generic) or stands_for_scalar(leaf):
        return SCALAR
    return leaf.strides if isinstance(leaf, np.ndarray) and not leaf.flags.c_contiguous else None


def overlap(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two arrays share an element's memory."""
    if not np.may_share_memory(first, second):
        return False
    try:
        return np.shares_memory(first, second, max_work=OVERLAP_EFFORT)
    except np.exceptions.TooHardError:
        return True


def as_operand(leaf: Any, type: LeafType, name: str) -> np.ndarray:
    """Return a leaf as compiled code takes it: C-contiguous, aligned, in native byte order."""
    array = np.asarray(as_ndarray(leaf, name), type.tensor.dtype, order="C")
    return array if array.flags.aligned else array.copy()
