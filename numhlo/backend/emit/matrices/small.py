"""Linear algebra on matrices of a few rows as straight-line code, every element in a local variable.

This is LAPACK's arithmetic without its calls: partial pivoting takes the first largest element of a column, a pivot of
zero leaves its column as it is. Rows are exchanged by choosing, so nothing branches on data. It knows names of local
variables only; `factorizations` and `linear_algebra` say which ops it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.backend.emit.registers import Register, literal
from numhlo.lowering.ir.records import record

MOST_ROWS = 4
"""Rows and columns of matrices that are worth it: more take longer to compile than they save."""

MOST_ELEMENTS = 64
"""Elements of the right-hand sides."""

Names = np.ndarray
"""Names of local variables, in an array of the shape of what they hold."""


def is_small(*shapes: Sequence[int]) -> bool:
    """Return whether the first matrix, and what it is applied to, have few elements and some."""
    rows_and_columns = shapes[0][-2:]
    return min(rows_and_columns) > 0 and max(rows_and_columns) <= MOST_ROWS and _fits(shapes[1:])


def _fits(shapes: Sequence[Sequence[int]]) -> bool:
    return all(0 < shape[-2] * shape[-1] <= MOST_ELEMENTS for shape in shapes)


@record(frozen=True)
class Factors:
    """A matrix after elimination.

    Attributes
    ----------
    matrix : Names
        The factors, packed, and whatever stood to the right of them.
    places : list of str
        Which row each step exchanged with its own, as int64.
    regular : str
        Whether no pivot was zero.
    """

    matrix: Names
    places: list[str]
    regular: str


@record(frozen=True)
class SmallMatrices:
    """Writes what one matrix needs.

    Parameters
    ----------
    let : callable
        ``let(expression, hint)`` writes an assignment and returns the variable.
    register : Register
        Of float32 or float64.
    """

    let: Callable[[str, str], str]
    register: Register

    def number(self, value: float) -> str:
        """Return the text of a number."""
        return literal(self.register.dtype.type(value), self.register)

    def zeros(self, *shape: int) -> Names:
        """Return an array of zeros."""
        return np.full(shape, self.number(0.0), object)

    def _minus(self, value: str, products: Sequence[tuple[str, str]]) -> str:
        for left, right in products:
            value = self.let(f"{value} - {left} * {right}", "part")
        return value

    def _chosen(self, test: str, yes: str, no: str, hint: str = "chosen") -> str:
        return yes if yes == no else self.let(f"select({test}, {yes}, {no})", hint)

    def eliminated(self, a: Names, columns: int, *, packed: bool = True) -> Factors:
        """Return the LU factors of the first ``columns`` columns; the others are taken along.

        Parameters
        ----------
        a : Names
        columns : int
        packed : bool
            Whether the lower factor is wanted too.
        """
        a, places, regular = a.copy(), [], ""
        rows = len(a)
        for k in range(min(rows, columns)):
            places.append(self._largest(a[k:, k], k))
            first = 0 if packed else k
            self._exchange(a, k, places[k], slice(first, None))
            nonzero = self.let(f"{a[k, k]} != {self.number(0.0)}", "nonzero")
            regular = self.let(f"{regular} & {nonzero}", "regular") if regular else nonzero
            for i in range(k + 1, rows):
                quotient = self.let(f"divide({a[i, k]}, {a[k, k]})", "quotient")
                a[i, k] = self._chosen(nonzero, quotient, a[i, k], "factor")
                for j in range(k + 1, a.shape[1]):
                    a[i, j] = self._minus(a[i, j], [(a[i, k], a[k, j])])
        return Factors(a, places, regular)

    def _largest(self, column: Names, first: int) -> str:
        """Return the row of the first largest element of a column that begins at row ``first``."""
        best, place = self.let(f"absolute({column[0]})", "best"), f"to_i64({first})"
        for offset, name in enumerate(column[1:], 1):
            size = self.let(f"absolute({name})", "size")
            larger = self.let(f"{size} > {best}", "larger")
            place = self._chosen(larger, f"to_i64({first + offset})", place, "place")
            best = self._chosen(larger, size, best, "best")
        return place

    def _exchange(self, a: Names, k: int, place: str, columns: slice) -> None:
        """Exchange row k with the one at a run-time place below it, or none."""
        upper = a[k, columns].copy()
        for i in range(k + 1, len(a)):
            here = self.let(f"{place} == {i}", "here")
            for j, own in enumerate(upper):
                lower = a[i, columns][j]
                a[k, columns][j] = self._chosen(here, lower, a[k, columns][j])
                a[i, columns][j] = self._chosen(here, own, lower)

    def solved(self, a: Names, b: Names) -> Names:
        """Return x with ``a @ x = b``; NaN if a pivot is zero."""
        rows = len(a)
        found = self.eliminated(np.concatenate([a, b], 1), rows, packed=False)
        x = self.substituted(found.matrix[:, :rows], found.matrix[:, rows:], lower=False, unit=False)
        nan = self.number(np.nan)
        return self._mapped(x, lambda name: self._chosen(found.regular, name, nan))

    def substituted(self, a: Names, b: Names, *, lower: bool, unit: bool) -> Names:
        """Return x with ``a @ x = b``, ``a`` a triangle."""
        x = b.copy()
        rows = range(len(a))
        for i in rows if lower else reversed(rows):
            known = range(i) if lower else range(i + 1, len(a))
            for j in range(x.shape[1]):
                value = self._minus(x[i, j], [(a[i, k], x[k, j]) for k in known])
                x[i, j] = value if unit else self.let(f"divide({value}, {a[i, i]})", "x")
        return x

    def cholesky(self, a: Names) -> Names:
        """Return the lower factor, with zeros above; NaN if the lower triangle is that of no positive matrix."""
        rows, positive = len(a), ""
        factor = self.zeros(rows, rows)
        for j in range(rows):
            rest = self._minus(a[j, j], [(factor[j, k], factor[j, k]) for k in range(j)])
            test = self.let(f"{rest} > {self.number(0.0)}", "above")
            positive = self.let(f"{positive} & {test}", "positive") if positive else test
            factor[j, j] = self.let(f"square_root({rest})", "root")
            for i in range(j + 1, rows):
                value = self._minus(a[i, j], [(factor[i, k], factor[j, k]) for k in range(j)])
                factor[i, j] = self.let(f"divide({value}, {factor[j, j]})", "factor")
        nan = self.number(np.nan)
        for place in zip(*np.tril_indices(rows), strict=True):
            factor[place] = self._chosen(positive, factor[place], nan)
        return factor

    def determinant(self, a: Names) -> Names:
        """Return the determinant."""
        found = self.eliminated(a, len(a), packed=False)
        product = self._sign(found.places)
        for k in range(len(a)):
            product = self.let(f"{product} * {found.matrix[k, k]}", "product")
        return _single(product)

    def sign_and_logarithm(self, a: Names) -> list[Names]:
        """Return the determinant's sign and the logarithm of its absolute value."""
        found = self.eliminated(a, len(a), packed=False)
        sign, total = self._sign(found.places), ""
        zero = self.number(0.0)
        for k in range(len(a)):
            pivot = found.matrix[k, k]
            sign = self.let(f"select({pivot} < {zero}, negate({sign}), {sign})", "sign")
            logarithm = self.let(f"log_{self.register.name}(absolute({pivot}))", "logarithm")
            total = self.let(f"{total} + {logarithm}", "total") if total else logarithm
        sign = self._chosen(found.regular, sign, zero, "sign")
        return [_single(sign), _single(total)]

    def _sign(self, places: Sequence[str]) -> str:
        sign = self.number(1.0)
        for k, place in enumerate(places[:-1]):
            sign = self.let(f"select({place} == {k}, {sign}, negate({sign}))", "sign")
        return sign

    def factored(self, a: Names) -> list[Names]:
        """Return the packed LU factors, the exchanged rows as int32, and the permutation that they make."""
        found = self.eliminated(a, a.shape[1])
        order = np.array([[f"to_i64({row})"] for row in range(len(a))], object)
        for k, place in enumerate(found.places):
            self._exchange(order, k, place, slice(None))
        pivots = np.array(found.places, object)
        return [found.matrix, *(self._mapped(x, lambda name: f"to_i32({name})") for x in (pivots, order[:, 0]))]

    def _mapped(self, names: Names, function: Callable[[str], str]) -> Names:
        mapped = names.copy()
        for place in np.ndindex(names.shape):
            mapped[place] = function(str(names[place]))
        return mapped


def _single(name: str) -> Names:
    names = np.empty((), object)
    names[()] = name
    return names
