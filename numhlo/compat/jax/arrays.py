"""Arrays that never change: what every function under JAX's names returns, and how others' functions are made to.

An array here is NumPy's ndarray, read-only, with JAX's meaning of ``+=``. Traced arrays count as instances.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np

from numhlo.compat.jax.compile_time import OPEN, home_of, home_of_arguments
from numhlo.compat.jax.invalid_values import refuse_invalid
from numhlo.compat.jax.operand_rules import refuse_others
from numhlo.compat.jax.processor import Device, Shard, SingleDeviceSharding, shards_of
from numhlo.compat.jax.saturation import fitting
from numhlo.library.numpy import array_operators, elementwise, rounding, sorting
from numhlo.library.numpy.indexing.at import At, Rules
from numhlo.library.numpy.indexing.index_items import refuse_list_index
from numhlo.library.numpy.linalg.matrix_products import matmul
from numhlo.library.numpy.ufunc_calls import gives_weak
from numhlo.library.sharding.shardings import Sharding
from numhlo.lowering.ir.scoped_values import unsettled
from numhlo.tracer.building.eager import traces_narrow_floats
from numhlo.tracer.core import array as mutable
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.jax_types import HALVES, JaxRules, jax_rules
from numhlo.tracer.core.operands import as_traced, contains_tracer
from numhlo.tracer.core.semantics import immutable_arrays, refuse_write
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.trees.pytree_registration import Partial
from numhlo.tracer.trees.pytrees import tree_leaves, tree_map

P = ParamSpec("P")
R = TypeVar("R")

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


LIKE_ARRAYS: list[type] = []
"""Further classes whose objects JAX has arrays for."""


class _Instances(type):
    """The class of `Array`: traced arrays are instances of it too, as in JAX, and arrays of keys."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (Tracer, *LIKE_ARRAYS)) or super().__instancecheck__(instance)


