"""`numpy.poly1d` of traced coefficients: ``p = np.poly1d(np.polyfit(x, y, 2))`` can be called, derived and multiplied.

NumPy cuts off the zeros that coefficients begin with. Which are zero is not known while tracing: they stay, as in
`numpy.polymul` of traced arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.tracer.building import FUNCTIONS, contains_tracer, stands_for


class TracedPolynomial(np.poly1d):
    """A polynomial in one variable of traced coefficients, the highest power's first."""

    __hash__ = None

    def __init__(self, coefficients: Any, variable: str = "x") -> None:
        vars(self).update(coeffs=coefficients, _variable=variable)

    def _of(self, function: Callable[..., Any], *operands: Any) -> Any:
        return TracedPolynomial(FUNCTIONS[function](*map(_coefficients, operands)), self.variable)

    def deriv(self, m: Any = 1) -> Any:
        """Return a derivative."""
        return TracedPolynomial(FUNCTIONS[np.polyder](self.coeffs, m), self.variable)

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        """Return an antiderivative."""
        return TracedPolynomial(FUNCTIONS[np.polyint](self.coeffs, m, k), self.variable)

    def __call__(self, val: Any) -> Any:
        """Return the value at a number or an array; of another polynomial that of both, one after the other."""
        if not isinstance(val, np.poly1d):
            return FUNCTIONS[np.polyval](self.coeffs, val)
        found = TracedPolynomial(self.coeffs[:1], self.variable)
        for k in range(1, len(self.coeffs)):
            found = found * val + self.coeffs[k]
        return found

    def __neg__(self) -> Any:
        return TracedPolynomial(-self.coeffs, self.variable)

    def __add__(self, other: Any) -> Any:
        return self._of(np.polyadd, self, other)

    def __sub__(self, other: Any) -> Any:
        return self._of(np.polysub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._of(np.polysub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._of(np.polymul, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, val: Any) -> Any:
        return functools.reduce(lambda p, _: p * self, range(int(val)), TracedPolynomial(self.coeffs[:1] * 0 + 1))

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, np.poly1d):
            return TracedPolynomial(self.coeffs / other, self.variable)
        parts = FUNCTIONS[np.polydiv](self.coeffs, other.coeffs)
        return tuple(TracedPolynomial(x, self.variable) for x in parts)

    def __rtruediv__(self, other: Any) -> Any:
        return TracedPolynomial(FUNCTIONS[np.atleast_1d](_coefficients(other)), self.variable) / self

    def __len__(self) -> int:
        return len(self.coeffs) - 1

    def __repr__(self) -> str:
        return f"poly1d({self.coeffs!r})"

    __str__ = __repr__


def _coefficients(x: Any) -> Any:
    return x.coeffs if isinstance(x, np.poly1d) else x


@stands_for(np.poly1d)
@functools.wraps(np.poly1d, updated=())
def poly1d(c_or_r: Any, r: bool = False, variable: str | None = None) -> Any:
    """Return a polynomial; of traced coefficients, or roots, one of traced coefficients."""
    if isinstance(c_or_r, np.poly1d) or not contains_tracer(c_or_r):
        return np.poly1d(c_or_r, r, variable)
    given = FUNCTIONS[np.atleast_1d](FUNCTIONS[np.asarray](c_or_r))
    return TracedPolynomial(FUNCTIONS[np.poly](given) if r else given, variable or "x")


for _function in (np.polyval, np.polyadd, np.polysub, np.polymul, np.polyder, np.polyint):

    def _of_polynomials(*args: Any, _function: Any = _function, **kwargs: Any) -> Any:
        if not any(isinstance(x, TracedPolynomial) for x in args):
            return _function(*args, **kwargs)
        made = FUNCTIONS[_function](*map(_coefficients, args), **kwargs)
        return made if _function is np.polyval else TracedPolynomial(made)

    stands_for(_function)(functools.wraps(_function)(_of_polynomials))
