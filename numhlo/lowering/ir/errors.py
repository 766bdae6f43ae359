"""Every error class of numhlo, and the one format that their messages share.

This module knows how a message is laid out; it refuses to know what went wrong. A message has four parts:
what happened, where in the user's code, why, and what to write instead. Next: `location` finds the where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """

    def __init__(
        self,
        what: str,
        *,
        where: Location | None = None,
        why: str = "",
        fix: str = "",
    ) -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(what, where, why, fix)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where is not None:
            lines.append(f"  at {self.where.describe()}")
        reasons = [text for text in (self.why, self.fix) if text]
        if reasons:
            lines.append("  " + "; ".join(reasons))
        return "\n".join(lines)


class ShapeError(NumhloError, ValueError):
    """Shapes do not fit together."""


class DTypeError(NumhloError, TypeError):
    """Element types do not fit together, or are not supported."""


class ArgumentError(NumhloError, ValueError):
    """An argument's value is not one of those allowed."""


class AxisOutOfBoundsError(NumhloError, IndexError, ValueError):
    """An axis or an index lies outside the array."""


class InvalidIndexError(NumhloError, IndexError, TypeError, ValueError):
    """What stands between brackets is no index: NumPy's `IndexError`, or Python's error for a slice."""


class InvalidValueError(NumhloError, FloatingPointError):
    """A checked function made a NaN or an infinity of numbers that are none."""


class IntegerOverflowError(NumhloError, OverflowError):
    """A checked function computed an integer that its type can't hold."""


class NotCallableError(NumhloError, TypeError):
    """Something else was passed where a function is expected."""


class ConcretizationError(NumhloError, TypeError):
    """A traced array was used where Python needs its value: bool, int, float, index, item."""


class UndefinedVariableError(NumhloError, UnboundLocalError):
    """A variable is used that gets a value only in a branch or a loop that may not run."""


class DataDependentShapeError(NumhloError, TypeError):
    """The shape of a result would depend on the values of a traced array."""


class LeakedTracerError(NumhloError, RuntimeError):
    """A traced array outlived the trace that made it."""


class ControlFlowTypeError(NumhloError, TypeError):
    """Branches or loop carries disagree in structure, shape or dtype."""


class StaticArgumentError(NumhloError, TypeError):
    """A static argument can't be a cache key."""


class MutationError(NumhloError, ValueError):
    """An array can't be written here: read-only, overlapping, or owned by an outer trace.

    Attributes
    ----------
    storage : object
        What the outer trace owns; None for other reasons.
    """

    storage: object = None


class ImmutableArrayError(NumhloError, TypeError):
    """An array can't be written because JAX's rules were asked for."""


class UnsupportedError(NumhloError, NotImplementedError):
    """numhlo can't do this yet, and says so by name."""


class VerificationError(NumhloError, ValueError):
    """A program breaks a constraint of the StableHLO specification."""


class ParseError(NumhloError, SyntaxError):
    """Text that isn't StableHLO: line, column, the line and a caret."""


class InternalError(NumhloError, RuntimeError):
    """A bug of ours; the message says so and carries what is needed to report it."""
