"""What a test called, noted while it runs, so that the harness can make the same calls again when it is over.

Noted are the first call of each signature of a jitted function, of each program of StableHLO's, and of each function
that tests trace and interpret. Arguments are copied, since the test may write into them. Nothing is kept beyond a test.
"""

from __future__ import annotations

import copy
import hashlib
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.compilation import entry as entries
from numhlo.compilation import program_function
from numhlo.compilation.entry import Entry
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.programs import CompiledProgram, make_program
from numhlo.compilation.signature import Call
from numhlo.lowering.interpreter import Interpreter
from numhlo.lowering.ir import Function
from numhlo.lowering.ops.back_edges import at_back_edges
from numhlo.lowering.ops.effects import function_has_effects
from numhlo.lowering.text.printer import print_function
from numhlo.tracer.trees.pytrees import tree_unflatten
from tests.every_call.comparison import CLOSE
from tests.every_call.forms import own_copy
from tests.every_call.harness import ExecutableFunction, check_every_call


class TooLong(Exception):  # noqa: N818 - nothing is wrong
    """The interpreter takes longer than there is time."""


@dataclass
class Limits:
    """What calls are made again.

    Attributes
    ----------
    everything : bool
        Whether machine code is waited for; otherwise only programs whose code the test itself has waited for.
    seconds : float
        Of the interpreter, for one call.
    nbytes : int
        Of a call's arguments together.
    """

    everything: bool
    seconds: float
    nbytes: int


IN_SUITE = Limits(everything=False, seconds=0.5, nbytes=2 << 20)
EVERYTHING = Limits(everything=True, seconds=20.0, nbytes=64 << 20)


@dataclass
class Noted:
    """A call that a test has made.

    Attributes
    ----------
    graph : Function
        As traced.
    executable : Executable
    function, reference : callable
        Of the leaves.
    leaves : list
    written, donated : sequence of int
    """

    graph: Function
    executable: Executable
    function: Callable[..., Any]
    reference: Callable[..., Any]
    leaves: list[Any]
    written: Sequence[int] = ()
    donated: Sequence[int] = ()


class _EntryFunction:
    """The jitted function's calls that one entry serves, as a function of leaves."""

    def __init__(self, jitted: JittedFunction, call: Call, entry: Entry) -> None:
        self.jitted, self.call, self.entry = jitted, call, entry

    def __call__(self, *leaves: Any) -> Any:
        arguments = tree_unflatten(self.entry.key.tree, list(leaves))
        if self._is_found(leaves):
            args, kwargs = self.call.merge(*arguments)
            return self.jitted(*args, **kwargs)
        return self.entry.run(list(leaves), arguments)

    def _is_found(self, leaves: Sequence[Any]) -> bool:
        """Return whether the function itself would come to the entry: what it has captured is what it was then."""
        key = self.entry.cache_key
        return key is not None and self.jitted._cache.find(key, leaves) is self.entry

    def wait(self) -> None:
        """Wait for machine code."""
        self.entry.wait()


