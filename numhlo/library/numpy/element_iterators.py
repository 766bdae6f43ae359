"""Iterators over the elements of traced arrays: `numpy.nditer` and `numpy.ndenumerate`.

`Elements` goes through operands that lie in memory as the order of iteration says, so that no element is copied first;
it knows neither buffers nor axes of its own choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import (
    FUNCTIONS,
    ElementIterator,
    Tracer,
    contains_tracer,
    is_contiguous,
    shape_of,
    stands_for,
)

INDICES = frozenset({"multi_index", "c_index", "f_index"})
FLAGS = INDICES | {"refs_ok", "zerosize_ok", "reduce_ok", "external_loop", "buffered", "copy_if_overlap", "grow_inner"}
"""Flags that ask for what is so anyway, or what can be had."""


@stands_for(np.ndenumerate)
def ndenumerate(x: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the index and the value of every element."""
    if not isinstance(x, Tracer):
        return iter(np.ndenumerate(x))
    return ((index, x[index]) for index in np.ndindex(x.shape))  # type: ignore[index]


def _listed(op: Any) -> list[Any]:
    return list(op) if isinstance(op, list | tuple) else [op]


@stands_for(np.nditer)
class Elements(ElementIterator):
    """Arrays' elements as 0-d views, together: what `numpy.nditer` gives without choices of axes and dtypes."""

    def __new__(cls, op: Any, flags: Any = None, op_flags: Any = None, *options: Any, **named: Any) -> Any:
        """Return NumPy's own iterator where nothing is traced."""
        if not contains_tracer(_listed(op)):
            return np.nditer(op, flags, op_flags, *options, **named)
        return super().__new__(cls)

    def __init__(self, op: Any, flags: Any = None, op_flags: Any = None, *options: Any, **named: Any) -> None:
        self._flags: frozenset[str] = frozenset(flags or ())
        self._indices: Sequence[tuple[int, ...]] = ()
        self._started = False
        self.iterindex = 0
        order = named.pop("order", "K")
        if options or named or not self._flags <= FLAGS or order not in ("K", "C", "F"):
            _refuse("with options on axes, dtypes or buffers")
        arrays = [x if x is None or isinstance(x, Tracer) else FUNCTIONS[np.asarray](x) for x in _listed(op)]
        given = [x for x in arrays if x is not None]
        if order == "K" and not all(map(is_contiguous, given)):
            _refuse("in another order than the elements are written in")
        self.shape = np.broadcast_shapes(*map(shape_of, given))
        if op_flags and isinstance(op_flags[0], str):
            op_flags = [op_flags] * len(arrays)
        written = [any("write" in flag for flag in each) for each in op_flags or [()] * len(arrays)]
        self._writes = [wanted or x is None for wanted, x in zip(written, arrays, strict=True)]
        dtype = np.result_type(*[x.dtype for x in given])
        self.operands = tuple(FUNCTIONS[np.empty](self.shape, dtype) if x is None else x for x in arrays)
        self._check()
        self._set_places(order)

    def _check(self) -> None:
        for number, (x, writes) in enumerate(zip(self.operands, self._writes, strict=True)):
            if writes and x.shape != self.shape and "reduce_ok" not in self._flags:
                raise ValueError(
                    f"output operand {number} requires a reduction, but the reduction is not enabled (flag 'reduce_ok')"
                )
        if 0 in self.shape and "zerosize_ok" not in self._flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")

    def _set_places(self, order: str) -> None:
        """Find what is gone through: indices of elements, or of all at once where that is asked for."""
        if "external_loop" in self._flags:
            if order == "F" or self._flags & INDICES or any(x.shape != self.shape for x in self.operands):
                _refuse("in pieces of operands that are no whole arrays of one shape")
            self._indices = [()][: self.itersize]
        elif order == "F":
            self._indices = [index[::-1] for index in np.ndindex(self.shape[::-1])]
        else:
            self._indices = list(np.ndindex(self.shape))

    def __enter__(self) -> Elements:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was buffered."""

    def close(self) -> None:
        """Nothing was buffered."""

    def __iter__(self) -> Elements:
        return self

    def __next__(self) -> Any:
        if self._started and not self.finished:
            self.iternext()
        if self.finished:
            raise StopIteration
        self._started = True
        return self.value

    def __len__(self) -> int:
        return len(self.operands)

    def __getitem__(self, operand: int) -> Any:
        if not -len(self) <= operand < len(self):
            raise IndexError(f"Iterator operand index {operand} is out of bounds")
        if self.finished:
            raise ValueError("Iterator is past the end")
        x: Any = self.operands[operand]
        index = self._indices[self.iterindex]
        if "external_loop" in self._flags:
            return FUNCTIONS[np.reshape](x, (-1,))
        inner = index[len(index) - x.ndim :]
        view = x[(*[0 if n == 1 else k for k, n in zip(inner, x.shape, strict=True)], ...)]
        return view if self._writes[operand] else view[()]

    def __setitem__(self, operand: int, value: Any) -> None:
        if not self._writes[operand]:
            raise RuntimeError(f"Iterator operand {operand} is not writeable")
        self[operand][...] = value

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.nditer, name):
            _refuse(f"and its {name}")
        raise AttributeError(f"'nditer' object has no attribute {name!r}")

    @property
    def value(self) -> Any:
        """Return the present element of the one operand, or those of all."""
        found = tuple(self[k] for k in range(len(self)))
        return found if len(found) > 1 else found[0]

    @property
    def itersize(self) -> int:
        """Return the number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def multi_index(self) -> tuple[int, ...]:
        """Return the present elements' index."""
        if "multi_index" not in self._flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._indices[self.iterindex]

    @property
    def index(self) -> int:
        """Return the present elements' place in rows or in columns, one after the other."""
        for flag, order in (("c_index", "C"), ("f_index", "F")):
            if flag in self._flags:
                found = np.ravel_multi_index(self._indices[self.iterindex], self.shape, order=order)  # type: ignore[call-overload]
                return int(found)
        raise ValueError("Iterator does not have an index")

    @property
    def finished(self) -> bool:
        """Return whether all elements have been gone through."""
        return self.iterindex >= len(self._indices)

    def iternext(self) -> bool:
        """Go on; return whether there is an element."""
        self.iterindex += 1
        return not self.finished

    def reset(self) -> None:
        """Go back to the first element."""
        self.iterindex, self._started = 0, False


def _refuse(what: str) -> None:
    raise UnsupportedError(
        f"numpy.nditer {what}, while tracing",
        where=capture_location(),
        fix="use whole-array operations, numpy.ndindex, or numpy.ndenumerate",
    )
