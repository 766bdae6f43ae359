"""Scalars among many results share memory: they are arrays as NumPy makes them, and independent of each other."""

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import numhlo
from numhlo.backend.runtime.fast_entry import FEWEST_SHARING, SHARED_BYTES
from numhlo.backend.runtime.object_layout import views_are_as_expected

DTYPES = ("float64", "int8", "complex128", "bool", "float32", "int16", "uint64", "complex64")


def compiled(function, *arguments):
    """Return a jitted function whose next call is native."""
    jitted = numhlo.jit(function)
    jitted.lower(*arguments).compile()
    jitted(*arguments)
    return jitted


@pytest.fixture(scope="module")
def counted():
    """Return a function with a hundred scalar results."""
    return compiled(lambda x: tuple(x + k for k in range(100)), 0.5)


def test_values_and_types(counted):
    found = counted(0.5)
    assert [float(x) for x in found] == [k + 0.5 for k in range(100)]
    for x in found:
        assert type(x) is numhlo.Array
        assert (x.shape, x.dtype, x.strides) == ((), np.float64, ())
        assert x.flags.num == np.ndarray((), np.float64, np.zeros(8, np.uint8)).flags.num
        assert x.ctypes.data % 8 == 0
    assert not any(np.shares_memory(a, b) for k, a in enumerate(found) for b in found[:k])


def test_elements_of_every_size_are_aligned():
    def function(x):
        return [(x + k).astype(DTYPES[k % len(DTYPES)]) for k in range(5 * len(DTYPES))] + [np.arange(3) * x]

    found = compiled(function, 2.0)(1.0)
    assert found[-1].flags.owndata
    for k, x in enumerate(found[:-1]):
        assert x == np.float64(1.0 + k).astype(DTYPES[k % len(DTYPES)])
        assert x.dtype == DTYPES[k % len(DTYPES)]
        assert x.ctypes.data % x.dtype.alignment == 0
        assert x.base.nbytes <= SHARED_BYTES


def test_writing_to_one_changes_no_other(counted):
    found, again = counted(0.5), counted(0.5)
    for k in range(0, 100, 3):
        found[k][...] = -1.0
    assert [float(x) for x in found[1::3]] == [k + 0.5 for k in range(1, 100, 3)]
    assert [float(x) for x in again] == [k + 0.5 for k in range(100)]


def test_few_scalars_have_memory_of_their_own():
    few = compiled(lambda x: tuple(x + k for k in range(FEWEST_SHARING - 1)), 0.5)
    assert all(x.flags.owndata for x in few(1.0))


def test_what_is_held_is_a_small_block(counted):
    found = counted(0.5)
    blocks = {id(x.base): weakref.ref(x.base) for x in found}
    assert len(blocks) == 2
    assert all(type(x.base) is np.ndarray and x.base.nbytes <= SHARED_BYTES for x in found)
    assert sum(block().nbytes for block in blocks.values()) == 800
    gone, kept = weakref.ref(found[3]), found[70]
    del found
    gc.collect()
    assert gone() is None
    assert [block() is not None for block in blocks.values()] == [False, True]
    assert kept == 70.5
    del kept
    assert not any(block() is not None for block in blocks.values())


def test_calls_leave_no_references(counted):
    counts = []
    for _ in range(3):
        for _ in range(50):
            counted(0.5)
        gc.collect()
        things = (np.dtype(np.float64), np.dtype(np.uint8), np.ndarray, numhlo.Array)
        counts.append([sys.getrefcount(thing) for thing in things])
    assert counts[1] == counts[2]


def test_results_are_arguments_again():
    step = compiled(lambda *xs: tuple(x * 2 for x in xs), *[np.array(float(k)) for k in range(10)])
    state = step(*[np.array(float(k)) for k in range(10)])
    for _ in range(3):
        state = step(*state)
    assert [float(x) for x in state] == [16.0 * k for k in range(10)]


def test_results_are_arguments_that_are_written():
    def double(xs):
        for x in xs:
            x[...] *= 2

    make = compiled(lambda x: tuple(x + k for k in range(10)), np.full(1, 0.5))
    made, written = make(np.ones(1)), numhlo.jit(double)
    for _ in range(4):
        written(list(made))
    assert [x.item() for x in made] == [16.0 * (k + 1) for k in range(10)]


def test_they_travel(counted):
    found = counted(0.5)
    sent = pickle.loads(pickle.dumps(found[:5]))
    assert [float(x) for x in sent] == [0.5, 1.5, 2.5, 3.5, 4.5]
    copied = found[4].copy()
    assert copied.flags.owndata
    assert np.asarray(found[4]).base is not None
    assert bytes(memoryview(found[4])) == np.float64(4.5).tobytes()


def test_classes_that_want_to_know_their_arrays_are_left_to_numpy():
    class Named(np.ndarray):
        def __array_finalize__(self, other):
            self.name = "name"

    class Bare(np.ndarray):
        __slots__ = ()

    assert views_are_as_expected(np.ndarray)
    assert views_are_as_expected(Bare)
    assert not views_are_as_expected(Named)


@pytest.mark.interrupts  # coverage asks for memory, too
def test_memory_that_runs_out_raises(counted):
    hooks = pytest.importorskip("_testcapi")
    counted(0.5)
    failed = 0
    for start in range(0, 140, 3):
        hooks.set_nomemory(start, start + 1)
        try:
            counted(0.5)
        except MemoryError:
            failed += 1
        finally:
            try:
                hooks.remove_mem_hooks()
            except MemoryError:  # the call itself has asked for memory less often than that
                hooks.remove_mem_hooks()
    assert failed > 10
    assert counted(0.5)[99] == 99.5
