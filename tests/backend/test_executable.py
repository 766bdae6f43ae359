"""Executables: the two engines give the same, calls may be fast, slow, concurrent, nested, and of any steps."""

import gc
import threading
import uuid
import weakref
from concurrent.futures import Future

import numpy as np
import pytest

from numhlo.backend import executable as executables
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.executable import Executable
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.program import Branch, Buffer, Evaluate, Exchange, Kernel, Launch, Loop, Place, Program, Step
from numhlo.backend.runtime.numpy_engine import NumpyEngine
from numhlo.backend.runtime.step_plans import OpsPlan
from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.primitive import make_op
from tests.backend.hand_written import (
    F32,
    F64,
    constant_buffer,
    elementwise_kernel,
    first_launch,
    launch,
    less_op,
    square_plus,
)


class Labelled(np.ndarray):
    __slots__ = ()


def run_in_python(executable, arrays):
    """Run all steps on the NumPy engine, whatever is compiled."""
    driver, executable._run_steps = executable._run_steps, None

    def run_steps(frame, may_be_native):
        engine, step = NumpyEngine(executable.program, executable.table), 0
        while step != -1:
            step = engine.run_step(frame, step)

    executable._run_steps = run_steps
    try:
        return executable._call(arrays)
    finally:
        executable._run_steps = driver


def all_ways(executable, arrays):
    """Return the results of the NumPy engine, of the native engine by Python, and of the fast entry if there is one."""
    found = [run_in_python(executable, arrays)]
    assert executable.wait(60)
    found.append(executable._call(arrays))
    found.append(executable(arrays))
    return found


def doubling_program(limit):
    """``while a < limit: a, b = b, a + a`` with carries that change places."""
    type = TensorType((), F64)
    truth = TensorType((), np.dtype(bool))
    a = Region([type]).arguments[0]
    bound, bound_buffer = constant_buffer(limit, F64)
    buffers = [Buffer(type, Place.ARGUMENT, 0), Buffer(type, Place.RESULT, 0), bound_buffer]
    buffers += [Buffer(type, Place.ARENA, offset=0), Buffer(type, Place.ARENA, offset=64)]
    buffers += [Buffer(truth, Place.ARENA, offset=128)]
    copy = elementwise_kernel("copy", F64, 1, "a0")
    less = Kernel(
        "less",
        "from numhlo.backend.primitives import address, load_f64, store_bool\n\n\n"
        "def less(ctx, bufs, dims, lo, hi):\n"
        "    store_bool(address(bufs, 2), 0, load_f64(address(bufs, 0), 0) < load_f64(address(bufs, 1), 0))\n",
    )
    double = elementwise_kernel("double", F64, 1, "a0 + a0")
    initial = Region([type]).arguments[0]
    moved = make_op(elementwise.ABS, [initial])
    compare = less_op(a, bound)
    sum_op = make_op(elementwise.ADD, [a, a])
    leaving = make_op(elementwise.ABS, [a])
    condition = launch(less, [compare], [(a, 3), (bound, 2)], (compare.result, 5), 1)
    body: list[Step] = [launch(double, [sum_op], [(a, 3)], (sum_op.result, 4), 1), Exchange(((3, 4),))]
    steps: list[Step] = [
        launch(copy, [moved], [(initial, 0)], (moved.result, 3), 1),
        Loop([condition], 5, body, compare),
        launch(copy, [leaving], [(a, 3)], (leaving.result, 1), 1),
    ]
    return Program(buffers, steps, 192, [1])


def branching_program(index_dtype):
    """``[x + x, x * x, -x][index]``."""
    type, index_type = TensorType((3,), F32), TensorType((), index_dtype)
    x = Region([type]).arguments[0]
    buffers = [Buffer(type, Place.ARGUMENT, 0), Buffer(index_type, Place.ARGUMENT, 1), Buffer(type, Place.RESULT, 0)]
    ops = [make_op(elementwise.ADD, [x, x]), make_op(elementwise.MULTIPLY, [x, x]), make_op(elementwise.NEGATE, [x])]
    texts = ["a0 + a0", "a0 * a0", "-a0"]
    branches: list[list[Step]] = [
        [launch(elementwise_kernel(f"branch{k}", F32, 1, text), [op], [(x, 0)], (op.result, 2), 3)]
        for k, (op, text) in enumerate(zip(ops, texts, strict=True))
    ]
    if index_dtype == np.bool_:
        branches = branches[:2]
    return Program(buffers, [Branch(1, branches, ops[0])], 0, [2])


