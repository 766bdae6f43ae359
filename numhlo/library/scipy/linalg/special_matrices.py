"""SciPy's matrices of a pattern: of given elements (circulant, Hankel, companion) and of a size alone (Hilbert).

Those of given elements read them at places that are known; those of a size are SciPy's own. Also here: the nearest
unitary matrix, and the product of columns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import array_methods, families
from numhlo.library.scipy.linalg.factorizations import svd
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.lowering.ops.lazy_scipy import scipy_function
from numhlo.tracer.building import as_traced, asarray, new_array, runs_anywhere

__all__ = [
    "circulant", "companion", "convolution_matrix", "dft", "fiedler", "hadamard", "hankel", "helmert", "hilbert",
    "invhilbert", "invpascal", "khatri_rao", "leslie", "orthogonal_procrustes", "pascal", "polar",
]  # fmt: skip

MEANINGS = (families, array_methods)
"""What gives NumPy's functions, and methods, a meaning on traced arrays."""


def _traced(x: Any) -> Any:
    return as_traced(asarray(x))


def _line(function: str, x: Any, least: int = 1) -> Any:
    found = _traced(x)
    if found.ndim != 1 or found.shape[0] < least:
        raise ShapeError(
            f"{function} of an array of shape {found.shape}",
            where=capture_location(),
            fix=f"give a line of {least} elements or more; vmap for several",
        )
    return found


def _of_size(name: str, summary: str, first: str, wanted: str, **defaults: Any) -> Callable[..., Any]:
    own = scipy_function(name, "linalg")

    def made(n: int, *args: Any, **options: Any) -> Any:
        return new_array(own(n, *args, **options))

    made.__name__ = made.__qualname__ = name
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("n", kind), *[inspect.Parameter(k, kind, default=v) for k, v in defaults.items()]]
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    options = f"{', '.join(defaults)} : optional\n        As SciPy's.\n" if defaults else ""
    made.__doc__ = f"""Return {summary}.

    Parameters
    ----------
    n : int
    {options}
    Returns
    -------
    (n, n) Array

    Examples
    --------
    >>> {name}(2){first}.tolist()
    {wanted}
    """
    return runs_anywhere(made)


dft = _of_size(
    "dft", "the matrix of the discrete Fourier transform", ".real.round(6)", "[[1.0, 1.0], [1.0, -1.0]]", scale=None
)
hadamard = _of_size(
    "hadamard", "a matrix of ones and minus ones with orthogonal rows", "", "[[1, 1], [1, -1]]", dtype=int
)
helmert = _of_size(
    "helmert", "an orthogonal matrix of contrasts, without its first row", ".round(3)", "[[0.707, -0.707]]", full=False
)
hilbert = _of_size("hilbert", "the matrix of 1 / (i + j + 1)", ".round(3)", "[[1.0, 0.5], [0.5, 0.333]]")
invhilbert = _of_size("invhilbert", "the inverse of the Hilbert matrix", "", "[[4.0, -6.0], [-6.0, 12.0]]", exact=False)
pascal = _of_size("pascal", "the matrix of binomial coefficients", "", "[[1, 1], [1, 2]]", kind="symmetric", exact=True)
invpascal = _of_size(
    "invpascal", "the inverse of the Pascal matrix", "", "[[2, -1], [-1, 1]]", kind="symmetric", exact=True
)


