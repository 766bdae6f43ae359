"""Arrays of keys for random numbers whose dtype says that they are keys, as `jax.random.key` makes them.

Transformations see the words of the keys: to them an array of keys is a container of one array of uint32, with an axis
for the words at its end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numhlo.compat.jax import numpy
from numhlo.compat.jax.arrays import LIKE_ARRAYS
from numhlo.compat.jax.avals import ShapedArray, pytype_aval_mappings
from numhlo.compat.jax.dtypes import prng_key
from numhlo.compat.jax.moving_keys import JOIN, KEYS, moved
from numhlo.library.random.keys import splits_by_bits, words_of_keys
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.tracer.trees.pytree_registration import register_pytree_node

IMPLEMENTATION = "threefry2x32"
IMPLEMENTATIONS = {IMPLEMENTATION: ("fry", 2), "rbg": ("rbg", 4), "unsafe_rbg": ("urbg", 4)}
"""What keys of an implementation are called in their dtype, and of how many words they are."""


class KeyDtype:
    """The dtype of keys.

    Parameters
    ----------
    impl : str
        What makes numbers of them.
    """

    type = prng_key
    kind = "k"

    def __init__(self, impl: str) -> None:
        self.impl = impl
        short, self.words = IMPLEMENTATIONS[impl]
        self.name, self.itemsize = f"key<{short}>", 4 * self.words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyDtype) and self.impl == other.impl

    def __hash__(self) -> int:
        return hash(self.impl)

    def __repr__(self) -> str:
        return self.name


DTYPES = {impl: KeyDtype(impl) for impl in IMPLEMENTATIONS}


class KeyAval(ShapedArray):
    """The abstract value of an array of keys.

    Parameters
    ----------
    shape : tuple of int
    dtype : KeyDtype
    """

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: KeyDtype) -> None:
        super().__init__(shape, np.uint32)
        self.dtype = dtype

    def update(self, **changes: Any) -> KeyAval:
        """Return the abstract value with another shape."""
        return KeyAval(tuple(changes.get("shape", self.shape)), self.dtype)


class KeyArray:
    """An array of keys.

    Parameters
    ----------
    words : Array of uint32, (..., 2) or (..., 4)
        The words of each key.
    impl : str, optional
        What makes numbers of them.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> keys = jax.random.split(jax.random.key(0), 3)
    >>> keys.shape, keys.dtype, jax.random.key_data(keys).shape
    ((3,), key<fry>, (3, 2))
    """

    __slots__ = ("dtype", "words")
    __hash__ = None  # type: ignore[assignment] # as of other arrays
    weak_type = False

    def __init__(self, words: Any, impl: str = IMPLEMENTATION) -> None:
        self.words, self.dtype = words, DTYPES[impl]

    def like(self, words: Any) -> KeyArray:
        """Return keys of other words, which are used as these are."""
        return KeyArray(words, self.dtype.impl)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array of keys."""
        return tuple(self.words.shape[:-1])

    @property
    def aval(self) -> KeyAval:
        """The abstract value."""
        return KeyAval(self.shape, self.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of keys."""
        return math.prod(self.shape)

    @property
    def T(self) -> KeyArray:  # noqa: N802 - NumPy's name
        """The keys with their axes in reverse order."""
        return self.transpose()

    def __repr__(self) -> str:
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.words}"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[KeyArray]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> KeyArray:
        entries = index if isinstance(index, tuple) else (index,)
        taken = sum(x is not None and x is not Ellipsis for x in entries)
        if taken > self.ndim:
            raise IndexError(f"{taken} indices for an array of keys with {self.ndim} axes")
        rest = () if any(x is Ellipsis for x in entries) else (Ellipsis,)
        return self.like(self.words[(*entries, *rest, slice(None))])

    @property
    def at(self) -> KeyUpdates:
        """Functional updates: ``keys.at[index].set(others)`` gives new keys."""
        return KeyUpdates(self)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, True)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, False)

    def _compared(self, other: object, equal: bool) -> Any:
        if not isinstance(other, KeyArray) or other.dtype != self.dtype:
            raise TypeError(f"{'==' if equal else '!='} of keys and a {type(other).__name__}")
        same = (self.words == other.words).all(axis=-1)
        return same if equal else ~same

    def reshape(self, *shape: Any, order: str = "C") -> KeyArray:
        """Return the keys in another shape."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        if order != "C":
            raise ShapeError(f"reshape(order={order!r}) of keys", where=capture_location(), fix="use order='C'")
        extents = np.empty(self.shape, np.bool_).reshape(*wanted).shape
        return self.like(self.words.reshape(*extents, self.dtype.words))

    def ravel(self) -> KeyArray:
        """Return the keys along one axis."""
        return self.reshape(-1)

    flatten = ravel

    def transpose(self, *axes: Any) -> KeyArray:
        """Return the keys with permuted axes."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(order or range(self.ndim)[::-1])
        return self.like(self.words.transpose(*[k % self.ndim for k in order], self.ndim))

    def squeeze(self, axis: Any = None) -> KeyArray:
        """Return the keys without axes of extent 1."""
        return self.reshape(np.empty(self.shape, np.bool_).squeeze(axis).shape)

    def copy(self) -> KeyArray:
        """Return the keys; they never change."""
        return self

    def block_until_ready(self) -> KeyArray:
        """Return the keys, once they are computed."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise DTypeError(
            "conversion of keys to a NumPy array",
            where=capture_location(),
            why="JAX array with PRNGKey dtype cannot be converted to a NumPy array",
            fix="use jax.random.key_data(keys) for their words",
        )


