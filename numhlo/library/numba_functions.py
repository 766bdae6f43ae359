"""Functions that users compiled by Numba (`njit`, `vectorize`, `guvectorize`), called with traced arrays.

They are traced through the Python function that Numba compiled, with its branches and loops rewritten as under
``jit(autograph=True)``. One that can't be traced becomes a native kernel if its results are scalars and it writes into
no argument; else the error names it. Numba's classes are known by the package that they are of; Numba is not imported.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.functional import vectorize
from numhlo.library.user_kernels import KernelFunction
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DrawError, NumhloError, UnsupportedError
from numhlo.tracer.building import (
    FUNCTIONS,
    PACKAGES,
    Package,
    ShapeDtypeStruct,
    Tracer,
    asarray,
    convert,
    is_unknown,
    rewriting_callees,
    special_methods,
    tree_leaves,
)

FIX = (
    "write that part with what NumPy has, or make the function an op by numhlo.kernel, which says what its results are"
)

_UNTRACED = (NumhloError, TypeError, AttributeError, NotImplementedError)
"""What tracing raises where a function does something that no traced array can."""


def exchange(callee: Any) -> Any:
    """Return what is called in the place of something of Numba's while tracing."""
    kind = type(callee).__name__
    if isinstance(getattr(callee, "py_func", None), types.FunctionType):
        return functools.wraps(callee.py_func)(lambda *args, **kwargs: _compiled(callee, args, kwargs))
    if kind == "DUFunc":
        return functools.partial(_elementwise, callee)
    if kind == "GUFunc":
        return functools.partial(_of_cores, callee)
    if callee is getattr(sys.modules.get("numba"), "prange", None):
        return range
    return functools.partial(_other, callee)


PACKAGES["numba"] = Package(exchange, lambda _: None)


