"""The drawing of a program's memory, and what it must show: nothing overlaps that is needed at the same time."""

from itertools import combinations

import numpy as np
import pytest
from IPython.lib.pretty import pretty

import numhlo
from benchmarks.registry import all_programs
from numhlo import lax
from numhlo.backend.program import Buffer, Kernel, Launch, Place, Program
from numhlo.compilation.memory_plan import memory_plan
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.passes import optimize
from tests.backend.programs import plan

DRAWING = """\
argument 0     float64[6,6]                  288 bytes  ###
arena +0       float64[6,6]                  288 bytes  ##.
arena +320     float64[6,6]                  288 bytes  .##
result 0       float64[6,6]                  288 bytes  ..#
step 0: sort
step 1: cumulative
step 2: transposed
peak: 864 bytes, in step 1; all buffers: 1,152 bytes
arena: 640 bytes for buffers of 576 bytes"""


def overlapping(program):
    """Return the pairs of buffers that share bytes of the arena while both are needed."""
    lives = memory_plan(program).lives
    tied = {frozenset(pair) for step in steps_of(program.steps) for pair in getattr(step, "pairs", ())}
    arena = [(n, b) for n, b in enumerate(program.buffers) if b.place is Place.ARENA and lives[n] is not None]
    for (one, first), (other, second) in combinations(arena, 2):
        apart = first.offset + first.type.nbytes <= second.offset or second.offset + second.type.nbytes <= first.offset
        together = lives[one].first <= lives[other].last and lives[other].first <= lives[one].last
        if not apart and together and frozenset((one, other)) not in tied:
            yield one, other


def steps_of(steps):
    for step in steps:
        yield step
        for inner in (getattr(step, "condition", ()), getattr(step, "body", ()), *getattr(step, "branches", ())):
            yield from steps_of(inner)


@pytest.mark.parametrize("program", all_programs(), ids=lambda p: p.name)
def test_nothing_overlaps_in_the_benchmarks(program):
    function = program.versions["numhlo"](numhlo)
    jitted = function if hasattr(function, "trace") else numhlo.jit(function)
    planned = plan(optimize(jitted.trace(*program.arguments("tiny")).module.main))
    assert list(overlapping(planned)) == []
    drawn = memory_plan(planned)
    assert drawn.peak_bytes <= drawn.total_bytes
    ends = [b.offset + b.type.nbytes for b in planned.buffers if b.place is Place.ARENA]
    assert max(ends, default=0) <= planned.arena_bytes < max(ends, default=0) + 64


def launch(name, *buffers):
    return Launch(Kernel(name, ""), buffers, (), 1, 1, (), (), ())


def test_the_drawing():
    square = TensorType((6, 6), np.dtype(np.float64))
    buffers = [
        Buffer(square, Place.ARGUMENT),
        Buffer(square, Place.ARENA, offset=0),
        Buffer(square, Place.ARENA, offset=320),
        Buffer(square, Place.RESULT),
    ]
    steps = [launch("sort", 0, 1), launch("cumulative", 1, 2), launch("transposed", 2, 3)]
    drawn = memory_plan(Program(buffers, steps, 640, [3]))
    assert str(drawn) == pretty(drawn) == DRAWING  # notebooks show what is pretty
    assert (drawn.peak_bytes, drawn.total_bytes) == (864, 1152)


def test_what_a_loop_keeps_lives_through_it():
    def smooth(x):
        wide = np.sort(x) * 2.0
        return lax.fori_loop(0, 5, lambda i, y: np.sort(np.sin(y + wide)), x)

    compiled = numhlo.jit(smooth).lower(np.ones(200)).compile()
    drawn = compiled.memory()
    loop = drawn.names.index("while")
    before = [life for life in drawn.lives if life is not None and life.first < loop <= life.last]
    assert before and all(life.last == len(drawn.names) - 1 or life.last > loop for life in before)
    assert compiled.memory_analysis().arena_bytes == drawn.arena_bytes
    assert "peak: " in str(drawn)


def test_the_interpreter_has_no_plan():
    with numhlo.debugging(engine="interpreter"):
        compiled = numhlo.jit(lambda x: x + 1).lower(np.ones(3)).compile()
    with pytest.raises(UnsupportedError, match=r"the memory of .*, which runs on the reference interpreter"):
        compiled.memory()
