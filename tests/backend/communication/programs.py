"""Programs between processes: every collective on one element type, as text, and the arrays that they are given."""

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.stablehlo import Module, parse

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
EXACT = ("i64", "ui8", "i1", "i32")
TYPES = ("f32", "f64", "bf16", "f16", "f8E4M3FN", "i4", "ui8", "i64", "i1", "complex<f32>", "complex<f64>")
REDUCERS = ("add", "maximum", "ordered", "captured")
"""`ordered` is neither commutative nor associative; `captured` uses a value of its own process."""


def reducer(name: str, kind: str) -> str:
    """Return a computation's region, as text."""
    scalar = f"tensor<{kind}>"
    if name == "ordered":
        body = f"%s = stablehlo.multiply %u, %v : {scalar}\n      %w = stablehlo.add %s, %u : {scalar}"
    elif name == "captured":
        body = f"%s = stablehlo.add %u, %v : {scalar}\n      %w = stablehlo.add %s, %own : {scalar}"
    else:
        body = f"%w = stablehlo.{name} %u, %v : {scalar}"
    return f"({{\n    ^bb0(%u: {scalar}, %v: {scalar}):\n      {body}\n      stablehlo.return %w : {scalar}\n  }})"


def every_collective(kind: str, count: int, rows: int, columns: int, groups: str = "") -> Module:
    """Return a program that does each collective once, and something elementwise before each.

    Parameters
    ----------
    kind : str
        The element type.
    count : int
        How many processes are in a group.
    rows, columns : int
        Of each process's array; multiples of the count.
    groups : str, optional
        How processes are grouped; by default all of them, by `replica_groups`.
    """
    groups = groups or f"replica_groups = dense<{[[*range(count)]]}> : tensor<1x{count}xi64>"
    whole, wide = f"tensor<{rows}x{columns}x{kind}>", f"tensor<{rows}x{columns * count}x{kind}>"
    cut, moved = f"tensor<{rows}x{columns // count}x{kind}>", f"tensor<{rows // count}x{columns * count}x{kind}>"
    lines, results = [], []

    def add(line: str, result: str) -> None:
        lines.append(f"%y{len(results)} = stablehlo.add %x, %x : {whole}")
        lines.append(f"%r{len(results)} = {line.replace('%a', f'%y{len(results)}')} : ({whole}) -> {result}")
        results.append(result)

    for name in REDUCERS:
        add(f'"stablehlo.all_reduce"(%a) <{{{groups}}}> {reducer(name, kind)}', whole)
    add(f'"stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 1 : i64, {groups}}}> {reducer("ordered", kind)}', cut)
    add(f'"stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, {groups}}}>', wide)
    split = f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = {count} : i64"
    if "use_global" not in groups:  # the others can't be grouped so
        add(f'"stablehlo.all_to_all"(%a) <{{{split}, {groups}}}>', moved)
        pairs = [[k, (k + 1) % count] for k in range(count)][: max(count - 1, 1)]
        targets = f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
        targets += f", {CHANNEL}" if CHANNEL in groups else ""
        add(f'"stablehlo.collective_permute"(%a) <{{{targets}}}>', whole)
        add(f'"stablehlo.collective_broadcast"(%a) <{{{groups}}}>', whole)
    body = "\n  ".join(lines)
    returned, kinds = ", ".join(f"%r{k}" for k in range(len(results))), ", ".join(results)
    own = f"%c = stablehlo.slice %x [0:1, 0:1] : ({whole}) -> tensor<1x1x{kind}>\n"
    own += f"  %own = stablehlo.reshape %c : (tensor<1x1x{kind}>) -> tensor<{kind}>"
    return parse(f"func.func @main(%x: {whole}) -> ({kinds}) {{\n  {own}\n  {body}\n  return {returned} : {kinds}\n}}")


def arrays_of(kind: str, count: int, shape: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    """Return an array for each process."""
    dtype = ELEMENT_TYPES[kind]
    found = []
    for k in range(count):
        values = np.random.default_rng(10 * seed + k).normal(size=shape)
        found.append((values > 0 if kind == "i1" else np.rint(values) if "i" in kind else values).astype(dtype))
    return found


def same_bits(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> bool:
    """Return whether arrays are equal in all bits, shapes and dtypes."""
    pairs = zip(found, expected, strict=True)
    return all((a.shape, a.dtype) == (b.shape, b.dtype) and a.tobytes() == b.tobytes() for a, b in pairs)