@runs_anywhere
def circulant(c: Any) -> Any:
    """Return the matrix whose columns are a line, turned by one more each time.

    Parameters
    ----------
    c : (..., n) array_like

    Returns
    -------
    (..., n, n) Array

    Raises
    ------
    ShapeError
        If ``c`` has no dimensions.

    Examples
    --------
    >>> circulant([1, 2, 3])
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    line = _traced(c)
    if not line.ndim:
        raise ShapeError("circulant of an array without dimensions", where=capture_location(), fix="give a line")
    places = np.arange(line.shape[-1])
    return line[..., (places[:, None] - places) % max(places.size, 1)]


@runs_anywhere
def hankel(c: Any, r: Any = None) -> Any:
    """Return the matrix with constant antidiagonals whose first column is ``c`` and last row ``r``.

    Parameters
    ----------
    c : array_like
        Flattened.
    r : array_like, optional
        Its first element is not read; zeros by default.

    Returns
    -------
    (c.size, r.size) Array

    Examples
    --------
    >>> hankel([1, 2], [9, 3, 4])
    Array([[1, 2, 3],
           [2, 3, 4]])
    """
    column = _traced(c).ravel()
    row = np.zeros_like(column) if r is None else _traced(r).ravel()
    places = np.arange(column.shape[0])[:, None] + np.arange(row.shape[0])
    return np.concatenate([column, row[1:]])[places]


@runs_anywhere
def companion(a: Any) -> Any:
    """Return the matrix whose eigenvalues are the roots of a polynomial.

    Parameters
    ----------
    a : (n,) array_like
        Its coefficients, the highest power's first.

    Returns
    -------
    (n - 1, n - 1) Array

    Raises
    ------
    ShapeError
        If ``a`` is no line of two elements or more.

    Examples
    --------
    >>> companion([1.0, -10.0, 31.0, -30.0])
    Array([[ 10., -31.,  30.],
           [  1.,   0.,   0.],
           [  0.,   1.,   0.]])
    """
    line = _line("companion", a, 2)
    first = -line[1:] / (1.0 * line[0])
    count = line.shape[0] - 1
    return np.concatenate([first[None], np.eye(count - 1, count, dtype=first.dtype)])


@runs_anywhere
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """Return the matrix that convolves lines of ``n`` elements with ``a``: ``matrix @ x`` is ``numpy.convolve(a, x)``.

    Parameters
    ----------
    a : (m,) array_like
    n : int
    mode : {"full", "same", "valid"}, optional

    Returns
    -------
    (k, n) Array

    Raises
    ------
    ArgumentError
        If the mode is another.
    ShapeError
        If ``a`` is no line.
    ValueError
        If ``n`` is not positive.

    Examples
    --------
    >>> convolution_matrix([1, 2], 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]])
    """
    line = _line("convolution_matrix", a)
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(
            f"convolution_matrix(mode={mode!r})", where=capture_location(), fix="use one of full, same, valid"
        )
    count = line.shape[0]
    start, end = 0, count + n - 1
    if mode == "same":
        start = (min(n, count) - 1) // 2
        end = start + max(n, count)
    elif mode == "valid":
        start, end = min(n, count) - 1, max(n, count)
    places = np.arange(start, end)[:, None] - np.arange(n)
    inside = (places >= 0) & (places < count)
    return np.where(inside, line[np.where(inside, places, 0)], np.zeros((), line.dtype))


@runs_anywhere
def fiedler(a: Any) -> Any:
    """Return the matrix of the distances between numbers.

    Parameters
    ----------
    a : (..., n) array_like

    Returns
    -------
    (..., n, n) Array

    Examples
    --------
    >>> fiedler([1, 4, 9])
    Array([[0, 3, 8],
           [3, 0, 5],
           [8, 5, 0]])
    """
    line = _traced(np.atleast_1d(_traced(a)))
    return np.abs(line[..., :, None] - line[..., None, :])


@runs_anywhere
def leslie(f: Any, s: Any) -> Any:
    """Return the matrix of a population's growth by classes of age.

    Parameters
    ----------
    f : (n,) array_like
        How many are born to each class.
    s : (n - 1,) array_like
        Which part of each class survives.

    Returns
    -------
    (n, n) Array

    Raises
    ------
    ShapeError
        If they are no such lines.

    Examples
    --------
    >>> leslie([0.1, 2.0], [0.5])
    Array([[0.1, 2. ],
           [0.5, 0. ]])
    """
    births, survival = _line("leslie", f, 2), _line("leslie", s)
    count = births.shape[0]
    if survival.shape[0] != count - 1:
        raise ShapeError(
            f"leslie of {count} births and {survival.shape[0]} survivals",
            where=capture_location(),
            fix="give one survival less than births",
        )
    dtype = np.result_type(births.dtype, survival.dtype)
    below = np.concatenate([np.diag(survival), np.zeros((count - 1, 1), dtype)], 1)
    return np.concatenate([births[None], below]).astype(dtype)


@runs_anywhere
def khatri_rao(a: Any, b: Any) -> Any:
    """Return the Kronecker products of the columns of two matrices.

    Parameters
    ----------
    a, b : (..., n, k) and (..., m, k) array_like

    Returns
    -------
    (..., n * m, k) Array

    Raises
    ------
    ShapeError
        If they have not as many columns.

    Examples
    --------
    >>> khatri_rao([[1, 2]], [[3, 4], [5, 6]])
    Array([[ 3,  8],
           [ 5, 12]])
    """
    one, other = (_traced(x) for x in (a, b))
    if one.ndim < 2 or other.ndim < 2 or one.shape[-1] != other.shape[-1]:
        raise ShapeError(
            f"khatri_rao of shapes {one.shape} and {other.shape}",
            where=capture_location(),
            fix="give matrices with as many columns",
        )
    products = _traced(one[..., :, None, :] * other[..., None, :, :])
    return products.reshape(*products.shape[:-3], -1, products.shape[-1])


@runs_anywhere
def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """Return the unitary and the positive semidefinite factor of a matrix.

    Parameters
    ----------
    a : (..., m, n) array_like
    side : {"right", "left"}, optional
        On which side the second factor stands.

    Returns
    -------
    tuple of Array
        ``u`` of the shape of ``a``, and ``p``.

    Raises
    ------
    ArgumentError
        If the side is another.

    Examples
    --------
    >>> u, p = polar([[0.0, -2.0], [3.0, 0.0]])
    >>> u.round(6), p.round(6)
    (Array([[ 0., -1.],
           [ 1.,  0.]]), Array([[3., 0.],
           [0., 2.]]))
    """
    if side not in ("right", "left"):
        raise ArgumentError(f"polar(side={side!r})", where=capture_location(), fix="use one of right, left")
    w, s, vh = svd(a, full_matrices=False)
    unitary = w @ vh
    widened = s[..., None, :]
    if side == "right":
        return unitary, (np.conj(np.matrix_transpose(vh)) * widened) @ vh
    return unitary, (w * widened) @ np.conj(np.matrix_transpose(w))


@runs_anywhere
def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """Return the orthogonal matrix that brings one matrix nearest to another, and the sum of singular values.

    Parameters
    ----------
    A, B : (m, n) array_like
    check_finite : bool, optional
        Accepted, and means nothing here.

    Returns
    -------
    tuple of Array
        ``R``, which makes the norm of ``A @ R - B`` least, and the scale.

    Raises
    ------
    ShapeError
        If they are no matrices of one shape.

    Examples
    --------
    >>> orthogonal_procrustes(np.eye(2), 2 * np.eye(2))[0].round(6)
    Array([[1., 0.],
           [0., 1.]])
    """
    del check_finite
    one, other = (_traced(x) for x in (A, B))
    if one.ndim != 2 or one.shape != other.shape:
        raise ShapeError(
            f"orthogonal_procrustes of shapes {one.shape} and {other.shape}",
            where=capture_location(),
            fix="give matrices of one shape",
        )
    u, w, vt = svd(np.conj(np.conj(other.T) @ one).T)
    return u @ vt, w.sum()
