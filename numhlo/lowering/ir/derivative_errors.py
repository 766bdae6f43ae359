"""Errors of derivatives that there are none of: through loops, of functions with rules, by what is around them."""

from __future__ import annotations

from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.jax_errors import UnexpectedTracerError


class LoopDerivativeError(UnsupportedError, ValueError):
    """Reverse mode needs the values of every step of a loop whose steps are not counted.

    Examples
    --------
    >>> import numhlo
    >>> steps = lambda x: numhlo.lax.while_loop(lambda y: y < 9, lambda y: y * 2, x)
    >>> try:
    ...     numhlo.jit(numhlo.grad(steps))(1.0)
    ... except numhlo.errors.LoopDerivativeError as error:
    ...     print(error.what)
    reverse-mode differentiation of a while loop with an unknown number of steps
    """


class MissingRuleError(ArgumentError, AttributeError):
    """A function is differentiated, or batched, that is to have a rule of its own and has none.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.custom_jvp(lambda x: 2 * x)
    >>> try:
    ...     numhlo.grad(f)(1.0)
    ... except numhlo.errors.MissingRuleError as error:
    ...     print(error.what)
    <lambda> is a custom_jvp function without a rule
    """


class ForwardDerivativeError(UnsupportedError, TypeError):
    """A function whose rules go backwards is differentiated forwards.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.custom_vjp(lambda x: 2 * x)
    >>> f.defvjp(lambda x: (2 * x, None), lambda kept, given: (2 * given,))
    >>> try:
    ...     numhlo.jvp(f, (1.0,), (1.0,))
    ... except numhlo.errors.ForwardDerivativeError as error:
    ...     print(error.what)
    forward-mode derivative (jvp, jacfwd, linearize) of the custom_vjp function <lambda>
    """


class ClosureDerivativeError(UnsupportedError, UnexpectedTracerError):
    """A rule of a function with a derivative of its own reads an array from around it that is differentiated.

    Examples
    --------
    >>> import numhlo
    >>> def scaled(a):
    ...     f = numhlo.custom_vjp(lambda x: a * x)
    ...     f.defvjp(lambda x: (a * x, None), lambda kept, given: (a * given,))
    ...     return f(2.0)
    >>> try:
    ...     numhlo.grad(scaled)(3.0)
    ... except numhlo.errors.ClosureDerivativeError as error:
    ...     print(error.what)
    the gradient of <lambda>, with respect to an array from around it
    """


for _found in (LoopDerivativeError, MissingRuleError, ForwardDerivativeError, ClosureDerivativeError):
    _found.__module__ = "numhlo.errors"
