"""From a traced function to something that runs: passes, plan, executable. The one place that loads the backend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.compilation.garbage import load
from numhlo.compilation.observer import Observer
from numhlo.lowering.interpreter import Interpreter
from numhlo.lowering.ir import Function
from numhlo.lowering.ir.late_modules import late
from numhlo.lowering.passes.pipeline import optimize
from numhlo.switches import value_of
from numhlo.tracer.core.array import Array

if TYPE_CHECKING:
    from numhlo.backend.executable import Executable
    from numhlo.backend.program import Kernel
    from numhlo.lowering.checking import CheckedInterpreter

_checking = late("numhlo.lowering.checking")


@cache
def _backend() -> tuple[Any, Any, Any]:
    """Load the backend, once; return its planner, its executables, and what makes calls natively."""
    names = ("planning", "executable", "runtime.native_calls")
    planning, executables, calls = [import_module(f"numhlo.backend.{name}") for name in names]
    return planning, executables, calls


@cache
def _kernels() -> Any:
    """Load what holds kernels, once: a part of the backend that compilers can start with."""
    return import_module("numhlo.backend.kernel_cache")


@cache
def _proofs() -> Any:
    """Load what proves plans, once, where it is asked for."""
    return import_module("numhlo.backend.plan_checking")


def backend_of_calls() -> Any:
    """Return the module of the backend's that lets native code make calls."""
    return _backend()[2]


def load_backend() -> None:
    """Load what the first call will need, so that its answer doesn't wait for it; the interpreter needs nothing."""
    if not _backend.cache_info().currsize and value_of("engine") == "compiled":
        load(_backend)


def expect_kernels() -> None:
    """Let compilers get ready: a program is about to be made, which may have kernels that nobody has compiled."""
    if value_of("engine") == "compiled" and not value_of("check"):
        _kernels().kernel_cache().expect()


class InterpretedProgram:
    """A function that runs op by op on NumPy, for debugging; the interface of `CompiledProgram`.

    Attributes
    ----------
    function : Function
        Optimized, or as traced where its ops are checked.
    checks : frozenset of str
        What each op's results are checked for.
    array_type : type
        Of the results.
    """

    __slots__ = ("_run", "_written", "array_type", "checks", "function", "kernels")

    executable: Executable | None = None

    def __init__(
        self,
        function: Function,
        written: Sequence[int],
        observer: Observer,
        checks: frozenset[str] = frozenset(),
        array_type: type[Array] = Array,
    ) -> None:
        self.kernels: list[Kernel] = []
        self.checks, self.array_type = checks, array_type
        self._run: Interpreter | CheckedInterpreter
        self.function: Function | None = function
        if checks:
            self._run = _checking.CheckedInterpreter(function, checks)
        else:
            with observer.timed("passes"):
                optimized = self.function = optimize(function, after_pass=observer.after_pass)
            self._run = Interpreter(optimized)
        self._written = written

    def __call__(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the results as arrays that own their memory, and write new values into arguments."""
        results = [_own_copy(result, self.array_type) for result in self._run(arrays)]
        count = len(results) - len(self._written)
        for number, new in zip(self._written, results[count:], strict=True):
            np.copyto(arrays[number], new)
        return results[:count]

    def wait(self) -> None:
        """Return at once: there is nothing to wait for."""


def _own_copy(source: np.ndarray, array_type: type[Array]) -> np.ndarray:
    result = array_type(source.shape, source.dtype)
    np.copyto(result, source)
    result.flags.writeable = not array_type.is_read_only
    return result


class CompiledProgram:
    """An optimized function and its executable.

    Parameters
    ----------
    function : Function
        As traced; left unchanged.
    name : str
        For display.
    donated : sequence of int
        Arguments whose memory may be overwritten.
    written : sequence of int
        Arguments whose new values are the last results; calls write them into the arguments' memory.
    observer : Observer
    array_type : type
        Of the results.
    keeps_graph : bool
        Whether the graph stays, to be looked at. It takes many times the memory of what a call needs.

    Attributes
    ----------
    function : Function or None
        Optimized.
    executable : Executable
    """

    __slots__ = ("executable", "function")

    def __init__(
        self,
        function: Function,
        name: str,
        donated: Sequence[int],
        written: Sequence[int],
        observer: Observer,
        array_type: type[Array],
        *,
        keeps_graph: bool,
    ) -> None:
        with observer.timed("passes"):
            optimized = optimize(function, after_pass=observer.after_pass)
        numbers = frozenset(donated)
        self.function: Function | None = optimized if keeps_graph else None
        with observer.timed("codegen"):
            self.executable: Executable = _make_executable(
                optimized, name, numbers, written, array_type, keeps_graph=keeps_graph, proves=observer.verifies
            )

    def __call__(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the results for C-contiguous arrays of the arguments' types, as arrays that own their memory."""
        return self.executable(arrays)

    @property
    def kernels(self) -> list[Kernel]:
        """Return the kernels in order of first use."""
        return self.executable.kernels

    def wait(self) -> None:
        """Wait until all kernels are compiled."""
        self.executable.wait()


def _make_executable(
    function: Function,
    name: str,
    donated: frozenset[int],
    written: Sequence[int],
    array_type: type[Array],
    *,
    keeps_graph: bool,
    proves: bool,
) -> Executable:
    """Return an optimized function's executable, by the plan of the same function of other shapes if there is one."""
    planning, executables, _ = _backend()
    side = value_of("guard_pages").replace("no", "")
    options = {"keeps_steps": keeps_graph, "guard_pages": side}
    program = None
    if not keeps_graph and not side:  # guard pages need the ops, which a filled plan lacks
        program = planning.plan_again(function, donated=donated, written=written)
    if program is not None:
        if proves:
            made_anew = planning.plan(function, donated=donated, written=written)
            _proofs().check_filled(program, made_anew, function, donated)
        with suppress(executables.OpsNeededError):  # not all kernels are there
            again: Executable = executables.Executable(program, name, array_type, donated, **options)
            return again
    program = planning.plan(function, donated=donated, written=written)
    if proves:
        _proofs().check_plan(program, function, donated)
        _proofs().check_kernels(program.kernels)
    made: Executable = executables.Executable(program, name, array_type, donated, **options)
    return made


def make_program(
    function: Function,
    name: str,
    donated: Sequence[int] = (),
    written: Sequence[int] = (),
    observer: Observer | None = None,
    array_type: type[Array] = Array,
    *,
    keeps_graph: bool = True,
) -> CompiledProgram | InterpretedProgram:
    """Return a traced function ready to run, as the switches say: on which engine, checked, at once or compiled."""
    expect_kernels()
    observer = observer or Observer(name)
    observer.traced(function)
    program: CompiledProgram | InterpretedProgram
    checks: frozenset[str] = value_of("check")
    if checks or value_of("engine") == "interpreter":
        program = InterpretedProgram(function, written, observer, checks, array_type)
    else:
        program = CompiledProgram(function, name, donated, written, observer, array_type, keeps_graph=keeps_graph)
        if not value_of("tier0"):
            program.wait()
    observer.compiled(program.kernels)
    return program
