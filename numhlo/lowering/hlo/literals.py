"""Constants: the elements of an array in braces, in the order of its dimensions; read and written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, INTEGERS
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS, INTERCHANGE_FLOATS, SIGN_MAGNITUDE_FLOATS

_COMMENT = re.compile(r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|//[^\n]*+")
_REAL = r"-?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|-?inf|-?nan(?:\(0x[0-9a-fA-F]{1,16}\))?"
_ELEMENT = re.compile(r"[^\s{},]++")
_COMPLEX = re.compile(r"\([^()]*+\)|[^\s{},()]++|[()]")
_NUMBER = re.compile(rf"(?:{_REAL})\Z", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,20}\Z", re.ASCII)
_PAYLOAD = re.compile(r"(-?)nan\(0x([0-9a-fA-F]{1,16})\)\Z", re.ASCII)
_PAIR = re.compile(r"\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)\Z", re.ASCII)
_IINFO: Any = ml_dtypes.iinfo
_FINFO: Any = ml_dtypes.finfo
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


MOST_DIMENSIONS = 64
"""Of an array of NumPy's."""


class LiteralError(ValueError):
    """Why a text is no constant of a type, in words."""


def parse_literal(text: str, type: TensorType) -> np.ndarray:
    """Return the array that a constant's text spells.

    Parameters
    ----------
    text : str
        What stands between the constant's parentheses.
    type : TensorType
        With known extents.

    Raises
    ------
    LiteralError
        If it is none of that type.

    Examples
    --------
    >>> parse_literal("{ { 1, 2 }, { 3, 4 } }", TensorType((2, 2), np.dtype("int8")))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    if "/" in text:
        text = _COMMENT.sub(" ", text)
    if "..." in text:
        raise LiteralError(
            "this constant's elements are left out as {...}: print the module with large constants, "
            "by print_large_constants=True of as_hlo_text or of HloPrintOptions, "
            "or XLA_FLAGS=--xla_dump_large_constants for dumps"
        )
    if type.ndim > MOST_DIMENSIONS:
        raise LiteralError(f"a constant of {type.ndim} dimensions: NumPy has arrays of up to {MOST_DIMENSIONS}")
    pattern = _COMPLEX if type.dtype in COMPLEX else _ELEMENT
    elements = pattern.findall(text)
    if len(elements) != type.size:
        raise LiteralError(f"{len(elements)} elements, and the type has {type.size}")
    if not _has_braces(pattern.sub("e", text), type.shape):
        raise LiteralError(f"the braces are not those of an array of shape {list(type.shape)}")
    flat = _convert(type.dtype)(elements)
    try:
        return flat.reshape(type.shape)
    except ValueError:  # without elements extents have no bound but this
        raise LiteralError(f"an array of shape {list(type.shape)} is too large") from None


def _has_braces(skeleton: str, shape: Sequence[int]) -> bool:
    """Return whether a text in which each element is an ``e`` nests as arrays of a shape do."""
    skeleton = "".join(skeleton.split())
    if 0 in shape:
        return skeleton.strip("{},") == "" and skeleton.count("{") == skeleton.count("}")
    expected = "e"
    for extent in reversed(shape):
        expected = f"{{{','.join([expected] * extent)}}}"
    return skeleton == expected


def _convert(dtype: np.dtype) -> Callable[[Sequence[str]], np.ndarray]:
    if dtype == BOOL:
        return _booleans
    kind = _integers if dtype in INTEGERS else _complexes if dtype in COMPLEX else _floats
    return lambda elements: kind(elements, dtype)


def _booleans(elements: Sequence[str]) -> np.ndarray:
    wrong = next((e for e in elements if e not in _BOOLEANS), None)
    if wrong is not None:
        raise LiteralError(f"{wrong[:40]} is neither true, false, 1 nor 0")
    return np.array([_BOOLEANS[e] for e in elements], bool)


def _integers(elements: Sequence[str], dtype: np.dtype) -> np.ndarray:
    limits: Any = _IINFO(dtype)
    low, high = int(limits.min), int(limits.max)
    wrong = next((e for e in elements if not _INTEGER.match(e)), None)
    if wrong is not None:
        raise LiteralError(f"{wrong[:40]} is no integer")
    values = list(map(int, elements))
    outside = next((v for v in values if not low <= v <= high), None)
    if outside is not None:
        raise LiteralError(f"{outside} is outside of the type's range, {low} to {high}")
    return np.array(values, np.uint64 if low == 0 else np.int64).astype(dtype)


def _floats(elements: Sequence[str], dtype: np.dtype) -> np.ndarray:
    wrong = next((e for e in elements if not _NUMBER.match(e)), None)
    if wrong is not None:
        raise LiteralError(f"{wrong[:40]} is no number")
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        wide = np.array([float("nan") if "n(" in e else float(e) for e in elements], np.float64)
        values = wide.astype(dtype)
    finite = np.array([e[-1] not in "fn)" for e in elements], bool)
    if np.any(finite & ~np.isfinite(values.astype(np.float64))):
        k = int(np.argmax(finite & ~np.isfinite(values.astype(np.float64))))
        raise LiteralError(f"{elements[k][:40]} is outside of the type's range")
    for k, element in enumerate(elements):
        if "n(" in element:
            values[k] = _nan(element, dtype)
    return values


def _nan(text: str, dtype: np.dtype) -> np.ndarray:
    """Return the NaN whose mantissa has the bits of ``nan(0x123)``."""
    match = _PAYLOAD.match(text)
    assert match is not None
    width, mantissa = BIT_WIDTHS[dtype], int(_FINFO(dtype).nmant)
    payload = int(match[2], 16)
    if dtype not in INTERCHANGE_FLOATS:
        raise LiteralError(f"{text}: NaNs of this type have no payload")
    if not 0 < payload < 1 << mantissa:
        raise LiteralError(f"{text} needs a payload from 1 to {(1 << mantissa) - 1:#x}")
    exponent = ((1 << (width - 1)) - 1) >> mantissa << mantissa
    bits = exponent | payload | ((1 << (width - 1)) if match[1] else 0)
    return np.array(bits, f"u{dtype.itemsize}").view(dtype)


def _complexes(elements: Sequence[str], dtype: np.dtype) -> np.ndarray:
    pairs = [_PAIR.match(e) for e in elements]
    part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
    real: list[str] = []
    imaginary: list[str] = []
    for element, pair in zip(elements, pairs, strict=True):
        real.append(element if pair is None else pair[1])
        imaginary.append("0" if pair is None else pair[2])
    array = np.empty(len(elements), dtype)
    array.real, array.imag = _floats(real, part), _floats(imaginary, part)
    return array


# -- writing

MOST_SHORTEST = 1 << 10
"""Floats of a constant up to which each is written as short as it can be, which takes 5 µs; more take as many digits as
their type needs."""


def print_literal(array: np.ndarray) -> str:
    """Return the text of a constant's elements.

    Examples
    --------
    >>> print_literal(np.array([[1.5, -0.0], [np.inf, np.nan]], np.float32))
    '{{1.5,-0.0},{inf,nan}}'
    """
    texts: Sequence[str] = _spell(array)
    if array.size == 0:
        return _empty(array.shape)
    for extent in reversed(array.shape):
        texts = [f"{{{','.join(texts[k : k + extent])}}}" for k in range(0, len(texts), extent)]
    return texts[0]


def _empty(shape: Sequence[int]) -> str:
    """Return the braces of an array without elements, as far as there are any of its dimensions' elements."""
    text = "{}"
    for extent in reversed(shape[: list(shape).index(0)]):
        text = f"{{{','.join([text] * extent)}}}"
    return text