class Array(mutable.Array, metaclass=_Instances):
    """A concrete array that can't be written."""

    __slots__ = ()
    is_read_only = True

    def __getitem__(self, index: Any) -> Any:
        if contains_tracer(index):
            home = home_of_arguments(index, None) if OPEN else None
            with nullcontext() if home is None else home.resumed():
                return as_traced(self)[index]  # type: ignore[index]
        if type(index) is list:
            refuse_list_index()
        try:
            return frozen(super().__getitem__(index))
        except IndexError:  # JAX clamps integers out of bounds; what is wrong otherwise raises again
            with immutable_arrays():
                return At(self, Rules(finish=frozen))[index].get()

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements along the first axis; NumPy's own iteration ends with the index that is out of bounds."""
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[place] for place in range(len(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        refuse_write("x[index] = value")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if unsettled and context is not None:
            refuse_invalid(context[0].__name__, context[1], array)
        return frozen(array)

    @property
    def at(self) -> At[Self]:
        """Return the array's functional updates; indices out of bounds are dropped, and clamped when read."""
        return At(self, Rules(update_mode="drop", read_mode="clip", finish=frozen))

    @property
    def weak_type(self) -> bool:
        """Return whether the array gives way to others in promotion, as Python's numbers do."""
        return self.is_weak

    @property
    def aval(self) -> ShapeDtypeStruct:
        """Return the shape and dtype, and whether the array is weak."""
        return ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.is_weak)

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype.name}{', weak_type=True' if self.is_weak else ''})"
        width = np.get_printoptions()["linewidth"]
        shown = np.array2string(
            np.asarray(self), prefix="Array(", suffix=",", separator=", ", max_line_width=int(width)
        )
        empty = f" shape={self.shape}," if self.size == 0 else ""
        last = len(shown) - shown.rfind("\n") + len(kind) + len(empty)
        return f"Array({shown},{empty}{chr(10) + ' ' * 6 if last > width else ' '}{kind}"

    def devices(self) -> set[Device]:
        """Return the devices on which the array lies."""
        return set(self.sharding.device_set)

    device = Device()  # type: ignore[assignment] # with attributes that NumPy's lacks
    committed = False
    is_fully_replicated = True
    is_fully_addressable = True

    @property
    def sharding(self) -> Sharding:
        """Return how the array lies on devices: whole, on the first, unless it was told otherwise."""
        return SingleDeviceSharding(Device())

    @property
    def addressable_shards(self) -> list[Shard]:
        """Return the devices' parts."""
        return shards_of(self, self.sharding)

    global_shards = addressable_shards

    def addressable_data(self, index: int) -> Any:
        """Return a device's part."""
        return self.addressable_shards[index].data

    def is_deleted(self) -> bool:
        """Return False; what becomes of arrays that are deleted is in `deleted_arrays`."""
        return False

    def delete(self) -> None:
        """Delete the elements: whatever reads them from now on raises; `deleted_arrays` defines how."""

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
        return frozen(sorting.sort(thawed(self), axis, **options))

    def argsort(self, axis: int | None = -1, *, kind: Any = None, stable: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """Return the indices that sort the array along an axis; those of equal elements keep their order."""
        if kind is None and stable is None:
            stable = True
        return frozen(sorting.argsort(thawed(self), axis, kind, stable=stable, **options))

    def __pos__(self) -> Any:
        """Return the array itself, of any dtype."""
        return self

    def __round__(self, ndigits: Any = None) -> Any:
        """Return rounded elements, as integers if no number of digits is given."""
        return self.round(0).astype(int) if ndigits is None else self.round(ndigits)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> Any:  # type: ignore[override]
        """Return the array partitioned along an axis."""
        return frozen(np.partition(np.asarray(self), kth, axis, **options))


def thawed(x: Any) -> Any:
    """Return an immutable array as a read-only one of numhlo's own class, whose results can be written.

    NumPy's functions write into what they have just made. Arrays of 64 bits have 32 where there are no 64.
    """
    if type(x) in OWN:
        return x.view(mutable.Array)
    if isinstance(x, np.ndarray | np.generic) and x.dtype in HALVES:
        return canonical(x)
    return x


def _thawing(name: str) -> Callable[..., Any]:
    method = getattr(mutable.Array, name)

    @functools.wraps(method)
    def public(self: Any, *args: Any, **options: Any) -> Any:
        if contains_tracer((args, (*options.values(),))):
            return getattr(as_traced(self), name)(*args, **options)
        return tree_map(frozen, method(thawed(self), *args, **options))

    return public


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "astype", "choose", "clip", "compress", "copy",
    "cumprod", "cumsum", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "repeat", "round", "searchsorted",
    "std", "sum", "take", "trace", "var",
):  # fmt: skip
    setattr(Array, _name, _thawing(_name))


_astype_as_numpy = Array.astype


@functools.wraps(_astype_as_numpy)
def _astype(self: Any, dtype: Any, *args: Any, **options: Any) -> Any:
    found = fitting(self, dtype)
    if found is not self:
        self = frozen(found)
    return _astype_as_numpy(self, jax_rules().requested(dtype, "astype"), *args, **options)


Array.astype = _astype  # type: ignore[method-assign]

_clip_widening = Array.clip


def _clip(self: Any, *args: Any, **options: Any) -> Any:
    """Return the array between bounds; bfloat16 and its like stay what they are, as in traced functions."""
    if self.dtype.kind == "V" and not contains_tracer((args, (*options.values(),))):
        return frozen(rounding.clip(thawed(self), *args, **options))
    return _clip_widening(self, *args, **options)


Array.clip = _clip  # type: ignore[method-assign]


CLOSED = frozenset(np.dtype(c) for c in "efdFD")
"""Dtypes of which NumPy's operators give the same dtype again, beside Python's numbers of no wider kind, too."""

CLOSED_BESIDE: dict[type, frozenset[np.dtype]] = {
    int: CLOSED,
    float: CLOSED,
    complex: frozenset(np.dtype(c) for c in "FD"),
}


