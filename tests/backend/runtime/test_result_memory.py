"""Memory of large results: taken again when nobody holds the result, and not a moment earlier."""

import threading

import numpy as np
import pytest

import numhlo
from numhlo.backend.runtime.result_memory import LEAST_BYTES, ResultMemory
from numhlo.tracer.core.array import Array

SHAPE = (1000, 10)
F64 = np.dtype(np.float64)


@pytest.mark.parametrize("array_type", [np.ndarray, Array])
def test_nothing_that_is_held_is_taken_again(array_type):
    memory = ResultMemory()
    first = memory.array(array_type, SHAPE, F64)
    assert first.flags.writeable and first.flags.c_contiguous and first.ctypes.data % 64 == 0
    address, view, bytes_of = first.ctypes.data, first[3:, ::2], memoryview(first)
    held = []
    for name in ("first", "view", "bytes_of"):
        held.append(memory.array(array_type, SHAPE, F64))
        assert held[-1].ctypes.data != address
        if name == "first":
            del first
        elif name == "view":
            del view
        else:
            del bytes_of
    assert memory.array(array_type, SHAPE, F64).ctypes.data == address


def test_it_keeps_no_more_than_it_may():
    memory = ResultMemory(most_bytes=200_000)
    arrays = [memory.array(np.ndarray, SHAPE, F64) for _ in range(5)]
    assert sum(block.nbytes for block in memory._blocks.values()) <= 200_000
    for number, array in enumerate(arrays):
        array[...] = number
    assert [a.mean() for a in arrays] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_threads_never_get_the_same_memory():
    memory, wrong = ResultMemory(), []

    def work(number):
        for _ in range(300):
            array = memory.array(np.ndarray, SHAPE, F64)
            array[...] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_results_of_a_function(rng):
    x = rng.random(LEAST_BYTES // 8)
    double = numhlo.jit(lambda x: x * 2.0)
    first = double(x)
    double.wait()
    kept, address = first[:3].copy(), first.ctypes.data
    second = double(x + 1.0)
    np.testing.assert_array_equal(first[:3], kept)  # it is held, and stays what it is
    del first
    assert address in {double(x).ctypes.data for _ in range(2)}
    np.testing.assert_array_equal(second, (x + 1.0) * 2.0)