def _spell(array: np.ndarray) -> list[str]:
    dtype, flat = array.dtype, array.reshape(-1)
    if dtype == BOOL:
        return ["true" if x else "false" for x in flat.tolist()] if array.ndim == 0 else [f"{int(x)}" for x in flat]
    if dtype in INTEGERS:
        return [str(int(x)) for x in flat]
    if dtype in COMPLEX:
        parts = zip(_spell(np.ascontiguousarray(flat.real)), _spell(np.ascontiguousarray(flat.imag)), strict=True)
        return [f"({real},{imaginary})" for real, imaginary in parts]
    if flat.size <= MOST_SHORTEST:
        return [_spell_float(x, dtype) for x in flat]
    plain = ".9g" if dtype == np.float32 else ".17g"
    with np.errstate(invalid="ignore"):
        texts = [format(x, plain) for x in flat.astype(np.float64).tolist()]
    for k in np.flatnonzero(~np.isfinite(flat) | (np.signbit(flat) & (flat == 0))):
        texts[k] = _spell_float(flat[k], dtype)
    return texts


def _spell_float(x: np.generic, dtype: np.dtype) -> str:
    if np.isnan(x):
        return _spell_nan(x, dtype)
    value = float(x)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "-0.0" if np.signbit(value) else "0"
    if dtype in (np.dtype(np.float64), np.dtype(np.float32)):
        return str(x)
    return repr(value)


def _spell_nan(x: np.generic, dtype: np.dtype) -> str:
    if dtype not in SIGN_MAGNITUDE_FLOATS:
        return "nan"
    width, mantissa = BIT_WIDTHS[dtype], int(_FINFO(dtype).nmant)
    bits = int(np.asarray(x).view(f"u{dtype.itemsize}"))
    sign = "-" if bits >> (width - 1) else ""
    payload = bits & ((1 << mantissa) - 1)
    usual = {0, 1 << (mantissa - 1)}
    return f"{sign}nan" if dtype not in INTERCHANGE_FLOATS or payload in usual else f"{sign}nan({payload:#x})"
