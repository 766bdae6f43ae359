"""Views and writes in any order: random programs, run by NumPy and traced, leave the same arrays behind.

A program is a list of steps on a pool of arrays. A view step adds a view of one of them, a write step writes through one
of them; at the end all arrays of the pool must agree, and so must the arguments.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from numhlo.lowering.ir.errors import MutationError
from tests.library.agreement import check

Step = tuple[str, int, int, int]


def factorizations(size: int) -> list[tuple[int, ...]]:
    found = [(size,), (1, size), (size, 1)]
    for n in range(2, max(size, 2)):
        if size % n == 0:
            found += [(n, size // n), (n, 1, size // n)]
            found += [(n, m, size // n // m) for m in range(2, 4) if size // n % m == 0]
    return found


def some_slice(extent: int, a: int, b: int) -> slice:
    step = (1, 1, 2, -1, -2, 3)[b % 6]
    low, high = a % (extent + 1), b % (extent + 2)
    return slice(None, None, step) if a % 3 == 0 else slice(min(low, high), max(low, high), step)


def along(x: Any, axis: int, item: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, item)


VIEWS = {
    "slice": lambda np, x, a, b: x[along(x, a % x.ndim, some_slice(x.shape[a % x.ndim], a // 7, b))] if x.ndim else x,
    "pick": lambda np, x, a, b: (
        x[(*along(x, a % x.ndim, b % x.shape[a % x.ndim]), Ellipsis)] if x.size and x.ndim else x
    ),
    "T": lambda np, x, a, b: x.T,
    "swap": lambda np, x, a, b: np.swapaxes(x, a % x.ndim, b % x.ndim) if x.ndim else x,
    "reshape": lambda np, x, a, b: x.reshape(factorizations(x.size)[a % len(factorizations(x.size))]) if x.size else x,
    "reshape_f": lambda np, x, a, b: np.reshape(x, factorizations(x.size)[a % len(factorizations(x.size))], order="F"),
    "ravel": lambda np, x, a, b: np.ravel(x),
    "flat": lambda np, x, a, b: x.reshape(-1) if x.size else x,
    "newaxis": lambda np, x, a, b: np.expand_dims(x, a % (x.ndim + 1)) if x.ndim < 4 else x,
    "squeeze": lambda np, x, a, b: np.squeeze(x),
    "flip": lambda np, x, a, b: np.flip(x, a % x.ndim) if x.ndim else x,
    "part": lambda np, x, a, b: x.imag if x.dtype.kind == "c" and a % 2 else x.real,
    "diagonal": lambda np, x, a, b: np.diagonal(x, a % 3 - 1) if x.ndim > 1 else x,
    "broadcast": lambda np, x, a, b: np.broadcast_to(x, (2, *x.shape)) if x.ndim < 3 else x,
    "bits": lambda np, x, a, b: x.view(np.int64) if x.dtype == numpy.float64 else x,
    "half": lambda np, x, a, b: np.array_split(x, 2, a % x.ndim)[b % 2] if x.ndim else x,
    "self": lambda np, x, a, b: x[...] if x.ndim else x,
    "gathered": lambda np, x, a, b: x[[0, -1]] if x.ndim and x.shape[0] else x,
    "copied": lambda np, x, a, b: x.copy(),
    "element": lambda np, x, a, b: x[(0,) * x.ndim] if x.size else x,
}


def write_at(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        axis = a % x.ndim
        x[along(x, axis, some_slice(x.shape[axis], b, a))] = b % 100


def write_points(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim and x.shape[0]:
        x[[a % x.shape[0], b % x.shape[0]]] = a % 50


def write_mask(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        x[x > b % 7] = a % 9


def add_out(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        np.add(x, a % 9, out=x, casting="unsafe")


def add_in_place(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        x += b % 5


def write_reversed(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        x[...] = x[::-1].copy()


def sort_in_place(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        x.sort(axis=a % x.ndim)


def fill(np: Any, x: Any, a: int, b: int) -> None:
    if x.ndim:
        x.fill(a % 11)


WRITES = {f.__name__: f for f in (write_at, write_points, write_mask, add_out, add_in_place, write_reversed, fill)}


def run(np: Any, steps: list[Step], pool: list[Any], dtype: numpy.dtype) -> tuple[Any, ...]:
    for name, which, a, b in steps:
        x = pool[which % len(pool)]
        if name in VIEWS:
            pool.append(VIEWS[name](np, x, a, b))
        elif not (dtype.kind == "c" and name == "write_mask"):
            WRITES[name](np, x, a, b)
    return tuple(np.add(x, 0) for x in pool)


steps = st.tuples(
    st.sampled_from([*VIEWS, *WRITES, *WRITES]), st.integers(0, 30), st.integers(0, 1000), st.integers(0, 1000)
)


def writable_steps(program: list[Step], arguments: list[numpy.ndarray], dtype: numpy.dtype) -> list[Step]:
    """Return the program without the writes that NumPy refuses: those into read-only views."""
    kept: list[Step] = []
    pool = [x.copy() for x in arguments]
    for step in program:
        name, which, *_ = step
        x = pool[which % len(pool)]
        if name in WRITES and numpy.ndim(x) and not x.flags.writeable:
            continue
        run(numpy, [step], pool, dtype)
        kept.append(step)
    return kept


@settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    st.lists(steps, min_size=3, max_size=14),
    st.sampled_from(["float64", "int32", "complex128", "float32"]),
    st.sampled_from(["C", "F", "strided"]),
)
def test_view_programs(program, name, layout):
    dtype = numpy.dtype(name)
    base = numpy.arange(24).reshape(4, 6).astype(dtype)
    if layout == "F":
        base = numpy.asfortranarray(base)
    if layout == "strided":
        base = numpy.repeat(base, 2, axis=1)[:, ::2]
    arguments = [base, numpy.arange(5).astype(dtype)]
    kept = writable_steps(program, arguments, dtype)
    check(lambda np, x, y: run(np, kept, [x, y], dtype), *arguments, label=str(kept), ulps=0)


@pytest.mark.parametrize("make", [lambda np, x: np.broadcast_to(x, (2, 3)), lambda np, x: np.diagonal(np.outer(x, x))])
def test_read_only_views_refuse_writes(make):
    def write(np, x):
        make(np, x)[...] = 1

    with pytest.raises(MutationError, match=r"can't write into a (broadcast view|diagonal)"):
        check(lambda np, x: write(np, x) if np is not numpy else None, numpy.arange(3.0))
