"""Reading the elements of dense constants: splats, nested lists and hexadecimal blobs.

Works on the text between ``dense<`` and ``>`` alone; a `DenseError` says where in it something is wrong. Blobs go from
digits to an array in two steps that both run at memory speed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, UNSIGNED
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.text.dense_printer import SMALL_INTEGER_MASK

_PIECE = re.compile(r"(?:\s++|//[^\n]*+)*+(\([^()]*+\)|[\[\],]|[^\s\[\](),]++|.|\Z)", re.DOTALL)
_FLOAT = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\Z", re.ASCII)
_BITS = re.compile(r"0x([0-9A-Fa-f]{1,16})\Z", re.ASCII)
_INTEGER = re.compile(r"[-+]?(?:0x[0-9A-Fa-f]{1,16}|\d{1,20})\Z", re.ASCII)
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "0x1": True, "0x0": False}
LARGEST_FILLED = 4096
"""Splats of more elements are broadcast views, which take no memory."""


class DenseError(Exception):
    """What is wrong with a literal, and at which of its characters."""

    def __init__(self, what: str, offset: int = 0) -> None:
        super().__init__(what)
        self.what, self.offset = what, offset


def parse_dense_body(body: str, type: TensorType, *, strict: bool = False) -> np.ndarray:
    """Return the array that a literal spells; it can't be written to.

    Raises
    ------
    DenseError
        If the literal does not fit the type. Only with ``strict``: a decimal float beyond the largest of its type,
        which becomes infinite otherwise, and bits of a float that are not all written.

    Examples
    --------
    >>> parse_dense_body("[1, 2]", TensorType((2,), np.dtype("int32")))
    array([1, 2], dtype=int32)
    """
    texts = _split(body, type)
    if type.size == 0:
        return _frozen(np.empty(0, type.dtype), type.shape)
    elements = _parse_elements(texts, type.dtype)
    if strict and type.dtype in FLOATS | COMPLEX:
        _require_in_range(texts, elements)
    return _frozen(elements, type.shape) if len(texts) == type.size else _fill(elements, type.shape)


def _fill(element: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the one element repeated over ``shape``."""
    try:
        array = np.broadcast_to(element.reshape(()), shape)
    except ValueError as error:
        raise DenseError(f"a constant of shape {shape} is too large for NumPy") from error
    if array.size <= LARGEST_FILLED:
        array = array.copy()
        array.flags.writeable = False
    return array


def _split(body: str, type: TensorType) -> list[str]:
    """Return the texts of all elements, or of the one that stands for all; check that brackets follow the shape."""
    pieces = _PIECE.findall(body)
    skeleton = "".join([piece if piece in "[]," else "e" for piece in pieces])
    texts = [piece for piece in pieces if piece and piece not in "[],"]
    if skeleton == "e" or (skeleton == "" and type.size == 0):
        return texts
    expected = _skeleton(type.shape, len(body))
    if skeleton != expected:
        wrong = next((k for k, (a, b) in enumerate(zip(skeleton, expected, strict=False)) if a != b), len(pieces) - 1)
        offsets = [match.start(1) for match in _PIECE.finditer(body)]
        raise DenseError(f"expected one element, or a list nested as in shape {list(type.shape)}", offsets[wrong])
    return texts


def _skeleton(shape: tuple[int, ...], longest: int) -> str:
    """Return the brackets and commas of a list of ``shape``, ``e`` for an element; as far as that is not too long."""
    text = "e"
    for extent in reversed(shape):
        text = f"[{','.join([text] * min(extent, longest // len(text) + 2))}]"[: longest + 1]
    return text


def _parse_elements(texts: Sequence[str], dtype: np.dtype) -> np.ndarray:
    if dtype == BOOL:
        return np.array([_look_up(text) for text in texts], dtype)
    if dtype in INTEGERS:
        return _parse_integers(texts, dtype)
    if dtype in COMPLEX:
        return _parse_complex(texts, dtype)
    return _parse_floats(texts, dtype)


def _require_in_range(texts: Sequence[str], elements: np.ndarray) -> None:
    """Raise unless floats are in the range of their type, and those that are given as bits have all their digits."""
    dtype = elements.dtype
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype in COMPLEX else dtype
    parts = [side.strip("() ") for text in texts for side in text.split(",")]
    for text, value in zip(parts, elements.view(part).astype(np.float64), strict=True):
        if "x" in text and len(text) - 2 != math.ceil(BIT_WIDTHS[part] / 4):
            raise DenseError(f"expected {math.ceil(BIT_WIDTHS[part] / 4)} hexadecimal digits, found {text[:40]}")
        if "x" not in text and not (math.isfinite(value) and math.isfinite(float(text))):
            raise DenseError(f"an element is out of the range of {part.name}")


def _look_up(text: str) -> bool:
    try:
        return _BOOLEANS[text]
    except KeyError:
        raise DenseError(f"expected true or false, found {text[:40]}") from None


