"""One exported program in one file: its text, and as comments before it the arguments and the exporter's own results.

Generators write such files where TensorFlow or PyTorch is installed; tests read them where it is not. Needs NumPy only.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np

LINE = re.compile(r"// (argument|result) (\w+)\[([\d,]*)\] (\S*)\n")
PLACE = re.compile(r'loc\("[^"]*/([^/"]+)"')


def write(path: Path, text: str, arguments: list[np.ndarray], results: list[np.ndarray]) -> None:
    """Write a program, its arguments and what they give; folders in locations are left out."""
    arrays = [("argument", x) for x in arguments] + [("result", x) for x in results]
    lines = [
        f"// {kind} {x.dtype.name}[{','.join(map(str, x.shape))}] {base64.b64encode(x.tobytes()).decode()}\n"
        for kind, x in arrays
    ]
    path.write_text("".join(lines) + PLACE.sub(r'loc("\1"', text))


def read(path: Path) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """Return a program's text, its arguments and results."""
    text = path.read_text()
    found: dict[str, list[np.ndarray]] = {"argument": [], "result": []}
    for kind, dtype, shape, data in LINE.findall(text):
        array = np.frombuffer(base64.b64decode(data), dtype)
        found[kind].append(array.reshape([int(n) for n in shape.split(",") if n]))
    return text, found["argument"], found["result"]
