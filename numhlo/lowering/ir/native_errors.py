"""The error of native functions that users bring along."""

from numhlo.lowering.ir.errors import NumhloError


class NativeCallError(NumhloError, RuntimeError):
    """A native function that a custom call reaches said that it failed; the message is its own.

    Examples
    --------
    >>> print(NativeCallError("custom_call my.solve: the matrix is singular", why="it failed with INVALID_ARGUMENT"))
    custom_call my.solve: the matrix is singular
      it failed with INVALID_ARGUMENT
    """
