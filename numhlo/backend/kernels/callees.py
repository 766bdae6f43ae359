"""What the words of kernel source do with the pointers that they are given: which they read, which they write.

By the classes of `numhlo.backend.primitives`, and by the documentation of BLAS's and LAPACK's subroutines. A word that
gets a pointer and is not known here is an error, so that no new word goes unseen. Next: `effects` of statements, and
`numhlo.backend.plan_checking.effects` of kernels' text.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from numhlo.backend import primitives, vector_math
from numhlo.backend.primitives.fourier import Butterfly
from numhlo.backend.primitives.lanes import Lanes, ProductColumns, ProductLanes
from numhlo.backend.primitives.memory import Load, Store, StoreRounded
from numhlo.backend.primitives.native import MatrixProduct
from numhlo.backend.primitives.products import ProductTile
from numhlo.backend.primitives.running import Running
from numhlo.backend.primitives.search import FirstExtreme
from numhlo.backend.primitives.streaming import Stream
from numhlo.backend.primitives.transposing import TransposeTile
from numhlo.lowering.ir.errors import InternalError


class Access(NamedTuple):
    """Which of a word's arguments it reads through, and which it writes through, by position."""

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

BY_NAME: dict[str, tuple[str, str]] = {
    "atomic_add": ("pointer", "pointer"),
    "atomic_exchange": ("pointer", "pointer"),
    "atomic_compare_exchange": ("pointer", "pointer"),
    "load_acquire": ("pointer", ""),
    "store_release": ("", "pointer"),
}

PASSED_ON = re.compile(r"advance|integer_address|select|prefetch|prefetch_near|past_line_\w+|number|address")
"""Words that look at no memory of the pointers that they are given."""

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


ADDED_TO, FACTOR = 12, 11
"""Of a matrix product: the array that it may add to, and the factor of what was in it."""


@cache
def access_of(word: str) -> Access | None:
    """Return what a primitive does with its arguments; None if it looks at no memory.

    A matrix product may read what it writes, too: that depends on a factor (`reads_result`).

    Raises
    ------
    InternalError
        If the word is no primitive.
    """
    found: Any = getattr(primitives, word, None)
    if found is None:
        if word in ("range", "min", "max") or hasattr(vector_math, word):
            return None
        raise InternalError(f"a kernel calls {word}, which is no primitive", fix="teach kernels.callees the word")
    names = BY_NAME.get(word) or BY_CLASS.get(type(found))
    if names is None:
        return None
    parameters = list(inspect.signature(found).parameters)
    reads, writes = (tuple(parameters.index(name) for name in each.split()) for each in names)
    return Access(reads, writes)


def reads_result(call: ast.Call, word: str) -> bool:
    """Return whether a call is a matrix product that reads the array which it writes."""
    if not isinstance(getattr(primitives, word, None), MatrixProduct):
        return False
    parts = [node for node in ast.walk(call.args[FACTOR]) if isinstance(node, ast.Constant)]
    return not parts or any(part.value != 0 for part in parts)


def passes_on(word: str) -> bool:
    """Return whether a word that looks at no memory may be given pointers."""
    return PASSED_ON.fullmatch(word) is not None


def subroutine_access(address: str, pointers: Sequence[int]) -> Access:
    """Return what a call of BLAS or LAPACK does with its arguments.

    Parameters
    ----------
    address : str
        The variable that holds the subroutine's address, which is called after it.
    pointers : sequence of int
        The positions of the arguments that are pointers.
    """
    name = re.sub(r"_at\d*$", "", address)
    known = SUBROUTINES.get(name)
    if known is None:
        return Access(tuple(pointers), tuple(pointers))
    reads, writes = (tuple(int(place) + 1 for place in each.split()) for each in known)
    return Access(reads, writes)
