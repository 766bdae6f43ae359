"""Every error class of numhlo, and the one format that their messages share.

This module knows how a message is laid out; it refuses to know what went wrong. A message has four parts:
what happened, where in the user's code, why, and what to write instead. Next: `location` finds the where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir.jax_errors import ConcretizationTypeError, UnexpectedTracerError

if TYPE_CHECKING:
    from numhlo.lowering.ir.location import Location


class NumhloError(Exception):
    """Base class of everything numhlo raises on purpose.

    Parameters
    ----------
    what : str
        One line: the operation and the offending values' types.
    where : Location, optional
        The user's line.
    why : str, optional
        The rule that was broken.
    fix : str, optional
        What to write instead.

    Notes
    -----
    ``str(error)`` is ``what``, then ``at file:line in function:  source``, then ``why; fix``, each on its own line.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x + np.ones(4))(np.ones(3))
    ... except numhlo.errors.NumhloError as error:
    ...     print(error.what)
    add: cannot broadcast float64[3] with float64[4]
    """

    excerpt = ""
    """The line of a program's text, and a caret."""

    def __init__(self, what: str, *, where: Location | None = None, why: str = "", fix: str = "") -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(what, where, why, fix)

    def __reduce__(self) -> Any:
        """Return what makes it again in another process, such as the one that gave a pool its work."""
        kept = {name: value for name, value in vars(self).items() if not callable(value)}
        return _restored, (type(self), self.what, kept)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where is not None and self.where.line:
            place = f"{self.where.place}:{self.where.column}\n{self.excerpt}" if self.excerpt else self.where.point()
            lines.append(f"  at {place}")
        reasons = [text for text in (self.why, self.fix) if text]
        if reasons:
            lines.append("  " + "; ".join(reasons))
        return "\n".join(lines)


def _restored(kind: type[NumhloError], what: str, attributes: dict[str, Any]) -> NumhloError:
    error = kind(what, where=attributes["where"], why=attributes["why"], fix=attributes["fix"])
    vars(error).update(attributes)
    return error


class ShapeError(NumhloError, ValueError):
    """Shapes do not fit together.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x.reshape(2, 2))(numhlo.numpy.ones(3))
    ... except numhlo.errors.ShapeError as error:
    ...     print(error.what)
    cannot reshape array of size 3 into shape (2, 2)
    """


class OperandError(ShapeError, TypeError):
    """Shapes of a function of `lax` do not fit together: a `TypeError`, as in JAX, and a `ValueError`, as in NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.lax.add(np.ones(3), np.ones(4))
    ... except TypeError as error:
    ...     print(error.what)
    lax.add: operands float64[3], float64[4] differ in shape
    """


class DTypeError(NumhloError, TypeError):
    """Element types do not fit together, or are not supported.

    Attributes
    ----------
    is_numpys : bool
        Whether NumPy raises an error there, too.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x << 1)(numhlo.numpy.ones(3))
    ... except numhlo.errors.DTypeError as error:
    ...     print(error.what)
    left_shift has no loop for float64, a Python int
    """

    is_numpys = True


class ArgumentError(NumhloError, ValueError):
    """An argument's value is not one of those allowed.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x, static_argnums="x")
    ... except numhlo.errors.ArgumentError as error:
    ...     print(error.what)
    jit: static_argnums='x'
    """


class SignatureError(ArgumentError, TypeError):
    """A function is called with arguments that it does not take: compiled for others, or a kernel of so many arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x + 1).lower(1.0).compile()(np.ones(3))
    ... except numhlo.errors.SignatureError as error:
    ...     print(error.what)
    compiled lambda(x: Python float) was called with x: float64[3]
    """


class AxisOutOfBoundsError(NumhloError, IndexError, ValueError):
    """An axis or an index lies outside the array.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x[3])(np.ones(3))
    ... except numhlo.errors.AxisOutOfBoundsError as error:
    ...     print(error.what)
    index 3 is out of bounds for axis 0 with size 3
    """


