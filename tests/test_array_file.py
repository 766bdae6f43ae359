"""Files of arrays that nobody vouches for: read as NumPy reads them, or refused before memory is taken."""

import io
import pickle
import struct

import ml_dtypes
import numpy as np
import pytest

from numhlo.array_file import read_array
from numhlo.errors import ArgumentError
from tests.fuzz.files import arrays, read_outcome

HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}"


def npy(header, version=1, data=bytes(48)):
    encoded = (header + "\n").encode("latin1")
    return (
        b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(encoded)) + encoded + data
    )


ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(24, dtype=">i2").reshape(2, 3, 4)),
    np.array(True),
    np.zeros((0, 3), np.complex64),
    np.arange(3, dtype=ml_dtypes.bfloat16),
    np.zeros((1,) * 32, np.uint8),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_what_numpy_writes_is_read_as_numpy_reads_it(array, version, tmp_path):
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version)
    found, expected = read_array(str(path)), np.load(path)
    assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
    assert found.flags.f_contiguous == expected.flags.f_contiguous


MALFORMED = {
    "no magic": (b"x" * 100, "it does not begin as one"),
    "empty": (b"", "it does not begin as one"),
    "version": (npy(HEADER, 9), "its version is 9.0, not 1.0, 2.0 or 3.0"),
    "cut length": (npy(HEADER)[:9], "it ends within its header"),
    "cut header": (npy(HEADER)[:30], "it ends within its header"),
    "long header": (npy(HEADER + " " * 5000), "its header has 5058 bytes; plain numbers need at most 4096"),
    "header of 4 GiB": (b"\x93NUMPY\2\0" + b"\xff" * 40, "its header has 4294967295 bytes"),
    "unclosed": (npy(HEADER.removesuffix(")}")), "its header is not the three entries"),
    "code": (npy(HEADER.replace("(3, 2)", "__import__('os').abort()")), "its header is not the three entries"),
    "descr twice": (npy(HEADER.replace("}", ", 'descr': '<f4'}")), "its header says descr twice"),
    "fewer": (npy("{'descr': '<f8'}"), "its header is not the three entries"),
    "nested": (npy("[" * 2000 + "]" * 2000), "its header is not the three entries"),
    "commas": (npy(HEADER.replace("<f8", ",,,,")), "its elements are ',,,,', which are not numbers"),
    "objects": (npy(HEADER.replace("<f8", "|O")), "its elements are '|O', which are not numbers"),
    "order": (npy(HEADER.replace("False", "'no'")), "its elements are '<f8', which are not numbers"),
    "no such float": (npy(HEADER.replace("<f8", "<f7")), "its elements are <f7, which NumPy does not have"),
    "truth value": (npy(HEADER.replace("3,", "True,")), "its shape is not a tuple of integers"),
    "negative": (npy(HEADER.replace("3,", "-3,")), "its shape is not a tuple of integers"),
    "2**40 rows": (npy(HEADER.replace("3,", f"{2**40},")), "its shape [1099511627776, 2] takes 17592186044416 bytes"),
    "10**18 rows": (npy(HEADER.replace("3,", f"{10**18},")), "its shape is that of no array"),
    "empty and huge": (npy(HEADER.replace("3, 2", f"0, {2**62}, 4"), data=b""), "its shape is that of no array"),
    "65 dimensions": (npy(HEADER.replace("3, 2", "1, " * 65)), "its shape"),
    "cut": (npy(HEADER, data=bytes(40)), "its shape [3, 2] takes 48 bytes, and it holds 40"),
    "longer": (npy(HEADER, data=bytes(50)), "its shape [3, 2] takes 48 bytes, and it holds 50"),
    "pickle": (pickle.dumps([1, 2]), "it does not begin as one"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused(name, tmp_path):
    content, why = MALFORMED[name]
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with pytest.raises(ArgumentError) as caught:
        read_array(str(path))
    assert str(caught.value).startswith(f"{path} is no .npy file of numbers\n  {why}")


def test_mutants_are_read_as_numpy_reads_them_or_refused(tmp_path):
    outcomes = [read_outcome(content, tmp_path / "x.npy") for content in arrays(0, 800)]
    assert 0 < outcomes.count("read") < 100


def test_archives_are_told_apart(tmp_path):
    file = io.BytesIO()
    np.savez(file, a=np.zeros(2), b=np.zeros(2))
    for content in (file.getvalue(), file.getvalue()[:-3]):
        path = tmp_path / "x.npz"
        path.write_bytes(content)
        with pytest.raises(ArgumentError, match="holds several arrays"):
            read_array(str(path))
