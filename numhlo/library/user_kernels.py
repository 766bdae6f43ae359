"""`kernel`: a function that a user wrote for Numba becomes an op, with a rule for what it returns.

It is printed as a ``custom_call``. How it runs is the backend's affair; under `vmap` it is run lane by lane, and it has
a derivative only if `custom_jvp` or `custom_vjp` gives it one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, overload

from numhlo.library.result_descriptions import described
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import SignatureError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.user_kernels import TARGET, UserKernel, run_user_kernel
from numhlo.tracer.building import Array, asarray, bind, current_trace, require_callable


class KernelFunction:
    """A user's kernel as a function of arrays.

    Attributes
    ----------
    __wrapped__ : callable
        What the user wrote.
    """

    def __init__(self, function: Callable[..., Any], result: Any) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self._result = result
        self._name = UserKernel.of(function)
        self._signature = _signature_of(function)

    def __repr__(self) -> str:
        return f"<kernel {self._name}>"

    def __call__(self, *args: Any) -> Any:
        """Return the results for arrays."""
        arrays = [asarray(x) for x in args]
        types, single = described(f"kernel {self._name.partition(',')[0]}", self._result, arrays)
        self._require_parameters(len(arrays), len(types))
        if current_trace() is None:
            found: list[Any] = [x.view(Array) for x in run_user_kernel(self.__wrapped__, arrays, types)]
        else:
            attributes = {"call_target_name": TARGET, "has_side_effect": False, "backend_config": self._name}
            found = list(bind(control_flow.CUSTOM_CALL, *arrays, attributes=attributes, results=types))
        return found[0] if single else tuple(found)

    def _require_parameters(self, inputs: int, results: int) -> None:
        try:
            self._signature.bind(*range(inputs + results))
        except TypeError as error:
            name = self._name.partition(",")[0]
            raise SignatureError(
                f"kernel {name}{self._signature} with {counted(inputs, 'input')} and {counted(results, 'result')}",
                where=capture_location(),
                why=str(error),
                fix="it takes the inputs, then an array for each result",
            ) from None


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # code that is not Python's
        return inspect.signature(lambda *arrays: None)


@overload
def kernel(function: Callable[..., Any], /, *, result: Any) -> KernelFunction: ...
@overload
def kernel(function: None = None, /, *, result: Any) -> Callable[[Callable[..., Any]], KernelFunction]: ...
def kernel(function: Callable[..., Any] | None = None, /, *, result: Any) -> Any:
    """Make an op of a function that was written for Numba: called natively from compiled programs, also in loops.

    Parameters
    ----------
    function : callable, optional
        ``function(*inputs, *results)``: gets C-contiguous arrays, those of scalars without dimensions (``x[()]``), and
        fills in the results, which are zeros at first. It must have no other effects, and not keep the arrays. Made by
        `numba.njit`, or plain Python that Numba can compile; what it can't compile is called as Python. Without it a
        decorator is returned.
    result : ShapeDtypeStruct, or tuple of them, or callable
        What the results are: their shapes and dtypes, or a function that says so given those of the inputs.

    Returns
    -------
    callable
        Takes arrays and returns the result, or a tuple of results. Under `vmap` it is called lane by lane.

    Raises
    ------
    ArgumentError
        When called, if a result is described by something that has no shape and dtype, or by a negative extent.
    SignatureError
        When called, if the function does not take as many arrays as there are inputs and results.
    DTypeError
        When called, if a result's dtype is none that arrays have here.

    Notes
    -----
    What the function raises ends the call, also from compiled code; it is called again there, to find out.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel(result=lambda x, decay: x)
    ... def smooth(x, decay, out):
    ...     level = 0.0
    ...     for i in range(x.shape[0]):
    ...         level = level * decay[()] + x[i]
    ...         out[i] = level
    >>> smooth(np.array([1.0, 0.0, 0.0]), 0.5)
    Array([1.  , 0.5 , 0.25])
    """
    if function is None:
        return functools.partial(kernel, result=result)
    require_callable(function, "kernel: function", fix="pass a function, or use kernel as a decorator")
    return KernelFunction(function, result)