class InvalidIndexError(NumhloError, IndexError, TypeError, ValueError):
    """What stands between brackets is no index: NumPy's `IndexError`, or Python's error for a slice.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x["a"])(np.ones(3))
    ... except numhlo.errors.InvalidIndexError as error:
    ...     print(error.what)
    an index that is a str
    """


class InvalidValueError(NumhloError, FloatingPointError):
    """A checked function made a NaN or an infinity of numbers that are none.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(np.log, check="nan")(np.array([1.0, -1.0]))
    ... except numhlo.errors.InvalidValueError as error:
    ...     print(error.what)
    log: nan at [1] of float64[2], of -1.0
    """


class IntegerOverflowError(NumhloError, OverflowError):
    """An integer is one that its type can't hold: what a checked function computed, or an argument.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x * x, check="overflow")(np.int32([100_000]))
    ... except numhlo.errors.IntegerOverflowError as error:
    ...     print(error.what)
    multiply: 10000000000 is no int32, at [0] of int32[1], of 100000, 100000
    """


class NotCallableError(NumhloError, TypeError):
    """Something else was passed where a function is expected.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(3)
    ... except numhlo.errors.NotCallableError as error:
    ...     print(error.what)
    jit: fun is of class int, no function
    """


class ConcretizationError(NumhloError, ConcretizationTypeError):
    """A traced array was used where Python needs its value: bool, int, float, index, item.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: 1.0 if x > 0 else 2.0, autograph=False)(3.0)
    ... except numhlo.errors.ConcretizationError as error:
    ...     print(error.what)
    the truth value of a traced array bool[]
    """

    is_numpys = False
    """Whether NumPy raises an error there, too."""

    needs: Callable[[Any], bool] | None = None
    """Tells whether the value that is missing follows from that of a traced array."""


class DrawError(ConcretizationError):
    """Random numbers were drawn while a function was traced, by it or by another thread: they would be frozen.

    Attributes
    ----------
    state : callable or None
        Tells where the generator is.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x + np.random.rand())(1.0)
    ... except numhlo.errors.DrawError as error:
    ...     print(error.what)
    lambda draws random numbers from np.random while it is traced
    """

    state: Callable[[], Any] | None = None


class UndefinedVariableError(NumhloError, UnboundLocalError):
    """A variable is used that gets a value only in a branch or a loop that may not run.

    Examples
    --------
    >>> import numhlo
    >>> def only_sometimes(x):
    ...     if x > 0:
    ...         y = x
    ...     return y
    >>> try:
    ...     numhlo.jit(only_sometimes, autograph=True)(1.0)
    ... except numhlo.errors.UndefinedVariableError as error:
    ...     print(error.what)
    variable 'y' has no value here
    """


class DataDependentShapeError(NumhloError, ConcretizationTypeError):
    """The shape of a result would depend on the values of a traced array.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x[x > 0].reshape(-1, 1))(np.ones(3))
    ... except numhlo.errors.DataDependentShapeError as error:
    ...     print(error.what)
    x[mask] with a traced boolean mask bool[3]
    """


class LeakedTracerError(NumhloError, RuntimeError, UnexpectedTracerError):
    """A traced array outlived the trace that made it.

    Examples
    --------
    >>> import numhlo
    >>> kept = []
    >>> numhlo.jit(lambda x: kept.append(x))(1.0)
    >>> try:
    ...     kept[0] + 1
    ... except numhlo.errors.LeakedTracerError as error:
    ...     print(error.what)
    a traced array float64[] was used after its trace had ended
    """


class EndlessRecursionError(NumhloError, RecursionError):
    """What is traced calls itself without end, or deeper than Python's stack is.

    Examples
    --------
    >>> import numhlo
    >>> @numhlo.jit
    ... def factorial(n):
    ...     return numhlo.numpy.where(n > 1, n * factorial(n - 1), 1)
    >>> try:
    ...     factorial(5)
    ... except numhlo.errors.EndlessRecursionError as error:
    ...     print(error.what)
    factorial calls itself without end
    """


