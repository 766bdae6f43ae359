"""Keys: two uint32 words from which random numbers follow. New ones by `split` and `fold_in`, raw bits by `bits`.

A key is an ordinary array of shape ``(2,)``; an array of keys has one more axis for each of its own. Every function
draws from one key; `numhlo.vmap` maps it over many. Use a key once: two draws with one key are the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.linalg import rng_bit_generator
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, IntegerOverflowError, ShapeError, UnsupportedError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.threefry import make_random_bits, make_random_split, make_threefry2x32
from numhlo.tracer.building import (
    as_traced,
    asarray,
    bind1,
    concatenate_arrays,
    convert,
    expand,
    require_sizes,
    reshape_to,
    runs_anywhere,
    shape_of,
    usual_dtype,
)
from numhlo.tracer.building import operations as b

__all__ = ["PRNGKey", "bits", "fold_in", "key", "key_data", "split", "wrap_key_data"]

IMPLEMENTATIONS = (None, "threefry2x32")
U32 = np.dtype(np.uint32)
WORD = 0xFFFFFFFF


words_of_keys: ScopedValue[int] = ScopedValue(2)
"""Of how many words a key is: 4 where XLA's generator of bits draws from it, as JAX's typed keys may ask for."""

splits_by_bits: ScopedValue[bool] = ScopedValue(False)
"""Whether new keys of 4 words are bits that the generator draws, and not those of two keys of 2 words."""


def as_key(key: Any, name: str) -> Any:
    """Return a key as a traced array.

    Raises
    ------
    DTypeError, ShapeError
        If it is no key, or several.
    """
    array = asarray(getattr(key, "words", key))  # those of a typed key under JAX's names
    if array.dtype != U32:
        raise DTypeError(
            f"random.{name}: the key has dtype {array.dtype.name}",
            where=capture_location(),
            why="a key is two uint32 words",
            fix="make one with numhlo.random.key(seed)",
        )
    if shape_of(array) != (words_of_keys.get(),):
        raise ShapeError(
            f"random.{name}: the key has shape {shape_of(array)}",
            where=capture_location(),
            why="a function draws from one key, of shape (2,)",
            fix="use numhlo.vmap for several keys, or index one of them",
        )
    return array


def draw_bits(key: Any, shape: tuple[int, ...], width: int) -> Any:
    """Return an array of random unsigned integers of 8, 16, 32 or 64 bits."""
    result = TensorType(shape, np.dtype(f"u{width // 8}"))
    require_sizes([result], (), capture_location())
    if shape_of(key) == (4,):
        return rng_bit_generator(key, shape, result.dtype)[1]
    return bind1(COMPOSITE, key, attributes=make_random_bits(shape, width), results=[result])


def split_key(key: Any, shape: tuple[int, ...] = (2,)) -> Any:
    """Return an array of new keys."""
    result = TensorType((*shape, 2), U32)
    require_sizes([result], (), capture_location())
    if shape_of(key) == (4,):
        return _split_wide(as_traced(key), shape)
    return as_traced(bind1(COMPOSITE, key, attributes=make_random_split(shape), results=[result]))


def _split_wide(key: Any, shape: tuple[int, ...]) -> Any:
    """Return new keys of 4 words: those of both halves, or every tenth row of bits, as JAX has them."""
    if splits_by_bits.get():
        rows: Any = as_traced(rng_bit_generator(key, (10 * math.prod(shape), 4), U32)[1])
        return reshape_to(rows[::10], (*shape, 4))
    return concatenate_arrays([split_key(key[:2], shape), split_key(key[2:], shape)], len(shape))


def _fold_wide(key: Any, number: Any) -> Any:
    """Return the key of 4 words that follows: of both halves, or bits that the number draws."""
    if splits_by_bits.get():
        seed = concatenate_arrays([expand(b.constant(0, number), 0), expand(number, 0)] * 2, 0)
        rows: Any = as_traced(rng_bit_generator(seed, (10, 4), U32)[1])
        return key ^ rows[9]
    return concatenate_arrays([_fold(key[:2], number), _fold(key[2:], number)], 0)


def several_keys(key: Any, count: int) -> list[Any]:
    """Return new keys one by one."""
    keys = split_key(key, (count,))
    return [keys[k] for k in range(count)]


def _seed(seed: Any, impl: Any) -> Any:
    if impl not in IMPLEMENTATIONS:
        raise UnsupportedError(f"random keys of {impl!r}", where=capture_location(), fix='use "threefry2x32"')
    if type(seed) is int and not -(2**63) <= seed < 2**63:
        raise IntegerOverflowError(
            f"the seed {seed} has more than 64 bits",
            where=capture_location(),
            fix="take some of its bits, as in seed % 2**63, and add others by random.fold_in",
        )
    array = asarray(np.int64(seed) if type(seed) is int else seed)
    if array.dtype.kind not in "iu":
        raise DTypeError(f"PRNG key seed must be an integer; got {seed!r}", where=capture_location())
    if shape_of(array):
        raise TypeError(
            f"random.key takes one seed, but was given an array of shape {shape_of(array)}; use numhlo.vmap for several"
        )
    wide = array.dtype.itemsize == 8
    words = convert(asarray(array), np.uint64)
    low = convert(b.both(words, b.constant(WORD, words)), U32)
    high = convert(b.shift_right_logical(words, 32), U32) if wide else b.constant(0, low)
    return concatenate_arrays([expand(high, 0), expand(low, 0)], 0)


@runs_anywhere
def key(seed: Any, *, impl: str | None = None) -> Any:
    """Return the key of an integer seed: its high and its low 32 bits.

    Parameters
    ----------
    seed : int
    impl : {None, "threefry2x32"}, optional

    Returns
    -------
    (2,) uint32

    Examples
    --------
    >>> key(42)
    Array([ 0, 42], dtype=uint32)
    """
    return _seed(seed, impl)


@runs_anywhere
def PRNGKey(seed: Any, *, impl: str | None = None) -> Any:  # noqa: N802 - JAX's name
    """Return the key of an integer seed, as `key` does.

    Parameters
    ----------
    seed, impl : optional
        As those of `key`.

    Returns
    -------
    (2,) uint32

    Examples
    --------
    >>> PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    return _seed(seed, impl)


