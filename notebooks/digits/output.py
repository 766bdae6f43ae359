"""What the demonstration leaves behind: a picture, the StableHLO text and the kernels of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt

from notebooks.digits.data import Digits
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.text import parse


def _walk(region: Region) -> Iterator[Op]:
    for op in region.ops:
        yield op
        for inner in op.regions:
            yield from _walk(inner)


def count_ops(text: str) -> int:
    """Return how many ops a program has, those inside loops too."""
    return sum(1 for function in parse(text).functions for _ in _walk(function.body))


def write_programs(folder: Path, part: str, lowered: Any, compiled: Any) -> None:
    """Write a part's StableHLO as traced and as optimized, and the source of its kernels."""
    own = folder / part
    own.mkdir(parents=True, exist_ok=True)
    (own / "traced.mlir").write_text(lowered.as_text(), encoding="utf-8")
    (own / "optimized.mlir").write_text(compiled.as_text(), encoding="utf-8")
    for name, source in compiled.kernels.items():
        (own / f"{name}.py").write_text(source, encoding="utf-8")


def shortest_kernel(kernels: Mapping[str, str]) -> str:
    """Return the source of the shortest kernel that has a loop and computes something."""
    telling = [source for name, source in kernels.items() if "for " in source and not name.startswith("copy")]
    return min(telling or kernels.values(), key=len).strip()


def plot(path: Path, digits: Digits, losses: Sequence[float], projected: np.ndarray, centres: np.ndarray) -> None:
    """Draw the loss, the digits on two components, and the centres of clusters."""
    figure = plt.figure(figsize=(10, 7), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(2.2, 1))
    left, right = upper.subplots(1, 2)
    left.semilogy(losses, marker="o")
    left.set(title="loss of the classifier", xlabel="calls of 20 gradient steps")
    points = right.scatter(projected[:, 0], projected[:, 1], c=digits.labels, cmap="tab10", s=6)
    right.set(title="digits on two principal components")
    figure.colorbar(points, ax=right)
    lower.suptitle("centres of clusters")
    for axes, centre in zip(lower.subplots(1, len(centres)), centres, strict=True):
        axes.imshow(centre.reshape(8, 8), cmap="gray_r")
        axes.axis("off")
    figure.savefig(path)
    plt.close(figure)
