"""Plans that are kept for other shapes: the oracle is the planner itself, given the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo.backend import planning
from numhlo.backend.emit.sizes import Slots
from numhlo.backend.executable import Executable
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.planning import recipes
from numhlo.backend.planning.structure import SMALL, key_of
from numhlo.backend.program import Branch, Exchange, Launch, Loop
from numhlo.lowering.passes.pipeline import optimize


def layer(x, w):
    y = np.tanh(x @ w)
    y = (y - y.mean(axis=0)) / np.sqrt((y * y).mean(axis=0) + 1e-5)
    return np.exp(y - y.max(axis=1, keepdims=True)).sum(axis=1)


def updated(x, w):
    y = x @ w
    for row in range(3):
        y[row] = y[row + 1] * 2.0
    y[1:-1] = 0.5 * (y[2:] + y[:-2])
    y[2:9, 1:5] += x.shape[0] + 0.123456
    return np.concatenate([y, y[::-1]], axis=1).T.reshape(-1)


def relaxed(x, w):
    def step(_, y):
        y[1:-1, 1:-1] += 0.25 * (y[2:, 1:-1] + y[:-2, 1:-1])
        return y

    return numhlo.lax.fori_loop(0, 4, step, x @ w)


def branched(x, w):
    return numhlo.lax.cond(x.sum() > 0, lambda: np.flip(x @ w, axis=0), lambda: np.pad(x @ w, 1)[1:-1, 1:-1])


def recurrence(x, w):
    return numhlo.lax.scan(lambda c, row: (np.tanh(c * 0.5 + row), c.sum()), w[0], x @ w)


def rolled(x, w):
    y = x @ w
    return np.roll(y, 1, axis=0) - np.roll(y, -1, axis=1) + np.pad(y, ((0, 0), (1, 1)))[:, :-2]


FUNCTIONS = [layer, updated, relaxed, branched, recurrence, rolled]
SHAPES = [*[(40 + 7 * k, 20 + k, 101 + 13 * k) for k in range(4)], (40, 20, 4010)]


def optimized(function, shape):
    rows, inner, columns = shape
    traced = numhlo.jit(function).trace(np.ones((rows, inner)), np.ones((inner, columns)))
    return optimize(traced.module.main)


def described(steps):
    found = []
    for step in steps:
        match step:
            case Launch():
                sizes = step.dims, step.extent, step.grain, step.flops, step.bytes
                found.append((step.kernel, step.buffers, sizes, step.follows, step.scalar))
            case Loop():
                found.append(
                    (described(step.condition), step.predicate, described(step.body), [*step.state], step.counting)
                )
            case Branch():
                found.append((step.index, [described(branch) for branch in step.branches]))
            case Exchange():
                found.append(step.pairs)
            case _:
                raise AssertionError(step)
    return found


def contents(program):
    buffers = [
        (b.type, b.place, b.index, b.offset, b.data if b.data is None else b.data.tobytes()) for b in program.buffers
    ]
    return buffers, described(program.steps), program.arena_bytes, program.results, program.written, program.notes


@pytest.fixture(autouse=True)
def structures(monkeypatch):
    found = {}
    monkeypatch.setattr(recipes, "_STRUCTURES", found)
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_filled_in_is_what_would_be_planned(function, structures):
    given, again = {"donated": frozenset({0}), "written": ()}, 0
    for shape in SHAPES:
        program = optimized(function, shape)
        found = planning.plan_again(program, **given)
        if found is not None:
            again += 1
            assert not found.has_ops
            assert contents(found) == contents(planning.plan(program, **given))
    made = [len(structure.recipes) for structure in structures.values()]
    assert again == len(SHAPES) - 1 and sum(made) <= again - (function is not recurrence)


def test_constants_that_kernels_get_as_numbers_are_filled_in(structures):
    def scaled(x, w):
        return x * (1.0 / x.shape[0]) + w.shape[1]

    found = [planning.plan_again(optimized(scaled, (n, 3, 19)), donated=frozenset(), written=()) for n in (30, 70, 90)]
    (structure,) = structures.values()
    assert len(structure.recipes) == 1
    bits = [int(np.float64(1 / n).view(np.int64)) for n in (70, 90)]
    assert [number in program.steps[0].dims for number, program in zip(bits, found[1:], strict=True)] == [True, True]


def test_what_else_differs_is_another_structure():
    def key(function, shape=(20, 30, 40), **given):
        return key_of(optimized(function, shape), Slots(SMALL), (frozenset(given.get("donated", ())), ()))

    first = key(lambda x, w: x * 2.0 @ w)
    assert key(lambda a, b: a * 2.0 @ b, (50, 60, 70)) == first
    others = [
        key(lambda x, w: x * 3.0 @ w),
        key(lambda x, w: x + 2.0 @ w if x.ndim == 1 else x * 2.0 @ w + 1.0),
        key(lambda x, w: x * 2.0 @ w, (20, 20, 40)),
        key(lambda x, w: x * 2.0 @ w, (20, 30, 7)),
        key(lambda x, w: x * 2.0 @ w, donated=(0,)),
        key(lambda x, w: np.float32(x) * 2.0 @ w),
    ]
    assert len({first, *others}) == 1 + len(others)
    large = np.arange(1000.0)
    assert key(lambda x, w: x[:, 0] * large[:20]) is not None and key(lambda x, w: large * x[0, 0]) is None


def test_a_program_without_ops_runs_natively_or_not_at_all(monkeypatch):
    calls = [np.random.default_rng(n).normal(size=(n, 4)) for n in (50, 60, 70, 80)]
    function = numhlo.jit(lambda x: numhlo.lax.fori_loop(0, 3, lambda _, y: x - np.tanh(y).sum(axis=0), x))

    def agrees(x):
        y = x
        for _ in range(3):
            y = x - np.tanh(y).sum(axis=0)
        np.testing.assert_allclose(function(x), y, rtol=1e-12)

    made = []
    monkeypatch.setattr(Executable, "__init__", spy(Executable.__init__, made))
    for x in calls[:3]:
        agrees(x)
        function.wait()
    assert [program.has_ops for program in made] == [True, False, False]
    kernel_cache().clear()
    monkeypatch.setattr(kernel_cache().disk, "read", lambda kernel: None)
    agrees(calls[3])
    assert [program.has_ops for program in made[3:]] == [False, True]


def spy(init, made):
    def wrapped(self, program, *args, **kwargs):
        made.append(program)
        init(self, program, *args, **kwargs)

    return wrapped


def test_whatever_refuses_unknowns_leaves_the_plan_with_numbers(monkeypatch):
    given = {"donated": frozenset(), "written": ()}
    programs = [optimized(layer, shape) for shape in SHAPES[:3]]
    assert planning.plan_again(programs[0], **given) is None
    for error in (RuntimeError("a rule that a user registered"), KeyboardInterrupt()):

        def refuse(*_, error=error, **__):
            raise error

        monkeypatch.setattr(recipes, "plan", refuse)
        if isinstance(error, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                planning.plan_again(programs[2], **given)
        else:
            assert planning.plan_again(programs[1], **given) is None
