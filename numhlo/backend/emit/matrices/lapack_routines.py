"""LAPACK's factorizations as data: the arguments of each subroutine, and which of its arrays are operands or results.

A routine is spelled as its documentation does, one word an argument: a size, an array (``dl+`` is one from its second
element on), ``@`` and an option's name for a letter, ``#`` and one for a number, ``work`` and its kin for memory that
is its own, ``lwork`` for the length of such, ``info``, and ``0`` for what is not looked at. Next: `factorizations`
writes kernels from this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from numhlo.lowering.ir.records import record

OWN, REAL, INTEGER = "own", "real", "integer"
"""Types of arrays: that of the matrix, the real one of the same precision, int32."""


@record(frozen=True)
class Routine:
    """One subroutine, for real or for complex matrices.

    Attributes
    ----------
    name : str
        Without the type's letter.
    arguments : str
    arrays : mapping from str to (str, str)
        Type and extents of each array that is an operand or a result.
    operands : tuple of str
    results : tuple of str
        In the order that custom calls have; ``0`` for what is left undefined, which is zero.
    memory : mapping from str to callable
        Lengths, from sizes by name, of work arrays about which the subroutine can't be asked.
    switches : mapping from str to str
        The two letters of options that are yes or no: that of no, that of yes.
    """

    name: str
    arguments: str
    arrays: Mapping[str, tuple[str, str]]
    operands: tuple[str, ...]
    results: tuple[str, ...]
    memory: Mapping[str, Callable[[Mapping[str, int]], int]] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)


def _matrix(rows: str = "n", columns: str = "n") -> tuple[str, str]:
    return OWN, f"{rows} {columns}"


def _singular_memory(size: Mapping[str, int]) -> int:
    m, n, k = (size[word] for word in "mnk")
    return max(7 * k, 5 * k * k + 5 * k, 2 * max(m, n) * k + 2 * k * k + k)


A = {"a": _matrix("m", "n")}
S = {"a": _matrix()}
QR = {**A, "tau": (OWN, "k")}
SVD = {**A, "s": (REAL, "k"), "u": _matrix("m", "left"), "vt": _matrix("right", "n")}
VALUES = {"wr": (OWN, "n"), "wi": (OWN, "n")}
SVD_RESULTS = ("0", "s", "u", "vt", "info")
REFLECTED = {"a": _matrix("rows", "columns"), "tau": (OWN, "k"), "c": _matrix("m", "n")}
PIVOTED = {**QR, "jpvt": (INTEGER, "n")}
HESSENBERG = {**S, "tau": (OWN, "less")}
TRIDIAGONAL = {**S, "d": (REAL, "n"), "e": (REAL, "less"), "tau": (OWN, "less")}
SYSTEM = {"dl": (OWN, "n"), "d": (OWN, "n"), "du": (OWN, "n"), "b": _matrix("n", "columns")}


def _reflecting(name: str, turned: str) -> Routine:
    arguments = "@left @transpose m n k a rows tau c m work lwork info"
    switches = {"left": "RL", "transpose": f"N{turned}"}
    return Routine(name, arguments, REFLECTED, ("a", "tau", "c"), ("c",), switches=switches)


def _tridiagonal(name: str) -> Routine:
    results = ("a", "d", "e", "tau", "info")
    return Routine(name, "@uplo n a n d e tau work lwork info", TRIDIAGONAL, ("a",), results)


SHARED_ROUTINES = [
    Routine("getrf", "m n a m ipiv info", {**A, "ipiv": (INTEGER, "k")}, ("a",), ("a", "ipiv", "info")),
    Routine("potrf", "@uplo n a n info", S, ("a",), ("a", "info")),
    Routine("geqrf", "m n a m tau work lwork info", QR, ("a",), ("a", "tau")),
    Routine("gehrd", "n #low #high a n tau work lwork info", HESSENBERG, ("a",), ("a", "tau", "info")),
    Routine("gtsv", "n columns dl+ d du b n info", SYSTEM, ("dl", "d", "du", "b"), ("0", "0", "0", "b", "info")),
]
"""Those that are the same for real and for complex matrices."""

REAL_ROUTINES = [
    *SHARED_ROUTINES,
    _reflecting("ormqr", "T"),
    _tridiagonal("sytrd"),
    Routine("geqp3", "m n a m jpvt tau work lwork info", PIVOTED, ("a", "jpvt"), ("a", "jpvt", "tau")),
    Routine("gesvd", "@mode @mode m n a m s u m vt right work lwork info", SVD, ("a",), SVD_RESULTS),
    Routine("orgqr", "m n k a m tau work lwork info", QR, ("a", "tau"), ("a",)),
    Routine(
        "gesdd",
        "@mode m n a m s u m vt right work lwork iwork info",
        SVD,
        ("a",),
        SVD_RESULTS,
        {"iwork": lambda size: 8 * size["k"]},
    ),
    Routine(
        "syevd", "@mode @uplo n a n w work lwork iwork liwork info", {**S, "w": (REAL, "n")}, ("a",), ("a", "w", "info")
    ),
    Routine(
        "geev",
        "@compute_left @compute_right n a n wr wi vl n vr n work lwork info",
        {**S, **VALUES, "vl": _matrix(), "vr": _matrix()},
        ("a",),
        ("wr", "wi", "vl", "vr", "info"),
    ),
    Routine(
        "gees",
        "@mode @sort 0 n a n sdim wr wi vs n work lwork 0 info",
        {**S, **VALUES, "vs": _matrix(), "sdim": (INTEGER, "")},
        ("a",),
        ("a", "vs", "wr", "wi", "sdim", "info"),
    ),
]
COMPLEX_ROUTINES = [
    *SHARED_ROUTINES,
    _reflecting("unmqr", "C"),
    _tridiagonal("hetrd"),
    Routine(
        "geqp3",
        "m n a m jpvt tau work lwork rwork info",
        PIVOTED,
        ("a", "jpvt"),
        ("a", "jpvt", "tau"),
        {"rwork": lambda size: 2 * size["n"]},
    ),
    Routine(
        "gesvd",
        "@mode @mode m n a m s u m vt right work lwork rwork info",
        SVD,
        ("a",),
        SVD_RESULTS,
        {"rwork": lambda size: 5 * size["k"]},
    ),
    Routine("ungqr", "m n k a m tau work lwork info", QR, ("a", "tau"), ("a",)),
    Routine(
        "gesdd",
        "@mode m n a m s u m vt right work lwork rwork iwork info",
        SVD,
        ("a",),
        SVD_RESULTS,
        {"iwork": lambda size: 8 * size["k"], "rwork": _singular_memory},
    ),
    Routine(
        "heevd",
        "@mode @uplo n a n w work lwork rwork lrwork iwork liwork info",
        {**S, "w": (REAL, "n")},
        ("a",),
        ("a", "w", "info"),
    ),
    Routine(
        "geev",
        "@compute_left @compute_right n a n w vl n vr n work lwork rwork info",
        {**S, "w": (OWN, "n"), "vl": _matrix(), "vr": _matrix()},
        ("a",),
        ("w", "vl", "vr", "info"),
        {"rwork": lambda size: 2 * size["n"]},
    ),
    Routine(
        "gees",
        "@mode @sort 0 n a n sdim w vs n work lwork rwork 0 info",
        {**S, "w": (OWN, "n"), "vs": _matrix(), "sdim": (INTEGER, "")},
        ("a",),
        ("a", "vs", "w", "sdim", "info"),
        {"rwork": lambda size: size["n"]},
    ),
]
ROUTINES = {
    kind: {routine.name: routine for routine in routines}
    for kind, routines in (("f", REAL_ROUTINES), ("c", COMPLEX_ROUTINES))
}
"""Every routine by kind of number and name."""

FLOPS: dict[str, tuple[float, str]] = {
    "getrf": (0.7, "m n k"),
    "potrf": (0.35, "n n n"),
    "geqrf": (1.4, "m n k"),
    "geqp3": (1.4, "m n k"),
    "orgqr": (1.4, "m n k"),
    "ungqr": (1.4, "m n k"),
    "ormqr": (4, "m n k"),
    "unmqr": (4, "m n k"),
    "gesdd": (20, "m n k"),
    "gesvd": (30, "m n k"),
    "gehrd": (3.3, "n n n"),
    "geev": (25, "n n n"),
    "gees": (25, "n n n"),
    "gtsv": (10, "n columns"),
}
"""Operations: a number, and the sizes that it is multiplied by."""

SYMMETRIC_FLOPS = 10.0, "n n n"
"""Those of eigenvalues and tridiagonal forms of symmetric matrices."""

UNASKED = {"mode": ("u", "vt", "vs"), "compute_left": ("vl",), "compute_right": ("vr",)}
"""Arrays that an option of N leaves undefined."""
