"""Manual computations compiled: what each process of a grid does with its parts of whole arrays is a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from numhlo.backend.communication.threads import run_threads
from numhlo.compilation.programs import CompiledProgram, InterpretedProgram, make_program
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Region
from numhlo.lowering.manual_computations import Parts, Runner
from numhlo.lowering.ops.process_groups import GridShape, Process
from numhlo.lowering.passes.region_functions import as_function
from numhlo.lowering.process_grid import Mailboxes


class ManualPrograms:
    """The programs of one function's manual computations, each made when it first runs.

    Parameters
    ----------
    name : str
        For display.

    Attributes
    ----------
    programs : dict
        By the computations' regions.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.programs: dict[Region, CompiledProgram | InterpretedProgram] = {}

    def runner(self, grid: GridShape, host: Mailboxes) -> Runner:
        """Return what runs a computation, each process in a thread of its own."""
        return partial(self._run, grid, host)

    def _run(
        self, grid: GridShape, host: Mailboxes, region: Region, parts: Parts
    ) -> Mapping[Process, Sequence[np.ndarray]]:
        program = self.programs.get(region)
        if program is None:
            program = self.programs[region] = make_program(as_function(region, free_values(region)), self._name)
        own = len(region.arguments)
        calls = {process: partial(program, [*given[own:], *given[:own]]) for process, given in parts.items()}
        return run_threads(calls, grid, host)