def _is_traced(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return any(isinstance(x, Tracer) for x in tree_leaves((args, kwargs)))


def _compiled(dispatcher: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that `njit` made: as it is without traced arguments, else as its Python function is traced."""
    if not _is_traced(args, kwargs):
        return _writable(dispatcher(*args, **kwargs), args)
    try:
        return _traced(dispatcher.py_func, args, kwargs)
    except _UNTRACED as error:
        draws = isinstance(error, DrawError)  # a kernel has no effects, and random numbers are one
        call = None if kwargs or draws else _native(dispatcher, args)
        if call is None:
            raise _named(error, dispatcher.__name__, "numba.njit") from error
    return call(*[x for x in args if _is_array(x)])


def _traced(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    with rewriting_callees():
        return special_methods.exchange(function)(*args, **kwargs)


def _writable(result: Any, args: Sequence[Any]) -> Any:
    """Return a result that Numba computed while tracing; arrays that it made as some that programs may write into."""
    if type(result) is tuple:
        return tuple([_writable(x, args) for x in result])
    if type(result) is not np.ndarray or any(x is result for x in args):
        return result
    return FUNCTIONS[np.array](result)


def _named(error: Exception, name: str, decorator: str) -> NumhloError:
    """Return an error that names the function that could not be traced."""
    if not isinstance(error, NumhloError):
        return UnsupportedError(
            f"{name}, made by {decorator}, can't be traced: {error}", where=capture_location(), fix=FIX
        )
    prefix = f"in {name}, made by {decorator}: "
    if prefix not in error.what:
        error.what = f"{prefix}{error.what}"
        error.fix = error.fix or FIX
    return error


# ---------------------------------------------------------------------------------------------------- native kernels


def _is_array(x: Any) -> bool:
    return isinstance(x, Tracer | np.ndarray | np.generic)


def _native(dispatcher: Any, args: Sequence[Any]) -> Any:
    """Return a kernel of the arrays among a function's arguments that calls it natively; None where that isn't safe."""
    described = []
    for x in args:
        if _is_array(x):
            array = asarray(x)
            described.append((array.dtype, array.ndim))
        elif type(x) in (bool, int, float, complex):
            described.append((type(x), x))
        else:
            return None
    return _kernel(dispatcher, tuple(described))


@functools.lru_cache(maxsize=256)
def _kernel(dispatcher: Any, described: tuple[tuple[Any, Any], ...]) -> KernelFunction | None:
    """Return a kernel that calls a compiled function; None unless it returns scalars and takes arrays it can't write.

    Numba refuses to compile writes into arrays that it is told to be read-only.
    """
    support, numba = sys.modules["numba.np.numpy_support"], sys.modules["numba"]
    given = []
    for kind, value in described:
        if isinstance(kind, type):
            given.append(numba.typeof(value))
        elif value:
            given.append(numba.types.Array(support.from_dtype(kind), value, "C", readonly=True))
        else:
            given.append(support.from_dtype(kind))
    try:
        dispatcher.compile(tuple(given))  # at once where it has been
        result = dispatcher.overloads[tuple(given)].signature.return_type
        parts = list(result.types) if isinstance(result, numba.types.BaseTuple) else [result]
        results = [ShapeDtypeStruct((), support.as_dtype(part)) for part in parts]
    except Exception:  # noqa: BLE001 - whatever Numba says of it, there is no such kernel
        return None
    if not all(isinstance(part, numba.types.Number | numba.types.Boolean) for part in parts):
        return None
    is_tuple = isinstance(result, numba.types.BaseTuple)
    function = _caller(dispatcher, described, len(parts) if is_tuple else 0)
    return KernelFunction(function, lambda *_: tuple(results) if is_tuple else results[0])


def _caller(dispatcher: Any, described: Sequence[tuple[Any, Any]], results: int) -> Callable[..., Any]:
    """Return a kernel's function, of arrays and results, that calls a compiled one with scalars where it takes them.

    ``results`` is the number of scalars in the tuple that it returns, 0 where it returns one that is in no tuple.
    """
    names, arguments, constants = [], [], {"compiled": dispatcher}
    for k, (kind, value) in enumerate(described):
        if isinstance(kind, type):
            constants[f"c{k}"] = value
            arguments.append(f"c{k}")
        else:
            names.append(f"a{k}")
            arguments.append(f"a{k}" if value else f"a{k}[()]")
    outs = [f"r{k}" for k in range(max(results, 1))]
    lines = [f"found = compiled({', '.join(arguments)})"]
    lines += [f"{out}[()] = found{f'[{k}]' if results else ''}" for k, out in enumerate(outs)]
    source = f"def call({', '.join([*names, *outs])}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(source, constants)  # noqa: S102 - of names and numbers that are made here
    function: Any = constants["call"]
    function.__name__ = function.__qualname__ = dispatcher.__name__
    return function  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ elementwise functions


def _elementwise(ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that `vectorize` made."""
    if not _is_traced(args, kwargs):
        return _writable(ufunc(*args, **kwargs), args)
    _refuse_options(ufunc, kwargs)
    dtypes = _loop_of(ufunc, args)
    operands = args if dtypes is None else [convert(asarray(x), d) for x, d in zip(args, dtypes, strict=False)]
    try:
        result = vectorize(functools.partial(_call_with, ufunc.__wrapped__))(*operands)
    except _UNTRACED as error:
        raise _named(error, ufunc.__name__, "numba.vectorize") from error
    return result if dtypes is None else convert(result, dtypes[-1])


def _call_with(function: Callable[..., Any], *args: Any) -> Any:
    return _traced(function, args, {})


def _refuse_options(ufunc: Any, kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise UnsupportedError(
            f"{ufunc.__name__}(..., {next(iter(kwargs))}=...) of traced arrays",
            where=capture_location(),
            why="it was made by Numba, and is traced as its Python function",
            fix="call it with arrays alone, and assign the result",
        )


def _loop_of(ufunc: Any, args: Sequence[Any]) -> tuple[np.dtype, ...] | None:
    """Return the dtypes of the loop that NumPy would choose; None where Numba makes one for whatever is given.

    Raises
    ------
    UnsupportedError
        If none of the loops that it was compiled for takes such arrays.
    """
    if not ufunc._frozen:
        return None
    given = [asarray(x).dtype if not _is_weak(x) else None for x in args]
    for loop in ufunc.types:
        found = tuple(np.dtype(c) for c in loop.replace("->", ""))
        if all(d is None or np.can_cast(d, f, "safe") for d, f in zip(given, found, strict=False)):
            return found
    raise UnsupportedError(
        f"{ufunc.__name__} of {', '.join('a number' if d is None else d.name for d in given)}",
        where=capture_location(),
        why=f"it was compiled for {', '.join(ufunc.types)}",
        fix="convert the arrays by astype",
    )


def _is_weak(x: Any) -> bool:
    return type(x) in (bool, int, float, complex) or (isinstance(x, Tracer) and x.weak)


def _of_cores(ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that `guvectorize` made: for each slice of the arrays, with new arrays that it fills in."""
    if not _is_traced(args, kwargs):
        return _writable(ufunc(*args, **kwargs), args)
    _refuse_options(ufunc, kwargs)
    dtypes = _loop_of(ufunc, args)
    if dtypes is None or len(args) != ufunc.nin:
        raise UnsupportedError(
            f"{ufunc.__name__} of {len(args)} arrays, among them traced ones",
            where=capture_location(),
            why="what it returns is told by the types that it was compiled for",
            fix=f"give guvectorize these types, and the function its {ufunc.nin} inputs",
        )
    inputs, outputs = ([_dimensions(g) for g in side.split("),")] for side in ufunc.signature.split("->"))
    are_arrays = [hasattr(t, "ndim") for t in ufunc.gufunc_builder._sigs[0].args[: ufunc.nin]]

    def call(*cores: Any) -> Any:
        extents = {n: e for names, x in zip(inputs, cores, strict=True) for n, e in zip(names, x.shape, strict=True)}
        kinds = zip(cores, inputs, are_arrays, strict=True)
        given = [x.reshape(1) if is_array and not names else x for x, names, is_array in kinds]
        shapes = [tuple(extents[n] for n in names) for names in outputs]
        made = [FUNCTIONS[np.zeros](s or (1,), d) for s, d in zip(shapes, dtypes[ufunc.nin :], strict=True)]
        _traced(ufunc.gufunc_builder.py_func, [*given, *made], {})
        results = [out if shape else out[0] for out, shape in zip(made, shapes, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    operands = [convert(asarray(x), d) for x, d in zip(args, dtypes, strict=False)]
    try:
        return vectorize(call, signature=ufunc.signature)(*operands)
    except _UNTRACED as error:
        raise _named(error, ufunc.__name__, "numba.guvectorize") from error


def _dimensions(group: str) -> list[str]:
    return [name.strip() for name in group.strip(" ()").split(",") if name.strip()]


def _other(callee: Any, *args: Any, **kwargs: Any) -> Any:
    """Call something else of Numba's: a type, which converts, or what has no traced meaning."""
    if not any(is_unknown(x) for x in tree_leaves((args, kwargs))):
        return callee(*args, **kwargs)
    support = sys.modules.get("numba.np.numpy_support")
    try:
        dtype = support.as_dtype(callee)  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - no type that arrays have
        name = getattr(callee, "__name__", None) or type(callee).__name__
        raise UnsupportedError(
            f"{name} of Numba's, called with traced arrays",
            where=capture_location(),
            why="only functions of njit, vectorize and guvectorize are traced, through their Python source",
            fix="use what NumPy or Python has, or make the function an op by numhlo.kernel",
        ) from None
    return convert(asarray(args[0]), dtype)
