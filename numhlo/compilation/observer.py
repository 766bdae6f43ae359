"""What a compilation says of itself where a switch asks for it: dumps, times, causes; and its verification.

One `Observer` goes with one compilation; the rooms below call it, or are called between its clocks, and know nothing of
switches. Output goes to standard error, dumps to numbered files where a folder is given.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir import Function, Module, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.late_modules import late
from numhlo.switches import value_of

if TYPE_CHECKING:
    from numhlo.backend.program import Kernel

_located_lines = late("numhlo.lowering.text.located_lines")
_printer = late("numhlo.lowering.text.printer")
_verifier = late("numhlo.lowering.verifier")
_transformations = late("numhlo.backend.kernels.transform.pipeline")


class Observer:
    """The observer of one compilation.

    Parameters
    ----------
    name : str
        The function's.
    signature : callable, optional
        Returns the function with its arguments' types, as text.
    """

    __slots__ = ("_dump", "_files", "_folder", "_parent", "_seconds", "_signature", "_time", "_verify", "name")

    def __init__(self, name: str, signature: Callable[[], str] | None = None) -> None:
        self.name, self._signature = name, signature
        self._dump: frozenset[str] = value_of("dump")
        self._verify: bool = value_of("verify")
        self._time: bool = value_of("time")
        self._parent: str = value_of("dump_to")
        self._folder: Path | None = None
        self._files = 0
        self._seconds: dict[str, float] = {}

    @property
    def times_runs(self) -> bool:
        """Return whether every run is to be timed, so that none may bypass `run`."""
        return self._time

    @property
    def verifies(self) -> bool:
        """Return whether what compilations make is to be checked: passes' results, and plans."""
        return self._verify

    @property
    def signature(self) -> str:
        """Return the function with its arguments' types."""
        return self.name if self._signature is None else self._signature()

    # -- what happened

    def traced(self, function: Function) -> None:
        """Take note of what was traced, or parsed."""
        if self._verify:
            _verifier.verify(function, after="tracing")
        if "trace" in self._dump:
            self._write("trace", "mlir", _located_lines.annotated_text(Module([function])))
        if "stablehlo" in self._dump:
            self._write("stablehlo", "mlir", _printer.print_module(Module([function])))

    def after_pass(self, name: str, function: Function) -> None:
        """Take note of a pass's result."""
        if self._verify:
            _verifier.verify(function, after=name)
        if "passes" in self._dump:
            self._write(f"after {name}", "mlir", _printer.print_module(Module([function])))

    def explain(self, cause: Callable[[], str]) -> None:
        """Say why the function is traced."""
        if value_of("explain_cache"):
            _say(f"{self.signature} is traced; {cause()}")

    # -- time

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure a stage of the compilation."""
        start = perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + perf_counter() - start

    def compiled(self, kernels: Sequence[Kernel]) -> None:
        """Take note of the kernels that were written, and say how long all stages took."""
        if "kernels" in self._dump:
            for kernel in kernels:
                self._write(f"kernel {kernel.name}", "py", kernel.source)
                self._transformed(kernel)
        if self._time:
            shown = ", ".join(f"{stage} {seconds:.4f} s" for stage, seconds in self._seconds.items())
            _say(f"{self.signature}: {shown}")

    def _transformed(self, kernel: Kernel) -> None:
        """Dump what a kernel is lowered from, where transformations change it."""
        text, names = _transformations.transformed_text(kernel.name, kernel.source)
        if names:
            self._write(f"kernel {kernel.name} after {', '.join(names)}", "py", text)

    def run(self, program: Callable[[Any], Any], arrays: Sequence[Any]) -> Any:
        """Return ``program(arrays)``, and say how long it took."""
        start = perf_counter()
        results = program(arrays)
        if value_of("time"):
            _say(f"{self.signature}: run {perf_counter() - start:.6f} s")
        return results

    # -- dumps

    def _write(self, title: str, suffix: str, text: str) -> None:
        if not self._parent:
            sys.stderr.write(f"==== {self.name}: {title} ====\n{text.rstrip()}\n")
            return
        try:
            if self._folder is None:
                self._folder = _new_folder(Path(self._parent), self.name)
            path = self._folder / f"{self._files:02}_{_file_name(title)}.{suffix}"
            path.write_text(f"{text.rstrip()}\n", encoding="utf-8")
        except OSError as error:
            raise ArgumentError(
                f"dumps can't be written to {self._parent}: {error.strerror}",
                where=capture_location(),
                fix="name a folder that can be written by dump_to= or NUMHLO_DUMP_TO",
            ) from error
        self._files += 1


def _say(text: str) -> None:
    sys.stderr.write(f"numhlo: {text}\n")


def _file_name(title: str) -> str:
    return re.sub(r"\W+", "_", title).strip("_")[:80] or "function"


def _new_folder(parent: Path, name: str) -> Path:
    """Make and return ``parent/<next number>_<name>``; other processes may be doing the same."""
    parent.mkdir(parents=True, exist_ok=True)
    taken = [int(p.name.partition("_")[0]) for p in parent.iterdir() if p.name.partition("_")[0].isdigit()]
    number = max(taken, default=-1) + 1
    while True:
        folder = parent / f"{number:03}_{_file_name(name)}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder
