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
from numhlo.lowering.bytecode import write_artifact
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.text import parse
from tests.fuzz.batches import Find
from tests.lowering.bytecode import official
from tests.lowering.bytecode.everything import OTHERS, generic
from tests.lowering.text.programs import MODULES

ARRAYS = (
    np.arange(6.0).reshape(3, 2), np.array(3, np.int32), np.zeros((2, 0, 3), np.uint8), np.ones((2, 2), np.complex64),
    np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)), np.array([True, False]),
)  # fmt: skip
PIECES = (
    b"True", b"-1", b"0", b"18446744073709551616", b"9" * 30, b"(", b")", b"{", b"[", b",", b"'", b"'|O'", b"<f8", b"<f9",
    b"|V8", b"[('a', '<f8')]", b"\0", b"\xff\xff\xff\xff", b"PK\3\4", b"__import__('os')", b" " * 70000, b"\n",
)  # fmt: skip

MOST_SECONDS = 1.0
"""Processor time that a mutant of a file of some hundred bytes may take."""


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
    """Return bytecode of some of the tests' programs: portable artifacts, and jaxlib's own of plain dialects."""
    texts = [OTHERS, *[generic(MODULES[name]) for name in sorted(MODULES)[::12]]]
    plain = [official.bytecode(text, version) for version, text in enumerate(texts[:7])]
    exported = [official.artifact(text, "1.17.0") for text in texts]
    ours = [write_artifact(parse(text), version) for text in texts for version in ("0.14.0", "1.17.0")]
    return *plain, *filter(None, exported), *ours


def flipped(data: bytes, generator: random.Random) -> bytes:
    """Return bytes of which one to six are others, behind what makes them bytecode: most sections stay whole."""
    found = bytearray(data)
    for _ in range(generator.choice((1, 1, 1, 2, 3, 6))):
        place = generator.randrange(5, len(found))
        byte = found[place]
        choices = (byte ^ 1 << generator.randrange(8), generator.randrange(256), byte + 2 & 255, byte - 2 & 255)
        found[place] = generator.choice(choices)
    return bytes(found)


def bytecode(seed: int, count: int) -> Iterator[bytes]:
    """Yield mutants of bytecode: of every three, two have other bytes, and one has more or fewer of them."""
    pieces = tuple([data[k : k + 12] for data in artifacts() for k in range(0, len(data), 37)])
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        data = generator.choice(artifacts())
        if number % 3:
            yield flipped(data, generator)
        else:
            yield b"ML\xefR" + changed(data, generator, pieces, 1 << 20)[4:]


def bytecode_outcome(content: bytes) -> str:
    """Return whether bytecode is read, printed, written again and verified, or refused.

    Raises
    ------
    Find
        If that takes more than a second of processor time.
    """
    start = time.process_time()
    try:
        module = stablehlo.deserialize(content)
        module.as_text(generic=True, locations=True)
        module.as_vhlo_text()
        module.verify()
    except NumhloError:
        return "refused"
    if time.process_time() - start > MOST_SECONDS:
        raise Find(f"{len(content)} bytes take {time.process_time() - start:.1f} s")
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
            for content in bytecode(seed, 1000):
                counts[bytecode_outcome(content)] += 1
            seed += 1
    sys.stdout.write(f"{counts['read']} mutants read, {counts['refused']} refused\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