class KeyUpdates:
    """Functional updates of an array of keys.

    Parameters
    ----------
    keys : KeyArray
    index : optional
        Which keys.
    """

    def __init__(self, keys: KeyArray, index: Any = ...) -> None:
        self._keys, self._index = keys, index

    def __getitem__(self, index: Any) -> KeyUpdates:
        return KeyUpdates(self._keys, index)

    def get(self, **options: Any) -> Any:
        """Return keys."""
        return self._moved(lambda places: numpy.asarray(places).at[self._index].get(**options))

    def set(self, values: Any, **options: Any) -> Any:
        """Return the array with other keys in their places."""
        return self._moved(lambda places, others: numpy.asarray(places).at[self._index].set(others, **options), values)

    def _moved(self, function: Callable[..., Any], *others: Any) -> Any:
        return moved("select", function, (self._keys, *others), {})


register_pytree_node(
    KeyArray, lambda keys: ((keys.words,), keys.dtype.impl), lambda impl, children: KeyArray(children[0], impl)
)
LIKE_ARRAYS.append(KeyArray)
KEYS.append(KeyArray)
JOIN.append(numpy.concatenate)
pytype_aval_mappings[KeyArray] = lambda keys: keys.aval

MAKERS = frozenset({"clone", "fold_in", "split"})
"""Functions that give keys for keys."""


def of_typed_keys(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `jax.random` that takes keys of either kind."""
    if name in ("PRNGKey", "key"):
        return _seeded(name, function)
    if name == "wrap_key_data":
        return _wrapped(function)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        keys = args[0] if args else kwargs.get("key")
        if not isinstance(keys, KeyArray):
            return function(*args, **kwargs)
        if args:
            args = (keys.words, *args[1:])
        else:
            kwargs = {**kwargs, "key": keys.words}
        if keys.dtype.words == 2:
            found = function(*args, **kwargs)
        else:
            with words_of_keys.bound(4), splits_by_bits.bound(keys.dtype.impl == "unsafe_rbg"):
                found = function(*args, **kwargs)
        return keys.like(found) if name in MAKERS else found

    return _folding(public) if name == "fold_in" else public


def _require_implementation(impl: str | None) -> str:
    wanted = IMPLEMENTATION if impl is None else str(impl)
    if wanted not in IMPLEMENTATIONS:
        raise ArgumentError(
            f'unrecognized PRNG implementation "{impl}"',
            where=capture_location(),
            fix=f"use one of {', '.join(map(repr, IMPLEMENTATIONS))}",
        )
    return wanted


def _seeded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a key of a seed: the words are those of threefry, twice where there are four."""

    @functools.wraps(function)
    def public(seed: Any, *, impl: str | None = None) -> Any:
        wanted = _require_implementation(impl)
        words = function(seed)
        if IMPLEMENTATIONS[wanted][1] == 4:
            words = numpy.concatenate([words, words])
        return KeyArray(words, wanted) if name == "key" else words

    return public


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(key_bits_array: Any, *, impl: str | None = None) -> KeyArray:
        wanted = _require_implementation(impl)
        if IMPLEMENTATIONS[wanted][1] == 2:
            return KeyArray(function(key_bits_array))
        words = numpy.asarray(key_bits_array)
        if words.dtype != np.uint32 or words.shape[-1:] != (4,):
            raise DTypeError(
                f"wrap_key_data: expected uint32 words with a last axis of 4, got {words.dtype.name} {words.shape}",
                where=capture_location(),
                fix="give the words that key_data gave",
            )
        return KeyArray(words, wanted)

    return public


def _folding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``fold_in``, whose number has 32 bits without a sign."""

    @functools.wraps(function)
    def public(key: Any, data: Any) -> Any:
        return function(key, np.uint32(data) if type(data) is int else data)

    return public
