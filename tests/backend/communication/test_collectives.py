"""Collectives of compiled programs on threads, bit for bit as the interpreter has them."""

import numpy as np
import pytest

import numhlo
from numhlo.distributed import ProcessGrid
from numhlo.lowering.ir.errors import InvalidValueError
from numhlo.stablehlo import parse
from tests.backend.communication import random_grids
from tests.backend.communication.grids import heat, heat_in_numpy, train, train_in_numpy, training_data
from tests.backend.communication.programs import CHANNEL, TYPES, arrays_of, every_collective, same_bits

SMALL, LARGE = (4, 6), (64, 606)
"""Arrays that one process of a group does all the work of, and arrays of which each does a share."""


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_stencil_and_a_training_on_threads(count):
    start = np.random.default_rng(0).normal(size=(16, 9))
    parts, module = np.split(start, count), heat(count, (16 // count, 9))
    for steps in (0, 3, 8):
        found = ProcessGrid(count).run(module, [(part, np.int32(steps)) for part in parts])
        np.testing.assert_array_equal(np.concatenate([x for (x,) in found]), heat_in_numpy(start, steps))
    weights, data = training_data(count)
    for _ in range(2):
        found = ProcessGrid(count).run(train(count, 8, 5), [(weights, *part) for part in data])
        assert all(same_bits(one, found[0]) for one in found)
        np.testing.assert_allclose(found[0][0], train_in_numpy(weights, data), 1e-5)


def require_same(grid, module, arrays, calls=3):
    """Compare compiled runs with an interpreted one; what runs first is not compiled yet."""
    function = module.callable()
    expected = grid.run(function, [(x,) for x in arrays], interpret=True)
    for call in range(calls):
        found = grid.run(function, [(x,) for x in arrays])
        assert all(same_bits(*pair) for pair in zip(found, expected, strict=True)), call
        for program in function.programs.values():
            program.wait()


@pytest.mark.parametrize("kind", TYPES)
def test_every_collective_of_every_element_type(kind):
    require_same(ProcessGrid(2), every_collective(kind, 2, *SMALL), arrays_of(kind, 2, SMALL))


@pytest.mark.parametrize("kind", ["f32", "i64"])
def test_large_arrays_of_several_processes(kind):
    module = every_collective(kind, 3, 63, 6060)
    require_same(ProcessGrid(3), module, arrays_of(kind, 3, (63, 6060)), calls=2)


NUMBERS = "dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>"
GROUPS = {
    "replicas": ((4, 1), f"replica_groups = {NUMBERS}"),
    "partitions": ((1, 4), f"replica_groups = {NUMBERS}, {CHANNEL}"),
    "both": ((2, 2), f"replica_groups = {NUMBERS}, {CHANNEL}, use_global_device_ids"),
}


@pytest.mark.parametrize("mode", GROUPS)
def test_all_ways_to_group(mode):
    shape, text = GROUPS[mode]
    if mode == "partitions":  # all_reduce, all_gather and reduce_scatter join replicas and partitions by a channel
        text = f"replica_groups = dense<[[0]]> : tensor<1x1xi64>, {CHANNEL}"
        module = parse(REDUCED.replace("GROUPS", text))
        require_same(ProcessGrid(*shape), module, arrays_of("f32", 4, (7,)))
        return
    module = every_collective("f32", 4, 4, 8, text) if mode == "replicas" else parse(REDUCED.replace("GROUPS", text))
    arrays = arrays_of("f32", 4, (4, 8) if mode == "replicas" else (7,))
    require_same(ProcessGrid(*shape), module, arrays)


REDUCED = """
func.func @main(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf64>) {
  %0:2 = "stablehlo.all_reduce"(%x, %x) <{GROUPS}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %w = stablehlo.add %u, %v : tensor<f32>
      stablehlo.return %w : tensor<f32>
  }) : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  %1 = "stablehlo.all_reduce"(%0#1) <{GROUPS}> ({
    ^bb0(%u: tensor<f64>, %v: tensor<f64>):
      %w = stablehlo.add %u, %v : tensor<f64>
      stablehlo.return %w : tensor<f64>
  }) : (tensor<7xf32>) -> tensor<7xf64>
  return %0#0, %1 : tensor<7xf32>, tensor<7xf64>
}"""
"""Two operands at once, and operands that the reducer's element type is wider than."""


@pytest.mark.parametrize("switch", [{"engine": "interpreter"}, {"check": "overflow"}])
def test_switches_of_debugging_hold_in_grids(switch):
    module = parse(REDUCED.replace("GROUPS", "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>"))
    arrays, grid = arrays_of("f32", 2, (7,)), ProcessGrid(2)
    expected = grid.run(module, [(x,) for x in arrays], interpret=True)
    with numhlo.debugging(**switch):
        found = grid.run(module, [(x,) for x in arrays])
    assert all(same_bits(*pair) for pair in zip(found, expected, strict=True))


def test_what_is_not_a_number_is_found_in_its_process():
    module = parse(REDUCED.replace("GROUPS", "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>"))
    arrays = [np.full(7, np.inf, np.float32), np.full(7, -np.inf, np.float32)]
    with numhlo.debugging(check="nan"), pytest.raises(InvalidValueError, match="all_reduce"):
        ProcessGrid(2).run(module, [(x,) for x in arrays])


EMPTY = """
func.func @main(%x: tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<0x6xf32>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %w = stablehlo.add %u, %v : tensor<f32>
      stablehlo.return %w : tensor<f32>
  }) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<0x3xf32>) -> tensor<0x6xf32>
  return %0, %1 : tensor<0x3xf32>, tensor<0x6xf32>
}"""


def test_arrays_without_elements():
    require_same(ProcessGrid(2), parse(EMPTY), [np.zeros((0, 3), np.float32)] * 2)


RAGGED = """
func.func @main(%x: tensor<5xf64>) -> tensor<5xf64> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>}> ({
    ^bb0(%u: tensor<f64>, %v: tensor<f64>):
      %w = stablehlo.subtract %u, %v : tensor<f64>
      stablehlo.return %w : tensor<f64>
  }) : (tensor<5xf64>) -> tensor<5xf64>
  return %0 : tensor<5xf64>
}"""


def test_groups_of_different_sizes():
    require_same(ProcessGrid(3), parse(RAGGED), arrays_of("f64", 3, (5,)))


BRANCHES = """
func.func private @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %k, %one : tensor<i32>
    %odd = stablehlo.and %k, %one : tensor<i32>
    %2 = "stablehlo.case"(%odd) ({
      %3 = func.call @shared(%y) : (tensor<4xf32>) -> tensor<4xf32>
      %4 = stablehlo.add %3, %x : tensor<4xf32>
      stablehlo.return %4 : tensor<4xf32>
    }, {
      %3 = func.call @shared(%y) : (tensor<4xf32>) -> tensor<4xf32>
      %4 = func.call @shared(%3) : (tensor<4xf32>) -> tensor<4xf32>
      %5 = stablehlo.multiply %4, %3 : tensor<4xf32>
      stablehlo.return %5 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}"""


def test_loops_branches_and_calls_around_collectives():
    grid, function = ProcessGrid(2), parse(BRANCHES).callable()
    for count in (0, 1, 4, 7):
        arguments = [(x, count) for x in arrays_of("f32", 2, (4,), seed=count)]
        expected = grid.run(function, arguments, interpret=True)
        assert all(same_bits(*pair) for pair in zip(grid.run(function, arguments), expected, strict=True))
        for program in function.programs.values():
            program.wait()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_some_of_which_fail(seed):
    random_grids.check(seed)
