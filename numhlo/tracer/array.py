"""`Array`: NumPy's ndarray with `.at[]`, the Array API namespace and display; nothing else differs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class Array(np.ndarray):
    """A concrete array: mutable, slices are views, every library that takes ndarrays takes it."""

    __slots__ = ()

    @property
    def at(self) -> Any:
        """Return the array's functional updates: ``x.at[index].set(value)`` and its kin give a new array."""
        self.__array_namespace__()  # loading it puts the property that does it in this one's place
        return self.at

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `numhlo.numpy`, the namespace of functions for this array."""
        return sys.modules[__name__.partition(".")[0]].numpy  # the face loads it; this room can't import it

    def block_until_ready(self) -> Array:
        """Return the array: its value is there as soon as it is."""
        return self
