"""Two programs that people run on grids, as StableHLO: a heat stencil with halo exchange, and data-parallel training."""

import numpy as np

from numhlo.stablehlo import Module, parse

RATE = 0.0625  # a power of 2: products by it are exact


def heat(count: int, shape: tuple[int, int]) -> Module:
    """Return a program of steps of a heat equation: processes have rows, and pass their edges on to their neighbours.

    Where nobody is a neighbour, there are zeros.
    """
    rows, columns = shape
    box, row = f"tensor<{rows}x{columns}xf64>", f"tensor<1x{columns}xf64>"
    tall, wide = f"tensor<{rows + 2}x{columns}xf64>", f"tensor<{rows}x{columns + 2}xf64>"

    def pairs(step: int) -> str:
        found = [[k, k + step] for k in range(count) if 0 <= k + step < count]
        return f"source_target_pairs = dense<{found or ''}> : tensor<{len(found)}x2xi64>"

    def passed(name: str, source: str, step: int) -> str:
        return f'{name} = "stablehlo.collective_permute"({source}) <{{{pairs(step)}}}> : ({row}) -> {row}'

    def part(name: str, source: str, where: str, types: str) -> str:
        return f"{name} = stablehlo.slice {source} [{where}] : {types}"

    return parse(f"""
    func.func @main(%x: {box}, %steps: tensor<i32>) -> {box} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %nothing = stablehlo.constant dense<0.0> : tensor<f64>
      %rate = stablehlo.constant dense<{RATE}> : {box}
      %four = stablehlo.constant dense<4.0> : {box}
      %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, {box}
      cond {{
        %1 = stablehlo.compare LT, %k, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }} do {{
        %1 = stablehlo.add %k, %one : tensor<i32>
        {part("%first", "%y", f"0:1, 0:{columns}", f"({box}) -> {row}")}
        {part("%last", "%y", f"{rows - 1}:{rows}, 0:{columns}", f"({box}) -> {row}")}
        {passed("%above", "%last", 1)}
        {passed("%below", "%first", -1)}
        %tall = stablehlo.concatenate %above, %y, %below, dim = 0 : ({row}, {box}, {row}) -> {tall}
        {part("%up", "%tall", f"0:{rows}, 0:{columns}", f"({tall}) -> {box}")}
        {part("%down", "%tall", f"2:{rows + 2}, 0:{columns}", f"({tall}) -> {box}")}
        %wide = stablehlo.pad %y, %nothing, low = [0, 1], high = [0, 1], interior = [0, 0]
          : ({box}, tensor<f64>) -> {wide}
        {part("%left", "%wide", f"0:{rows}, 0:{columns}", f"({wide}) -> {box}")}
        {part("%right", "%wide", f"0:{rows}, 2:{columns + 2}", f"({wide}) -> {box}")}
        %2 = stablehlo.add %up, %down : {box}
        %3 = stablehlo.add %left, %right : {box}
        %4 = stablehlo.add %2, %3 : {box}
        %5 = stablehlo.multiply %four, %y : {box}
        %6 = stablehlo.subtract %4, %5 : {box}
        %7 = stablehlo.multiply %rate, %6 : {box}
        %8 = stablehlo.add %y, %7 : {box}
        stablehlo.return %1, %8 : tensor<i32>, {box}
      }}
      return %0#1 : {box}
    }}""")


def heat_in_numpy(x: np.ndarray, steps: int) -> np.ndarray:
    """Return what all processes together have after some steps."""
    for _ in range(steps):
        padded = np.pad(x, 1)
        around = (padded[:-2, 1:-1] + padded[2:, 1:-1]) + (padded[1:-1, :-2] + padded[1:-1, 2:])
        x = x + RATE * (around - 4.0 * x)
    return x


def train(count: int, samples: int, features: int) -> Module:
    """Return a program of ten steps of linear regression, whose gradients are averaged over all processes."""
    data, target, weights = f"tensor<{samples}x{features}xf32>", f"tensor<{samples}xf32>", f"tensor<{features}xf32>"
    dot = "stablehlo.dot_general"
    return parse(f"""
    func.func @main(%w: {weights}, %x: {data}, %t: {target}) -> {weights} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %rate = stablehlo.constant dense<{0.125 / (count * samples)}> : {weights}
      %0:2 = stablehlo.while(%k = %zero, %y = %w) : tensor<i32>, {weights}
      cond {{
        %1 = stablehlo.compare LT, %k, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }} do {{
        %1 = stablehlo.add %k, %one : tensor<i32>
        %2 = {dot} %x, %y, contracting_dims = [1] x [0] : ({data}, {weights}) -> {target}
        %3 = stablehlo.subtract %2, %t : {target}
        %4 = {dot} %3, %x, contracting_dims = [0] x [0] : ({target}, {data}) -> {weights}
        %5 = "stablehlo.all_reduce"(%4) <{{replica_groups = dense<> : tensor<0x0xi64>}}> ({{
          ^bb0(%u: tensor<f32>, %v: tensor<f32>):
            %s = stablehlo.add %u, %v : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) : ({weights}) -> {weights}
        %6 = stablehlo.multiply %rate, %5 : {weights}
        %7 = stablehlo.subtract %y, %6 : {weights}
        stablehlo.return %1, %7 : tensor<i32>, {weights}
      }}
      return %0#1 : {weights}
    }}""")


def train_in_numpy(w: np.ndarray, data: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the weights after ten steps on all data together."""
    x, t = (np.concatenate(parts) for parts in zip(*data, strict=True))
    for _ in range(10):
        w = w - 0.125 / len(t) * ((x @ w - t) @ x)
    return w


def training_data(count: int) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return first weights, and samples and targets for each process."""
    rng = np.random.default_rng(3)
    data = [(rng.integers(-2, 3, (8, 5)).astype(np.float32), np.zeros(8, np.float32)) for _ in range(count)]
    true = np.arange(5, dtype=np.float32)
    return np.zeros(5, np.float32), [(x, x @ true) for x, _ in data]