class ControlFlowTypeError(NumhloError, TypeError):
    """Branches or loop carries disagree in structure, shape or dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> choose = numhlo.jit(lambda p: numhlo.lax.cond(p, lambda: 1.0, lambda: np.ones(2)))
    >>> try:
    ...     choose(True)
    ... except numhlo.errors.ControlFlowTypeError as error:
    ...     print(error.what)
    cond: true_fun and false_fun return different shapes
    """


class StaticArgumentError(NumhloError, TypeError, ValueError):
    """A static argument can't be a cache key.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x, n: x, static_argnums=1)(1.0, [2])
    ... except numhlo.errors.StaticArgumentError as error:
    ...     print(error.what)
    static argument 1 is of class list, which can't be hashed
    """


class MutationError(NumhloError, ValueError):
    """An array can't be written here: read-only, overlapping, or owned by an outer trace.

    Attributes
    ----------
    storage : object
        What the outer trace owns; None for other reasons.
    is_undecided : bool
        Which array a name means hangs on traced values, or on how many iterations a loop has.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> def clear(x):
    ...     x[:] = 0.0
    >>> try:
    ...     numhlo.jit(clear)(np.broadcast_to(1.0, 3))
    ... except numhlo.errors.MutationError as error:
    ...     print(error.what)
    clear writes into argument x, which is read-only
    """

    storage: object = None
    is_undecided = False


class ImmutableArrayError(NumhloError, TypeError):
    """Something can't be written: a scalar, or an array where JAX's rules were asked for.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> try:
    ...     jax.numpy.ones(3)[0] = 2.0
    ... except ImmutableArrayError as error:
    ...     print(error.what)
    x[index] = value: arrays are immutable under JAX's rules
    """


class UnsupportedError(NumhloError, NotImplementedError):
    """numhlo can't do this yet, and says so by name.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda n: numhlo.numpy.repeat(numhlo.numpy.ones(2), n))(3)
    ... except UnsupportedError as error:
    ...     print(error.what)
    repeat with traced counts
    """


class CommunicationError(NumhloError, RuntimeError):
    """Processes of a grid, or their host, don't tell each other what the program asks for.

    Examples
    --------
    >>> print(CommunicationError("process (0, 0) waits for its infeed", why="nobody sends it"))
    process (0, 0) waits for its infeed
      nobody sends it
    """


class VerificationError(NumhloError, ValueError, TypeError):
    """A program, or a call of a function of `lax`, breaks a constraint of the StableHLO specification.

    It is a `TypeError`, too, which JAX raises of operands that don't fit together.

    Examples
    --------
    >>> import numhlo
    >>> text = '''func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    ...   %y = stablehlo.transpose %x, dims = [1] : (tensor<3xf32>) -> tensor<3xf32>
    ...   return %y : tensor<3xf32>
    ... }'''
    >>> try:
    ...     numhlo.stablehlo.parse(text).verify()
    ... except numhlo.errors.VerificationError as error:
    ...     print(error.what)
    transpose(float32[3]): (C2) permutation must be a permutation of range(1), not (1,)
    """


class ParseError(NumhloError, SyntaxError):
    """Text that isn't StableHLO: line, column, the line and a caret.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.stablehlo.parse("func.func @main(")
    ... except numhlo.errors.ParseError as error:
    ...     print(error.what)
    expected a type, found end of text
      at <string>:1:17
        func.func @main(
                        ^
    """


class OutOfMemoryError(NumhloError, MemoryError):
    """There is no memory for what a function computes.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: numhlo.numpy.broadcast_to(x, (2**22, 2**22)) + 1)(1.0)
    ... except OutOfMemoryError as error:
    ...     print(error.what)
    lambda: no memory for its results float64[4194304,4194304] (128 TiB)
    """


class InternalError(NumhloError, RuntimeError):
    """A bug of ours; the message says so and carries what is needed to report it.

    Examples
    --------
    >>> print(InternalError("a kernel of softmax can't be compiled", fix="please report it with this message"))
    a kernel of softmax can't be compiled
      please report it with this message
    """


for _found in [x for x in globals().values() if isinstance(x, type) and issubclass(x, NumhloError)]:
    _found.__module__ = "numhlo.errors"  # where users find it, as the last line of a traceback says