@runs_anywhere
def split(key: Any, num: int | Sequence[int] = 2) -> Any:
    """Return new keys.

    Parameters
    ----------
    key : (2,) uint32
    num : int or tuple of int, optional
        How many, or the shape of the array of keys.

    Returns
    -------
    (*num, 2) uint32

    Examples
    --------
    >>> split(key(0)).shape
    (2, 2)
    """
    return split_key(as_key(key, "split"), shape_tuple(num))


@runs_anywhere
def fold_in(key: Any, data: Any) -> Any:
    """Return the key that follows from another one and an integer of 32 bits, such as a loop's counter.

    Parameters
    ----------
    key : (2,) uint32
    data : int
        Its low 32 bits count; it may be traced.

    Returns
    -------
    (2,) uint32

    Raises
    ------
    TypeError
        If ``data`` has dimensions.

    Examples
    --------
    >>> fold_in(key(0), 3).dtype
    dtype('uint32')
    """
    own = as_key(key, "fold_in")
    number = asarray(data)
    if shape_of(number):
        raise TypeError(
            f"fold_in takes one number, but was given an array of shape {shape_of(number)}; use numhlo.vmap for several"
        )
    words: Any = as_traced(own)
    number = convert(as_traced(number), U32)
    return _fold_wide(words, number) if shape_of(words) == (4,) else _fold(words, number)


def _fold(words: Any, number: Any) -> Any:
    result = [TensorType((), np.dtype(np.uint64))]
    zero = b.constant(0, number)
    packed = bind1(COMPOSITE, words[0], words[1], zero, number, attributes=make_threefry2x32(()), results=result)
    parts = [convert(b.shift_right_logical(packed, 32), U32), convert(packed, U32)]
    return concatenate_arrays([expand(part, 0) for part in parts], 0)


@runs_anywhere
def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return random unsigned integers, all values equally likely.

    Parameters
    ----------
    key : (2,) uint32
    shape : tuple of int, optional
    dtype : dtype, optional
        uint64 by default.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If the dtype is no unsigned integer.

    Examples
    --------
    >>> bits(key(0), (2,), np.uint8).dtype
    dtype('uint8')
    """
    wanted = usual_dtype(np.uint64) if dtype is None else np.dtype(dtype)
    if wanted.kind != "u":
        raise ArgumentError(f"random.bits(dtype={wanted.name})", where=capture_location(), fix="use an unsigned dtype")
    return draw_bits(as_key(key, "bits"), shape_tuple(shape), 8 * wanted.itemsize)


@runs_anywhere
def key_data(keys: Any) -> Any:
    """Return the words of keys, which they are themselves.

    Parameters
    ----------
    keys : (..., 2) uint32

    Returns
    -------
    (..., 2) uint32

    Examples
    --------
    >>> key_data(key(7))
    Array([0, 7], dtype=uint32)
    """
    return asarray(keys)


@runs_anywhere
def wrap_key_data(key_bits_array: Any, *, impl: str | None = None) -> Any:
    """Return keys from their words.

    Parameters
    ----------
    key_bits_array : (..., 2) uint32
    impl : {None, "threefry2x32"}, optional

    Returns
    -------
    (..., 2) uint32

    Raises
    ------
    TypeError
        If the last axis does not hold two uint32 words.

    Examples
    --------
    >>> wrap_key_data(np.array([0, 7], np.uint32))
    Array([0, 7], dtype=uint32)
    """
    array = asarray(key_bits_array)
    if impl not in IMPLEMENTATIONS or array.dtype != U32 or shape_of(array)[-1:] != (2,):
        found = f"{array.dtype.name} {shape_of(array)}"
        raise TypeError(f"wrap_key_data: expected uint32 words with a last axis of 2, got {found}")
    return array