def test_waiting_asks_again_for_what_a_fork_left_behind(monkeypatch):
    type = TensorType((4,), F32)
    (x,) = Region([type]).arguments
    op = make_op(elementwise.NEGATE, [x])
    name = f"left_behind_{uuid.uuid4().hex}"  # no disk cache has it
    step = launch(elementwise_kernel(name, F32, 1, "-a0"), [op], [(x, 0)], (op.result, 1), 4)
    with monkeypatch.context() as patch:
        patch.setattr(compiler_service(), "submit", lambda kernel, then, folder: Future())
        executable = Executable(Program([Buffer(type, Place.ARGUMENT), Buffer(type, Place.RESULT)], [step], 0, [1]))
    kernel_cache().orphan_unfinished()
    assert executable.wait(60.0)


@pytest.mark.parametrize("count", [0, 1, 17])
def test_both_engines_and_the_fast_entry_agree(count, rng):
    executable = Executable(square_plus(count, arrays=2), array_type=Labelled)
    arrays = [rng.normal(size=count).astype(F32) for _ in range(2)]
    for results in all_ways(executable, arrays):
        for x, y in zip(arrays, results, strict=True):
            np.testing.assert_array_equal(y, x * x + x, strict=False)
            assert type(y) is Labelled
            assert y.flags.owndata
            assert y.flags.writeable
    assert executable.fast is not None
    assert executable.ready


def test_first_call_needs_no_compiler(rng):
    text = square_plus(5).kernels[0].source.replace("square_plus", f"never_seen_{rng.integers(1 << 60)}")
    program = square_plus(5)
    first_launch(program).kernel = Kernel(text.split("def ")[1].split("(")[0], text)
    executable = Executable(program)
    x = np.arange(5, dtype=F32)
    np.testing.assert_array_equal(executable([x])[0], x * x + x)
    assert executable.wait(60)
    np.testing.assert_array_equal(executable([x])[0], x * x + x)


def test_kernels_run_before_the_driver_is_there(monkeypatch, rng):
    monkeypatch.setattr(executables, "native_address", lambda _: 0)
    made = [
        Executable(square_plus(7, arrays=2), keeps_steps=True),
        Executable(doubling_program(1000.0), keeps_steps=True),
    ]
    arrays = [[rng.normal(size=7).astype(F32) for _ in range(2)], [np.array(3.0)]]
    expected = [executable._call(a) for executable, a in zip(made, arrays, strict=True)]
    assert all(executable.wait(60) for executable in made)
    monkeypatch.setattr(OpsPlan, "run", None)
    for executable, a, wanted in zip(made, arrays, expected, strict=True):
        for found, right in zip(executable._call(a), wanted, strict=True):
            np.testing.assert_array_equal(found, right)


def test_fast_entry_takes_only_what_fits():
    executable = Executable(square_plus(6, arrays=1), array_type=Labelled)
    assert executable.wait(60)
    fast = executable.fast
    assert fast is not None
    x = np.arange(6, dtype=F32)
    assert isinstance(fast(x), tuple)
    assert isinstance(fast(x.view(Labelled)), tuple)
    misfits = [
        np.arange(6.0),
        np.arange(7, dtype=F32),
        np.zeros((2, 3), F32),
        np.zeros(12, F32)[::2],
        np.zeros(25, np.uint8)[1:].view(F32),
        x.astype(">f4"),
        np.ma.array(x),
        3.0,
        None,
        "text",
        np.float32(2),
    ]
    assert [fast(misfit) for misfit in misfits] == [None] * len(misfits)
    assert fast() is None
    assert fast(x, x) is None


def test_fast_entry_leaks_nothing():
    executable = Executable(square_plus(6))
    assert executable.wait(60)
    x = np.arange(6, dtype=F32)
    results = executable([x])
    alive = weakref.ref(results[0])
    del results
    assert alive() is None
    gc.collect()
    words = weakref.ref(executable)
    del executable
    gc.collect()
    assert words() is None