@dataclass
class _Reference:
    """What stands in an entry for its program, under the interpreter, as it was traced."""

    graph: Function
    written: Sequence[int]
    seconds: float
    array_type: type[np.ndarray]
    executable: None = None

    def __call__(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        end = time.monotonic() + self.seconds

        def hurry() -> None:
            if time.monotonic() > end:
                raise TooLong

        with at_back_edges(hurry):
            hurry()
            results = [np.array(x).view(self.array_type) for x in Interpreter(self.graph)(arrays)]
        count = len(results) - len(self.written)
        for number, new in zip(self.written, results[count:], strict=True):
            np.copyto(arrays[number], new)
        return results[:count]


def _hide(wrapper: Any) -> None:
    """Let a wrapper count as numhlo's own code where errors look for the user's line."""
    wrapper.__code__ = wrapper.__code__.replace(co_filename=entries.__file__)


@dataclass
class Recorder:
    """Notes calls of one test after the other."""

    limits: Limits
    graphs: dict[int, tuple[CompiledProgram, Function, Sequence[int]]] = field(default_factory=dict)
    noted: dict[int, Noted] = field(default_factory=dict)
    waited: set[int] = field(default_factory=set)
    done: set[bytes] = field(default_factory=set)
    is_on: bool = False

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Let calls be noted from now on."""
        recorder = self
        call_entry, call_program, wait = JittedFunction._run, CompiledProgram.__call__, Executable.wait

        def making(function: Function, name: str, *args: Any, **kwargs: Any) -> Any:
            made = make_program(function, name, *args, **kwargs)
            if recorder.is_on and isinstance(made, CompiledProgram):
                written = kwargs.get("written", args[1] if len(args) > 1 else ())
                recorder.graphs[id(made)] = made, function, written
            return made

        def running(self: JittedFunction, call: Call, entry: Entry, leaves: Sequence[Any]) -> Any:
            if not recorder.is_new(entry.program, leaves):
                return call_entry(self, call, entry, leaves)
            copies = [own_copy(x) for x in leaves]
            result = call_entry(self, call, entry, leaves)
            recorder.note_entry(self, call, entry, copies)
            return result

        def calling(self: CompiledProgram, arrays: Sequence[np.ndarray]) -> Any:
            if not recorder.is_new(self, arrays):
                return call_program(self, arrays)
            copies = [own_copy(x) for x in arrays]
            result = call_program(self, arrays)
            recorder.note_program(self, copies)
            return result

        def waiting(self: Executable, *args: Any) -> bool:
            recorder.waited.add(id(self))
            return wait(self, *args)

        for wrapper in (making, running, calling, waiting):
            _hide(wrapper)
        patch.setattr(entries, "make_program", making)
        patch.setattr(program_function, "make_program", making)
        patch.setattr(JittedFunction, "_run", running)
        patch.setattr(CompiledProgram, "__call__", calling)
        patch.setattr(Executable, "wait", waiting)

    def is_new(self, program: Any, leaves: Sequence[Any]) -> bool:
        """Return whether a program's call is to be noted: the first, of a graph that is known."""
        if not self.is_on or id(program) not in self.graphs or id(program) in self.noted:
            return False
        return sum(x.nbytes for x in leaves if isinstance(x, np.ndarray)) <= self.limits.nbytes

    def note_entry(self, jitted: JittedFunction, call: Call, entry: Entry, leaves: list[Any]) -> None:
        """Note a call of a jitted function."""
        if entry.rebound is not None or not isinstance(entry.program, CompiledProgram):
            return
        _, graph, written = self.graphs[id(entry.program)]
        shadow = copy.copy(entry)
        shadow.program = _Reference(graph, written, self.limits.seconds, np.ndarray)  # type: ignore[assignment]
        function = _EntryFunction(jitted, call, entry)
        tree, executable = entry.key.tree, entry.program.executable
        reference = lambda *x: shadow.run(list(x), tree_unflatten(tree, list(x)))
        written = [k for k in entry.written if isinstance(leaves[k], np.ndarray)]
        donated = tuple(entry.donated)
        self.noted[id(entry.program)] = Noted(graph, executable, function, reference, leaves, written, donated)

    def note_program(self, program: CompiledProgram, leaves: list[Any]) -> None:
        """Note a call of a program that no entry has noted."""
        if id(program) in self.noted:
            return
        _, graph, written = self.graphs[id(program)]
        run = _Reference(graph, written, self.limits.seconds, np.ndarray)
        reference = lambda *arrays: run([np.asarray(a, order="C") for a in arrays])
        executable = program.executable
        if not written:
            noted = Noted(graph, executable, ExecutableFunction(executable), reference, leaves)
            self.noted[id(program)] = noted

    def note_traced(self, graph: Function, written: Sequence[int], arrays: Sequence[Any]) -> None:
        """Note a function that a test traces and only interprets."""
        if not (self.is_on and self.limits.everything) or written:
            return
        leaves = [np.array(x) for x in arrays]
        program = make_program(graph, graph.name)
        if isinstance(program, CompiledProgram):
            self.graphs[id(program)] = program, graph, ()
            self.note_program(program, leaves)

    def begin(self) -> None:
        """Note what is called from now on."""
        self.graphs.clear()
        self.noted.clear()
        self.waited.clear()
        self.is_on = True

    def end(self) -> list[Noted]:
        """Note nothing more, and return what is to be called again."""
        self.is_on = False
        found = [x for x in self.noted.values() if self.limits.everything or id(x.executable) in self.waited]
        self.graphs.clear()
        self.noted.clear()
        return found

    def check(self, noted: Noted) -> bool:
        """Make a noted call again in all forms; return whether it was.

        Programs of one text are called again once, those with effects, such as random draws, never.
        """
        if function_has_effects(noted.graph):
            return False
        text = hashlib.sha256(print_function(noted.graph).encode()).digest()
        if text in self.done:
            return False
        self.done.add(text)
        options = {"written": noted.written, "donated": noted.donated, "tolerance": CLOSE}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check_every_call(noted.function, [noted.leaves], reference=noted.reference, **options)
        except TooLong:
            return False
        return True
