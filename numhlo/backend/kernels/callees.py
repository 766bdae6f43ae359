"""What the callees of kernels do with the pointers that they are given: which they read, which they write.

By the primitives' classes, and by the documentation of BLAS's and LAPACK's subroutines. A callee that gets a pointer
and is not known here is an error, so that no new one goes unseen. Next: `effects` of statements, and
`numhlo.backend.plan_checking.effects` of kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from numhlo.backend.kernels import ir
from numhlo.backend.primitives.arithmetic import select
from numhlo.backend.primitives.atomic import (
    atomic_add,
    atomic_compare_exchange,
    atomic_exchange,
    load_acquire,
    store_release,
)
from numhlo.backend.primitives.fourier import Butterfly
from numhlo.backend.primitives.lanes import Lanes, ProductColumns, ProductLanes
from numhlo.backend.primitives.memory import (
    Load,
    Store,
    StoreRounded,
    address,
    advance,
    integer_address,
    number,
    prefetch,
    prefetch_near,
)
from numhlo.backend.primitives.native import MatrixProduct
from numhlo.backend.primitives.products import ProductTile
from numhlo.backend.primitives.running import Running
from numhlo.backend.primitives.search import FirstExtreme
from numhlo.backend.primitives.streaming import PastLine, Stream
from numhlo.backend.primitives.transposing import TransposeTile


class Access(NamedTuple):
    """Which of a callee's operands it reads through, and which it writes through, by position."""

    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()


BY_CLASS: dict[type, tuple[str, str]] = {
    Load: ("pointer", ""),
    Store: ("", "pointer"),
    StoreRounded: ("", "pointer"),
    Lanes: ("pointer", ""),
    ProductLanes: ("left right", ""),
    ProductColumns: ("left right", "out"),
    MatrixProduct: ("a b", "c"),
    ProductTile: ("tile left right places", "tile"),
    TransposeTile: ("source", "tile"),
    Stream: ("source", "target"),
    FirstExtreme: ("pointer", ""),
    Running: ("pointer", "pointer"),
    Butterfly: ("source roots", "target"),
}
"""Parameters that are read through and that are written through."""

BY_CALLEE: dict[Any, tuple[str, str]] = {
    atomic_add: ("pointer", "pointer"),
    atomic_exchange: ("pointer", "pointer"),
    atomic_compare_exchange: ("pointer", "pointer"),
    load_acquire: ("pointer", ""),
    store_release: ("", "pointer"),
}

LOOKS_AT_NOTHING = frozenset({advance, integer_address, select, prefetch, prefetch_near, number, address})
"""Primitives that look at no memory of the pointers that they are given; so do those of `PastLine`."""

SUBROUTINES: dict[str, tuple[str, str]] = {
    "gemm": ("6 8 11", "11"),
    "gemv": ("4 6 9", "9"),
    "symm": ("5 7 10", "10"),
    "hemm": ("5 7 10", "10"),
    "syrk": ("5 8", "8"),
    "herk": ("5 8", "8"),
    "trsm": ("7 9", "9"),
    "trmm": ("7 9", "9"),
    "trtrs": ("5 7", "7 9"),
    "getrs": ("3 5 6", "6 8"),
    "potrs": ("3 5", "5 7"),
    "ormqr": ("5 7 8", "8 10 11 12"),
    "unmqr": ("5 7 8", "8 10 11 12"),
    "orgqr": ("3 5", "3 6 8"),
    "ungqr": ("3 5", "3 6 8"),
}
"""Arrays that subroutines of BLAS and LAPACK read, and that they write, by the position of the argument after the
address. Of any other one all arrays count as read and written."""


FACTOR = 11
"""Of a matrix product: the operand that is the factor of what was in the array that it writes."""


@cache
def access_of(callee: Any) -> Access | None:
    """Return what a primitive does with its operands; None if it looks at no memory.

    A matrix product may read what it writes, too: that depends on a factor (`reads_result`).
    """
    names = BY_CLASS.get(type(callee)) or BY_CALLEE.get(callee)
    if names is None:
        return None
    parameters = list(inspect.signature(callee).parameters)
    reads, writes = (tuple(parameters.index(name) for name in each.split()) for each in names)
    return Access(reads, writes)


def reads_result(call: ir.Call) -> bool:
    """Return whether a call is a matrix product that reads the array which it writes."""
    return isinstance(call.callee, MatrixProduct) and not _is_zero(call.operands[FACTOR])


def _is_zero(node: ir.Expression) -> bool:
    """Return whether a number is made of nothing but zeros, perhaps converted."""
    operands = ir.operands_of(node)
    return all(map(_is_zero, operands)) if operands else isinstance(node, ir.Constant) and node.value == 0


def looks_at_nothing(callee: Any) -> bool:
    """Return whether a callee may be given pointers without looking at memory."""
    return isinstance(callee, PastLine) or callee in LOOKS_AT_NOTHING


def subroutine_access(address: ir.Expression, pointers: Sequence[int]) -> Access:
    """Return what a call of BLAS or LAPACK does with its operands.

    Parameters
    ----------
    address : Expression
        The variable that holds the subroutine's address, which is called after it.
    pointers : sequence of int
        The positions of the operands that are pointers.
    """
    name = address.variable.name.rsplit("_at", 1)[0] if isinstance(address, ir.Read) else ""
    known = SUBROUTINES.get(name)
    if known is None:
        return Access(tuple(pointers), tuple(pointers))
    reads, writes = (tuple(int(place) + 1 for place in each.split()) for each in known)
    return Access(reads, writes)
