"""The fuzzer of files: mutants of .npy files and of MLIR bytecode must be read, or refused with an error of ours.

``python -m tests.fuzz.files --minutes 10 --seed 1`` runs for as long as it is told. `test_files` is its short form.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from numhlo import stablehlo
from numhlo.array_file import read_array
from numhlo.lowering.ir.errors import NumhloError
from tests.fuzz.batches import Find
from tests.lowering.text.programs import MODULES

ARRAYS = (
    np.arange(6.0).reshape(3, 2), np.array(3, np.int32), np.zeros((2, 0, 3), np.uint8), np.ones((2, 2), np.complex64),
    np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)), np.array([True, False]),
)  # fmt: skip
PIECES = (
    b"True", b"-1", b"0", b"18446744073709551616", b"9" * 30, b"(", b")", b"{", b"[", b",", b"'", b"'|O'", b"<f8", b"<f9",
    b"|V8", b"[('a', '<f8')]", b"\0", b"\xff\xff\xff\xff", b"PK\3\4", b"__import__('os')", b" " * 70000, b"\n",
)  # fmt: skip


def changed(data: bytes, generator: random.Random, pieces: tuple[bytes, ...], near: int) -> bytes:
    """Return bytes after one to three changes, most of them among the first ``near``, where formats say what follows."""
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(min(len(data), near if generator.random() < 0.8 else len(data)) + 1)
        match generator.randrange(6):
            case 0:
                data = data[:place]
            case 1:
                data = data[:place] + data[place + generator.randint(1, 8) :]
            case 2:
                data = data[:place] + generator.choice(pieces) + data[place:]
            case 3:
                piece = generator.choice(pieces)
                data = data[:place] + piece + data[place + len(piece) :]
            case 4:
                data = data[:place] + generator.randbytes(generator.randint(1, 4)) + data[place + 1 :]
            case _:
                byte = data[place : place + 1] or b"\0"
                data = data[:place] + bytes([byte[0] ^ 1 << generator.randrange(8)]) + data[place + 1 :]
    return data


def arrays(seed: int, count: int) -> Iterator[bytes]:
    """Yield mutants of .npy files."""
    for number in range(count):
        generator, file = random.Random(f"{seed}/{number}"), io.BytesIO()
        np.save(file, generator.choice(ARRAYS))
        yield changed(file.getvalue(), generator, PIECES, 120)


def read_outcome(content: bytes, path: Path) -> str:
    """Return whether a file is read, as NumPy reads it, or refused.

    Raises
    ------
    Find
        If NumPy reads something else, or nothing.
    """
    path.write_bytes(content)
    try:
        found = read_array(str(path))
    except NumhloError:
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.load(path, allow_pickle=False)
    if (found.dtype, found.shape, found.tobytes()) != (expected.dtype, expected.shape, expected.tobytes()):
        raise Find(f"{found.dtype}{found.shape} where NumPy reads {expected.dtype}{expected.shape}")
    return "read"


@cache
def artifacts() -> tuple[bytes, ...]:
    """Return portable artifacts of some of the tests' programs."""
    names = sorted(MODULES)[::12]
    return tuple([stablehlo.Module(MODULES[name]).serialize() for name in names if "custom" not in name][:6])


def bytecode(seed: int, count: int) -> Iterator[bytes]:
    """Yield mutants of portable artifacts."""
    pieces = tuple([data[k : k + 12] for data in artifacts() for k in range(0, len(data), 37)])
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        yield b"ML\xefR" + changed(generator.choice(artifacts()), generator, pieces, 1 << 20)[4:]


def bytecode_outcome(content: bytes) -> str:
    """Return whether bytecode is read, or why it is refused."""
    try:
        stablehlo.deserialize(content).as_text()
    except NumhloError as error:
        return str(error)
    return "read"


def main() -> int:
    """Run the fuzzer; what it finds ends it, with a traceback."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    end, seed, counts = time.monotonic() + 60 * given.minutes, given.seed, {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            for content in arrays(seed, 1000):
                counts[read_outcome(content, Path(folder, "x.npy"))] += 1
            for content in bytecode(seed, 10):
                counts["read" if bytecode_outcome(content) == "read" else "refused"] += 1
            seed += 1
    sys.stdout.write(f"{counts['read']} mutants read, {counts['refused']} refused\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