@pytest.mark.parametrize("limit", [0.5, 3.0, 1e6])
def test_loops_with_exchanged_carries(limit):
    executable = Executable(doubling_program(limit))
    expected = 1.5
    while expected < limit:
        expected += expected
    for results in all_ways(executable, [np.array(1.5)]):
        assert results[0][()] == expected
    assert executable.fast is not None


@pytest.mark.parametrize("dtype", [np.int32, np.bool_])
def test_branches(dtype):
    executable = Executable(branching_program(np.dtype(dtype)))
    x = np.array([1.5, -2.0, 3.0], F32)
    expected = [x + x, x * x, -x]
    for index, chosen in [(0, 0), (1, 1), (2, 2), (3, 2), (-1, 2), (1 << 30, 2)]:
        if dtype is np.bool_ and index not in (0, 1):
            continue
        for results in all_ways(executable, [x, np.array(index, dtype)]):
            np.testing.assert_array_equal(results[0], expected[chosen])


def test_evaluate_steps_between_kernels():
    program = square_plus(4)
    type = TensorType((4,), F32)
    value = first_launch(program).outputs[0][0]
    negated = make_op(elementwise.NEGATE, [value])
    buffers = [program.buffers[0], Buffer(type, Place.ARENA, offset=0), Buffer(type, Place.RESULT, 0)]
    step = Evaluate(negated, [(value, 1)], [(negated.result, 2)], "to see it done")
    executable = Executable(Program(buffers, [program.steps[0], step], 64, [2]))
    x = np.arange(4, dtype=F32)
    for results in all_ways(executable, [x]):
        np.testing.assert_array_equal(results[0], -(x * x + x))
    assert executable.fast is None


def test_launches_that_follow_run_on_the_same_engine():
    """The second launch has no ops: the NumPy engine does both with the first one's, native code runs both."""
    program = square_plus(4)
    first = first_launch(program)
    half = elementwise_kernel("half", F32, 1, "a0 * a0")
    rest = Kernel(
        "rest",
        "from numhlo.backend.primitives import address, load_f32, store_f32\n\n\n"
        "def rest(ctx, bufs, dims, lo, hi):\n"
        "    x, y = address(bufs, 0), address(bufs, 1)\n"
        "    for i in range(lo, hi):\n"
        "        store_f32(y, i, load_f32(y, i) + load_f32(x, i))\n",
    )
    second = Launch(rest, (0, 1), (), 4, 4, [], [], [], follows=True)
    first.kernel = half
    executable = Executable(Program(program.buffers, [first, second], 0, [1]))
    x = np.arange(4, dtype=F32)
    for results in all_ways(executable, [x]):
        np.testing.assert_array_equal(results[0], x * x + x)


def test_results_never_alias_arguments_constants_or_each_other():
    type = TensorType((3,), F32)
    constant = np.arange(3, dtype=F32)
    buffers = [Buffer(type, Place.ARGUMENT, 0), Buffer(type, Place.CONSTANT, data=constant)]
    executable = Executable(Program(buffers, [], 0, [0, 1, 0]))
    x = np.array([5, 6, 7], F32)
    for results in all_ways(executable, [x]):
        np.testing.assert_array_equal(results, [x, constant, x])
        arrays = [x, constant, *results]
        assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_many_threads_share_an_executable(rng):
    executable = Executable(square_plus(5000, grain=500))
    assert executable.wait(60)
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).normal(size=5000).astype(F32)
        for _ in range(200):
            (y,) = executable([x])
            if not np.array_equal(y, x * x + x):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_kernel_that_cannot_be_compiled_is_named_once(rng):
    program = square_plus(3)
    name = f"broken_{rng.integers(1 << 60)}"
    first_launch(program).kernel = Kernel(name, f"def {name}(ctx, bufs, dims, lo, hi):\n    return [ctx].sort()\n")
    executable = Executable(program)
    executable.handles[first_launch(program).kernel].wait(60)
    x = np.arange(3, dtype=F32)
    with pytest.warns(RuntimeWarning, match=f"kernel {name} can't be compiled"):
        executable.wait(60)
    np.testing.assert_array_equal(executable([x])[0], x * x + x)