def _parse_integers(texts: Sequence[str], dtype: np.dtype) -> np.ndarray:
    for text in texts:
        if not _INTEGER.match(text):
            raise DenseError(f"expected an integer, found {text[:40]}")
    values = [int(text, 16) if "x" in text else int(text) for text in texts]
    bits = SMALL_INTEGER_MASK[dtype].bit_count() if dtype in SMALL_INTEGER_MASK else 8 * dtype.itemsize
    low = 0 if dtype in UNSIGNED else -(1 << (bits - 1))
    if min(values) < low or max(values) >= 1 << bits:
        raise DenseError(f"an element is out of the range of {dtype.name}")
    wrapped = np.array([value & (2**64 - 1) for value in values], np.uint64)
    if dtype not in UNSIGNED:
        # move the sign bit to the top and back down, so that the upper half of the unsigned range turns negative
        shift = np.uint64(64 - bits)
        return ((wrapped << shift).view(np.int64) >> shift.astype(np.int64)).astype(dtype)
    return wrapped.astype(dtype)


def _parse_floats(texts: Sequence[str], dtype: np.dtype) -> np.ndarray:
    if not any("x" in text for text in texts):
        values = [parse_decimal(text) for text in texts]
        with np.errstate(over="ignore"):
            return np.array(values, np.float64).astype(dtype)
    return np.concatenate([_parse_bits(t, dtype) if "x" in t else _parse_floats([t], dtype) for t in texts])


def parse_decimal(text: str) -> float:
    """Return a decimal float; MLIR asks for the point, StableHLO's grammar does not."""
    if not _FLOAT.match(text):
        raise DenseError(f"expected a float, found {text[:40]}")
    return float(text)


def _parse_bits(text: str, dtype: np.dtype) -> np.ndarray:
    match = _BITS.match(text)
    if match is None or int(match[1], 16) >> BIT_WIDTHS[dtype]:
        raise DenseError(f"expected the bits of one {dtype.name}, found {text[:40]}")
    return np.array([int(match[1], 16)], f"u{dtype.itemsize}").view(dtype)


def _parse_complex(texts: Sequence[str], dtype: np.dtype) -> np.ndarray:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    parts: list[str] = []
    for text in texts:
        pair = [side.strip() for side in text[1:-1].split(",")]
        if text[0] != "(" or len(pair) != 2:
            raise DenseError(f"expected a pair (real, imaginary), found {text[:40]}")
        parts += pair
    return _parse_floats(parts, part).view(dtype)


def parse_blob(digits: str, type: TensorType) -> np.ndarray:
    """Return the array whose bytes are given as hexadecimal digits; it can't be written to.

    Raises
    ------
    DenseError
        If the digits do not fit the type.

    Notes
    -----
    Until early 2026 MLIR packed booleans eight to a byte; the number of bytes tells.

    Examples
    --------
    >>> parse_blob("0000803F00000040", TensorType((2,), np.dtype("float32")))
    array([1., 2.], dtype=float32)
    """
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise DenseError("expected pairs of hexadecimal digits after 0x") from None
    return array_of_bytes(data, type)


def array_of_bytes(data: bytes | memoryview, type: TensorType) -> np.ndarray:
    """Return the array that bytes hold, row-major and little-endian; it can't be written to.

    It is a view of the bytes where these are aligned as its elements must be.

    Raises
    ------
    DenseError
        If there are more or fewer bytes than the type takes, and more or fewer than one element does.

    Examples
    --------
    >>> array_of_bytes(bytes([1, 0, 2, 0]), TensorType((2,), np.dtype("int16")))
    array([1, 2], dtype=int16)
    """
    dtype, size = type.dtype, type.size
    if dtype == BOOL and len(data) != size and len(data) == math.ceil(size / 8) and not _is_splat_byte(data):
        packed = np.frombuffer(data, np.uint8)
        return _frozen(np.unpackbits(packed, count=size, bitorder="little").astype(BOOL), type.shape)
    if len(data) != size * dtype.itemsize and len(data) != dtype.itemsize:
        raise DenseError(f"{len(data)} bytes where {type} takes {size * dtype.itemsize}")
    raw = np.frombuffer(data, np.uint8)
    convert = _FROM_BYTES.get(dtype)
    if convert is not None:
        flat = convert(raw)
    else:
        flat = np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)
        flat = flat if flat.flags.aligned else flat.copy()
    if flat.size == 1 and size != 1:
        return _fill(flat, type.shape)
    return _frozen(flat, type.shape)


def _is_splat_byte(data: bytes | memoryview) -> bool:
    return bytes(data[:2]) in {b"\x00", b"\x01", b"\xff"}


def _frozen(flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    flat.flags.writeable = False
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise DenseError(f"NumPy has no arrays of shape {list(shape)}") from error


def _sign_extend(dtype: np.dtype, bits: int) -> Callable[[np.ndarray], np.ndarray]:
    shift = 8 - bits
    return lambda raw: ((raw << shift).view(np.int8) >> shift).astype(dtype)


def _keep_bits(dtype: np.dtype, mask: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda raw: (raw & np.uint8(mask)).astype(dtype)


_FROM_BYTES: dict[np.dtype, Callable[[np.ndarray], np.ndarray]] = {
    BOOL: lambda raw: raw != 0,
    **{
        dtype: _keep_bits(dtype, mask) if dtype in UNSIGNED else _sign_extend(dtype, mask.bit_count())
        for dtype, mask in SMALL_INTEGER_MASK.items()
    },
}
"""How blobs hold the types whose elements are less than a byte: one byte each, the low bits count."""
