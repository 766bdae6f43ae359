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

from numhlo.compat.jax.arrays import LIKE_ARRAYS
from numhlo.compat.jax.avals import ShapedArray, pytype_aval_mappings
from numhlo.compat.jax.dtypes import prng_key
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.tracer.trees.pytree_registration import register_pytree_node

IMPLEMENTATION = "threefry2x32"
WORDS = 2


class KeyDtype:
    """The dtype of keys."""

    type = prng_key
    name = "key<fry>"
    kind = "k"
    itemsize = 4 * WORDS

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyDtype)

    def __hash__(self) -> int:
        return hash(KeyDtype)

    def __repr__(self) -> str:
        return self.name


KEY_DTYPE = KeyDtype()


class KeyAval(ShapedArray):
    """The abstract value of an array of keys.

    Parameters
    ----------
    shape : tuple of int
    """

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape, np.uint32)
        self.dtype = KEY_DTYPE  # type: ignore[assignment]

    def update(self, **changes: Any) -> KeyAval:
        """Return the abstract value with another shape."""
        return KeyAval(tuple(changes.get("shape", self.shape)))


class KeyArray:
    """An array of keys.

    Parameters
    ----------
    words : Array of uint32, (..., 2)
        The words of each key.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> keys = jax.random.split(jax.random.key(0), 3)
    >>> keys.shape, keys.dtype, jax.random.key_data(keys).shape
    ((3,), key<fry>, (3, 2))
    """

    __slots__ = ("words",)
    __hash__ = None  # type: ignore[assignment] # as of other arrays
    dtype = KEY_DTYPE
    weak_type = False

    def __init__(self, words: Any) -> None:
        self.words = words

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array of keys."""
        return tuple(self.words.shape[:-1])

    @property
    def aval(self) -> KeyAval:
        """The abstract value."""
        return KeyAval(self.shape)

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
        return KeyArray(self.words[(*entries, *rest, slice(None))])

    def __eq__(self, other: object) -> Any:
        return self._compared(other, True)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, False)

    def _compared(self, other: object, equal: bool) -> Any:
        if not isinstance(other, KeyArray):
            raise TypeError(f"{'==' if equal else '!='} of keys and a {type(other).__name__}")
        same = (self.words == other.words).all(axis=-1)
        return same if equal else ~same

    def reshape(self, *shape: Any, order: str = "C") -> KeyArray:
        """Return the keys in another shape."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        if order != "C":
            raise ShapeError(f"reshape(order={order!r}) of keys", where=capture_location(), fix="use order='C'")
        extents = np.empty(self.shape, np.bool_).reshape(*wanted).shape
        return KeyArray(self.words.reshape(*extents, WORDS))

    def ravel(self) -> KeyArray:
        """Return the keys along one axis."""
        return self.reshape(-1)

    flatten = ravel

    def transpose(self, *axes: Any) -> KeyArray:
        """Return the keys with permuted axes."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(order or range(self.ndim)[::-1])
        return KeyArray(self.words.transpose(*[k % self.ndim for k in order], self.ndim))

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


register_pytree_node(KeyArray, lambda keys: ((keys.words,), None), lambda _, children: KeyArray(*children))
LIKE_ARRAYS.append(KeyArray)
pytype_aval_mappings[KeyArray] = lambda keys: keys.aval

MAKERS = frozenset({"clone", "fold_in", "split"})
"""Functions that give keys for keys."""


def of_typed_keys(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `jax.random` that takes keys of either kind."""
    if name in ("key", "wrap_key_data"):
        return functools.wraps(function)(lambda *args, **kwargs: KeyArray(function(*args, **kwargs)))

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], KeyArray):
            args = (args[0].words, *args[1:])
        elif isinstance(kwargs.get("key"), KeyArray):
            kwargs = {**kwargs, "key": kwargs["key"].words}
        else:
            return function(*args, **kwargs)
        found = function(*args, **kwargs)
        return KeyArray(found) if name in MAKERS else found

    return _folding(public) if name == "fold_in" else public


def _folding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``fold_in``, whose number has 32 bits without a sign."""

    @functools.wraps(function)
    def public(key: Any, data: Any) -> Any:
        return function(key, np.uint32(data) if type(data) is int else data)

    return public