def _operator(name: str, method_name: str, ufunc: Any, reflected: bool) -> Callable[[Any, Any], Any]:
    method = getattr(mutable.Array, method_name)

    @functools.wraps(method)
    def operator(self: Any, other: Any) -> Any:
        dtype, kind = self.dtype, type(other)
        if dtype in CLOSED and type(self) is Array:
            closed = other.dtype is dtype if kind is Array else dtype in CLOSED_BESIDE.get(kind, ())
            if closed and name not in SPECIAL:
                with np.errstate(all="ignore"):
                    return method(self, other)
        if not isinstance(other, OPERANDS):
            return method(self, other)
        return typed_ufunc(ufunc, other, self) if reflected else typed_ufunc(ufunc, self, other)

    return operator


SPECIAL = ("divmod", "pow")
"""Operators that are never NumPy's own."""

OPERANDS = (np.ndarray, np.generic, bool, int, float, complex)
"""Classes of what operators take; NumPy's operator says what becomes of others."""

BITWISE = ("and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def typed_ufunc(ufunc: Any, *operands: Any) -> Any:
    """Return an elementwise function of arrays and numbers under JAX's rules, weak where all of them are."""
    if current_trace() is None and any(isinstance(x, Tracer) for x in operands):
        with _home_of_operands(operands).resumed():
            return typed_ufunc(ufunc, *operands)
    with immutable_arrays():
        found = ufunc(*operands)
        weak = gives_weak(ufunc.ufunc, operands)
        if unsettled:
            refuse_invalid(ufunc.__name__, (operands, {}), found)
        return tuple([as_result(x, weak) for x in found]) if isinstance(found, tuple) else as_result(found, weak)


def _home_of_operands(operands: Sequence[Any]) -> Trace:
    """Return the open trace that operands belong to; raise where it has ended."""
    home = home_of(operands)
    if home is None:
        for x in operands:
            if isinstance(x, Tracer):
                Trace(None).read(x)  # raises
        raise AssertionError("a trace is open or has ended")
    return home


def as_result(x: Any, weak: bool) -> Any:
    """Return a result as an immutable array, weak or not; traced arrays, too."""
    if isinstance(x, Tracer):
        if x.weak != weak:
            x = Tracer(x.cell, x.steps, x.aval)
            x.weak = weak
        return x
    made = frozen(x)
    wanted = WeakArray if weak else Array
    return made if type(made) is wanted or type(made) not in OWN else made.view(wanted)


def _unary(name: str, ufunc: Any) -> Callable[[Any], Any]:
    @functools.wraps(getattr(mutable.Array, name))
    def operator(self: Any) -> Any:
        return typed_ufunc(ufunc, self)

    return operator


for _name in (*ARITHMETIC, "divmod", *BITWISE):
    _ufunc = array_operators.BINARY[_name] if _name != "pow" else elementwise.power
    setattr(Array, f"__{_name}__", _operator(_name, f"__{_name}__", _ufunc, False))
    setattr(Array, f"__r{_name}__", _operator(_name, f"__r{_name}__", _ufunc, True))
for _name in COMPARISONS:
    setattr(Array, f"__{_name}__", _operator(_name, f"__{_name}__", array_operators.COMPARISONS[_name], False))
for _name, _ufunc in array_operators.UNARY.items():
    setattr(Array, f"__{_name}__", _unary(f"__{_name}__", _ufunc))


class WeakArray(Array):
    """An immutable array that gives way to others in promotion: what functions make of Python's numbers alone."""

    __slots__ = ()
    is_weak = True


OWN = {Array, WeakArray}
"""Classes of concrete immutable arrays; to ask `isinstance` would find traced ones, too."""

Array.weak_class = JaxRules.weak_class = WeakArray
WeakArray.__name__ = WeakArray.__qualname__ = "Array"


_narrow_product = traces_narrow_floats(matmul)


def _matmul(self: Any, other: Any) -> Any:
    """Return the product, of bfloat16 and its like in their own dtype, as in traced functions."""
    if self.dtype.kind == "V" and isinstance(other, np.ndarray):
        return frozen(_narrow_product(thawed(self), thawed(other)))
    return mutable.Array.__matmul__(self, other)


Array.__matmul__ = _matmul  # type: ignore[method-assign]


def _rebinding(name: str) -> Callable[[Any, Any], Any]:
    binary, reflected = f"__{name}__", f"__r{name}__"

    def operator(self: Any, other: Any) -> Any:
        result = getattr(self, binary)(other)
        return getattr(other, reflected)(self) if result is NotImplemented else result

    return operator


refuse_others(Array)
for _name in mutable.IN_PLACE:
    setattr(Array, f"__i{_name}__", _rebinding(_name))


def frozen(x: Any) -> Any:
    """Return an array (or a NumPy scalar) as an immutable one, of 32 bits where there are no 64; else unchanged."""
    if type(x) in OWN:
        return x
    if isinstance(x, np.generic) and not isinstance(x, np.void):  # an element of float0 is taken apart to be printed
        x = np.asarray(x)
    if not isinstance(x, np.ndarray):
        return x
    result = canonical(x).view(Array)
    result.flags.writeable = False
    return result


def canonical(x: Any) -> Any:
    """Return a concrete array of the dtype that JAX's rules have for its own."""
    dtype = jax_rules().canonical(x.dtype)
    if dtype == x.dtype:
        return x
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def immutable_functions(x: Any) -> Any:
    """Return a partial function as one that returns immutable arrays; anything else unchanged."""
    return Partial(immutably(x.func), *x.args, **x.keywords) if isinstance(x, Partial) else x


def _own(x: Any, arguments: list[np.ndarray]) -> Any:
    """Return a result as an immutable array that no writable argument can change; functions in it return such, too."""
    if isinstance(x, Partial):
        args, keywords = tree_map(lambda leaf: _own(leaf, arguments), (x.args, x.keywords))
        return immutable_functions(Partial(x.func, *args, **keywords))
    if isinstance(x, np.ndarray) and any(np.may_share_memory(x, a) for a in arguments):
        x = np.array(x)
    if callable(x) and not isinstance(x, type):
        return immutably(x)
    return frozen(x)


LEAVES = {
    Array,
    WeakArray,
    mutable.Array,
    np.ndarray,
    Tracer,
    bool,
    int,
    float,
    complex,
    str,
    type(None),
    *np.sctypeDict.values(),
}
"""Classes of what has no parts and is no function: what nearly all arguments are, which need not be taken apart."""


def leaves_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """Return arguments that are leaves, or tuples and lists of leaves, as one list; None where there are others."""
    found: list[Any] = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        kind = type(x)
        if kind in LEAVES:
            found.append(x)
        elif kind in (tuple, list) and LEAVES.issuperset(map(type, x)):
            found += x
        else:
            return None
    return found


FINISHED = {Array, WeakArray, Tracer}
"""Classes of results that need nothing more."""


def immutably(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that runs, and is traced, under JAX's rules, and returns immutable arrays."""

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> R:
        if OPEN and (home := home_of_arguments(args, kwargs)) is not None:
            with home.resumed():
                return public(*args, **kwargs)
        with immutable_arrays():
            result = function(*args, **kwargs)
        if unsettled:
            refuse_invalid(getattr(function, "__name__", "a function"), (args, kwargs), result)
        if type(result) in FINISHED:
            return result
        leaves = leaves_of(args, kwargs)
        given = tree_leaves((args, kwargs)) if leaves is None else leaves
        writable = [x for x in given if isinstance(x, np.ndarray) and x.flags.writeable]
        owned: R
        if type(result) is mutable.Array:
            owned = _own(result, writable)
        else:
            owned = tree_map(lambda x: _own(x, writable), result, is_leaf=lambda x: isinstance(x, Partial))
        return owned

    return public
