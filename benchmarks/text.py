"""`python -m benchmarks.text`: how fast StableHLO text is read and written, and whether long programs take linear time.

Seconds are of the processor, each the least of three runs. The first table's blobs are one constant, as hexadecimal
digits; `bytes.fromhex` on the same digits is what memory allows. The second takes programs of several shapes from text
to the first answer, compiling left out; microseconds per op say whether that is linear.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.report import grid
from numhlo import stablehlo
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.pipeline import optimize

ROW = "tensor<8xf32>"
NAMES = ("add", "multiply", "maximum", "subtract")
RUNS = 3


def _function(lines: Sequence[str], result: str, name: str = "@main") -> str:
    return f"func.func {name}(%x: {ROW}) -> {ROW} {{\n" + "\n".join(lines) + f"\nreturn {result} : {ROW}\n}}\n"


def chain(count: int) -> str:
    """Return ops each of which takes the one before."""
    lines = [f"%{k} = stablehlo.{NAMES[k % 4]} %{k - 1}, %x : {ROW}" for k in range(1, count)]
    return _function([f"%0 = stablehlo.sine %x : {ROW}", *lines], f"%{count - 1}")


def graph(count: int) -> str:
    """Return layers of a hundred ops each of which takes two of the layer before; all of the last are added up."""
    width = 100
    lines = [f"%v0_{j} = stablehlo.constant dense<{j}.25> : {ROW}" for j in range(width)]
    layers = max(count // width - 2, 1)
    for i in range(1, layers + 1):
        for j in range(width):
            other = f"%v{i - 1}_{(7 * j + 1) % width}" if i > 1 else "%x"
            lines.append(f"%v{i}_{j} = stablehlo.{NAMES[(i + j) % 4]} %v{i - 1}_{j}, {other} : {ROW}")
    last = [f"%v{layers}_{j}" for j in range(width)]
    sums = [f"%s{j} = stablehlo.add {f'%s{j - 1}' if j > 1 else last[0]}, {last[j]} : {ROW}" for j in range(1, width)]
    return _function([*lines, *sums], f"%s{width - 1}")


def functions(count: int) -> str:
    """Return small functions, each called once."""
    bodies = [
        _function(
            [f"%0 = stablehlo.{NAMES[k % 4]} %x, %x : {ROW}", f"%1 = stablehlo.tanh %0 : {ROW}"], "%1", f"private @f{k}"
        )
        for k in range(count // 4)
    ]
    calls = [f"%v{k + 1} = call @f{k}(%v{k}) : ({ROW}) -> {ROW}" for k in range(count // 4)]
    return _function([f"%v0 = stablehlo.negate %x : {ROW}", *calls], f"%v{count // 4}") + "".join(bodies)


def branches(count: int) -> str:
    """Return small branches, one after the other."""
    first = [
        "%s = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>",
        "%r = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>",
        "%p = stablehlo.is_finite %r : (tensor<f32>) -> tensor<i1>",
        f"%v0 = stablehlo.negate %x : {ROW}",
    ]
    lines = []
    for k in range(count // 5):
        bodies = (f"{NAMES[k % 4]} %v{k}, %x", f"tanh %v{k}")
        regions = [f"{{\n%a = stablehlo.{body} : {ROW}\nstablehlo.return %a : {ROW}\n}}" for body in bodies]
        lines.append(f'%v{k + 1} = "stablehlo.if"(%p) ({", ".join(regions)}) : (tensor<i1>) -> {ROW}')
    return _function([*first, *lines], f"%v{count // 5}")


SHAPES: tuple[Callable[[int], str], ...] = (chain, graph, functions, branches)


def blob(size: int) -> str:
    """Return a program of one constant of so many bytes."""
    digits = np.random.default_rng(0).bytes(size).hex().upper()
    type = f"tensor<{size // 4}xi32>"
    return f'func.func @main() -> {type} {{ %0 = stablehlo.constant dense<"0x{digits}"> : {type} return %0 : {type} }}'


def least(function: Callable[[], Any]) -> float:
    """Return the least processor time of a few calls, in seconds, without collecting garbage."""
    times = []
    for _ in range(RUNS):
        gc.collect()
        gc.disable()
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
        gc.enable()
    return min(times)


def speeds(text: str) -> list[str]:
    """Return the megabytes a second at which a text is read, checked and written."""
    module = stablehlo.parse(text)
    steps = (lambda: stablehlo.parse(text), lambda: stablehlo.Module(module.graph).verify(), module.as_text)
    return [f"{len(text) / least(step) / 1e6:,.1f}" for step in steps]


def phases(text: str, count: int) -> list[str]:
    """Return the seconds of all that happens to a program until its first answer, and microseconds per op."""
    module = stablehlo.parse(text)
    x = np.linspace(0.1, 1, 8, dtype=np.float32)
    seconds = [
        least(step)
        for step in (
            lambda: stablehlo.parse(text),
            lambda: stablehlo.Module(module.graph).verify(),
            lambda: optimize(legalize(module.graph.main)),
            lambda: stablehlo.Module(module.graph).run("main", x),
        )
    ]
    return [*(f"{s:.2f}" for s in seconds), f"{1e6 * (seconds[0] + seconds[3]) / count:.0f}"]


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2500, 5000, 10000, 20000], help="ops of long programs")
    options = parser.parse_args()
    rows = [[f"{make.__name__}, {max(options.sizes)} ops", *speeds(make(max(options.sizes))), ""] for make in SHAPES]
    for megabytes in (1, 8, 64):
        text = blob(megabytes << 20)
        digits = text[text.index("0x") + 2 : text.rindex('"')]
        memory = len(digits) / least(lambda digits=digits: bytes.fromhex(digits)) / 1e6  # type: ignore[misc]
        parsing, _, printing = speeds(text)
        rows.append([f"blob of {megabytes} MiB", parsing, "", printing, f"{memory:,.1f}"])
    print(grid(["MB/s of text", "parse", "verify", "print", "bytes.fromhex"], rows))
    rows = [
        [f"{make.__name__}, {count} ops", *phases(make(count), count)] for make in SHAPES for count in options.sizes
    ]
    print(grid(["seconds", "parse", "verify", "optimize", "run, first", "µs per op"], rows))


if __name__ == "__main__":
    main()
