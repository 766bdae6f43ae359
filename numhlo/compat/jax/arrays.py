"""Arrays that never change: what every function under JAX's names returns, and how others' functions are made to.

An array here is NumPy's ndarray, read-only, with JAX's meaning of ``+=``. Traced arrays count as instances.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from numhlo.compat.jax.processor import Device
from numhlo.tracer import array as mutable
from numhlo.tracer.namespace.at import At, Rules
from numhlo.tracer.pytree_registration import Partial
from numhlo.tracer.pytrees import tree_leaves, tree_map
from numhlo.tracer.semantics import immutable_arrays, refuse_write
from numhlo.tracer.trace import Tracer

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul")


class _Instances(type):
    """The class of `Array`: traced arrays are instances of it too, as in JAX."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tracer) or super().__instancecheck__(instance)


class Array(mutable.Array, metaclass=_Instances):
    """A concrete array that can't be written."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return frozen(super().__getitem__(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        refuse_write("x[index] = value")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return frozen(array)

    @property
    def at(self) -> At:
        """Return the array's functional updates; indices out of bounds are dropped, and read as NaN."""
        return At(self, Rules(update_mode="drop", read_mode="fill", finish=frozen))

    @property
    def weak_type(self) -> bool:
        """Return False: Python's numbers are weak here, arrays are not."""
        return False

    def devices(self) -> set[Device]:
        """Return the one device."""
        return {Device("cpu")}

    def is_ready(self) -> bool:
        """Return True: calls return when they are done."""
        return True

    def copy_to_host_async(self) -> None:
        """Do nothing: there is one memory."""

    def ptp(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the greatest minus the least element."""
        return frozen(np.ptp(np.asarray(self), axis, keepdims=keepdims))

    def fill(self, value: Any) -> None:
        """Refuse: arrays are immutable."""
        refuse_write("x.fill(value)")

    def put(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: arrays are immutable."""
        refuse_write("x.put(indices, values)")

    def sort(self, axis: int = -1, **options: Any) -> Any:  # type: ignore[override]
        """Return the array sorted along an axis."""
        return frozen(np.sort(np.asarray(self), axis, **options))

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> Any:  # type: ignore[override]
        """Return the array partitioned along an axis."""
        return frozen(np.partition(np.asarray(self), kth, axis, **options))


def thawed(x: Any) -> Any:
    """Return an immutable array as a read-only one of numhlo's own class, whose results can be written.

    NumPy's functions write into what they have just made.
    """
    return x.view(mutable.Array) if type(x) is Array else x


def _thawing(name: str) -> Callable[..., Any]:
    method = getattr(mutable.Array, name)

    @functools.wraps(method)
    def public(self: Any, *args: Any, **options: Any) -> Any:
        return tree_map(frozen, method(thawed(self), *args, **options))

    return public


for _name in ("mean", "nonzero", "round", "std", "var"):
    setattr(Array, _name, _thawing(_name))


def with_weak_numbers(operands: Iterable[Any]) -> list[Any]:
    """Return operands with Python's numbers in the dtype of a float that ml_dtypes defines, if one is among them.

    NumPy widens such arrays beside them: bfloat16 times 0.5 is float32 there, and bfloat16 in JAX.
    """
    found = list(operands)
    narrow = next((x.dtype for x in found if isinstance(x, np.ndarray) and x.dtype.kind == "V"), None)
    return found if narrow is None else [narrow.type(x) if type(x) in (int, float) else x for x in found]


def _with_weak_number(name: str) -> Callable[[Any, Any], Any]:
    method = getattr(mutable.Array, name)

    @functools.wraps(method)
    def operator(self: Any, other: Any) -> Any:
        if self.dtype.kind == "V":
            other = with_weak_numbers((self, other))[1]
        return method(self, other)

    return operator


for _name in ARITHMETIC:
    setattr(Array, f"__{_name}__", _with_weak_number(f"__{_name}__"))
    setattr(Array, f"__r{_name}__", _with_weak_number(f"__r{_name}__"))


def _rebinding(name: str) -> Callable[[Any, Any], Any]:
    binary, reflected = f"__{name}__", f"__r{name}__"

    def operator(self: Any, other: Any) -> Any:
        result = getattr(self, binary)(other)
        return getattr(other, reflected)(self) if result is NotImplemented else result

    return operator


for _name in IN_PLACE:
    setattr(Array, f"__i{_name}__", _rebinding(_name))


def frozen(x: Any) -> Any:
    """Return an array (or a NumPy scalar) as an immutable one; anything else unchanged."""
    if isinstance(x, np.generic):
        x = np.asarray(x)
    if not isinstance(x, np.ndarray):
        return x
    result = x.view(Array)
    result.flags.writeable = False
    return result


def _own(x: Any, arguments: list[np.ndarray]) -> Any:
    """Return a result as an immutable array that no writable argument can change; functions in it return such, too."""
    if isinstance(x, Partial):
        args, keywords = tree_map(lambda leaf: _own(leaf, arguments), (x.args, x.keywords))
        return Partial(immutably(x.func), *args, **keywords)
    if isinstance(x, np.ndarray) and any(np.may_share_memory(x, a) for a in arguments):
        x = np.array(x)
    if callable(x) and not isinstance(x, type):
        return immutably(x)
    return frozen(x)


def immutably(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs, and is traced, under JAX's rules, and returns immutable arrays."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        with immutable_arrays():
            result = function(*args, **kwargs)
        if type(result) is Array:
            return result
        writable = [x for x in tree_leaves((args, kwargs)) if isinstance(x, np.ndarray) and x.flags.writeable]
        return tree_map(lambda x: _own(x, writable), result, is_leaf=lambda x: isinstance(x, Partial))

    return public
