"""Runs programs with the JIT off: kernels as plain Python on tiny arrays, steps in a loop. Cuts launches into chunks.

One engine makes call after call in one frame, as native code does: constants, the arena, and which buffers have been
exchanged are what the call before left behind.
"""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np

from numhlo.backend.compiler.kernel_compiler import function_of_source, read_to_lower
from numhlo.backend.kernels.text import text_of
from numhlo.backend.primitives import layout
from numhlo.backend.program import Branch, Communicate, Evaluate, Exchange, Launch, Loop, Place, Program, Step
from numhlo.backend.runtime.step_plans import OpsPlan
from numhlo.lowering.interpreter import Plans, evaluate_op, interpret
from tests.backend.programs import from_jax, plan

NEVER = np.zeros(1, np.int64)
CONTEXT = np.zeros(layout.CONTEXT_WORDS, np.int64)
CONTEXT[layout.INTERRUPT] = NEVER.ctypes.data


SECONDS_TO_REPEAT = 0.2
"""Programs that run shorter are called again, to see that nothing is left behind that a later call stumbles over."""


class PlainEngine:
    """A program and the frame in which its calls run; the arrays that these are given stay as they are.

    With ``lowered``, kernels run as they are lowered: after the transformations of their IR.
    """

    def __init__(self, program: Program, chunks: int = 2, *, lowered: bool = False) -> None:
        self.program, self.chunks, self.plans, self.lowered = program, chunks, Plans(), lowered
        memory = np.full(program.arena_bytes + 64, 0xA5, np.uint8)
        start = -memory.ctypes.data % 64
        self.arrays: list[np.ndarray] = []
        for buffer in program.buffers:
            shape, dtype = buffer.type.shape, buffer.type.dtype
            if buffer.place is Place.ARENA:
                place = start + buffer.offset
                assert place + buffer.type.nbytes <= len(memory)
                array = memory[place : place + buffer.type.nbytes].view(dtype).reshape(shape)
            elif buffer.place is Place.CONSTANT:
                assert buffer.data is not None
                array = buffer.data
            else:
                array = np.empty(shape, dtype)
            self.arrays.append(array)
        self.memory = memory

    def call(self, given: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results for some arrays, which are used as they are."""
        for number, buffer in enumerate(self.program.buffers):
            if buffer.place is Place.ARGUMENT:
                self.arrays[number] = given[buffer.index]
            elif buffer.place is Place.RESULT:
                self.arrays[number] = np.empty(buffer.type.shape, buffer.type.dtype)
        with np.errstate(all="ignore"):
            self._run(self.program.steps)
        return [self.arrays[number] for number in self.program.results]

    def _run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Launch():
                    self._launch(step)
                case Evaluate() | Communicate():
                    self._evaluate(step)
                case Loop():
                    self._run(step.condition)
                    while self.arrays[step.predicate].reshape(-1)[0]:
                        self._run(step.body)
                        self._run(step.condition)
                case Branch():
                    index = int(self.arrays[step.index].reshape(-1)[0])
                    self._run(step.branches[index if 0 <= index < len(step.branches) else -1])
                case Exchange():
                    for first, second in step.pairs:
                        self.arrays[first], self.arrays[second] = self.arrays[second], self.arrays[first]

    def _launch(self, step: Launch) -> None:
        if step.ops:
            OpsPlan(step.ops, step.inputs, step.outputs, self.plans)  # raises if op by op it would miss an input
        name, source = step.kernel.name, step.kernel.source
        kernel = function_of_source(name, text_of(read_to_lower(name, source)) if self.lowered else source)
        table = np.array([self.arrays[number].ctypes.data for number in step.buffers] or [0], np.int64)
        dims = np.array(step.dims or [0], np.int64)
        chunks = min(self.chunks, step.extent) if step.grain <= step.extent else 1
        edges = np.linspace(0, step.extent, chunks + 1).astype(int).tolist()
        for low, high in pairwise(edges):
            kernel(CONTEXT.ctypes.data, table.ctypes.data, dims.ctypes.data, low, high)

    def _evaluate(self, step: Evaluate | Communicate) -> None:
        known = {value: self.arrays[number].reshape(value.tensor.shape) for value, number in step.inputs}
        for (value, number), array in zip(step.outputs, evaluate_op(step.op, known), strict=True):
            self.arrays[number].reshape(value.tensor.shape)[...] = array


def run_plain(
    program: Program, arrays: Sequence[np.ndarray], chunks: int = 2, *, lowered: bool = False
) -> list[np.ndarray]:
    """Return a program's results on some arrays; calls that follow have to give the same, if they take no time."""
    engine, start = PlainEngine(program, chunks, lowered=lowered), time.perf_counter()
    results = engine.call([np.array(a, order="C") for a in arrays])
    if time.perf_counter() - start < SECONDS_TO_REPEAT:
        first = [np.array(x) for x in results]
        for _ in range(2):
            again = engine.call([np.array(a, order="C") for a in arrays])
            for kept, before, now in zip(results, first, again, strict=True):
                assert_same_bits(now, before)
                assert_same_bits(np.asarray(kept), before)
    return results


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Check that two arrays are equal, signs of zeros included; any NaN equals any other."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    parts = (
        [(found.real, expected.real), (found.imag, expected.imag)] if found.dtype.kind == "c" else [(found, expected)]
    )
    for left, right in parts:
        with np.errstate(invalid="ignore"):  # of signalling NaN
            a, b = left.astype(np.float64), right.astype(np.float64)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b))


def planned(function: Callable[..., Any], *arguments: Any) -> Program:
    """Return the program that is planned for a function of JAX's, its results checked against the interpreter's."""
    arrays = [np.asarray(a) for a in jax.tree.leaves(arguments)]
    traced = from_jax(function, *arguments)
    program = plan(traced)
    for left, right in zip(run_plain(program, arrays), interpret(traced, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
    return program
