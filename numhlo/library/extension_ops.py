"""`define_op`: an op of a user's dialect, with its type rule, meaning, kernel and rules, from outside the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.library.custom_calls import require_plain_option
from numhlo.library.result_descriptions import described
from numhlo.library.traced_meanings import TracedMeaning
from numhlo.library.user_rules import Batching, as_rules
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType, Type, capture_location
from numhlo.lowering.ir.errors import ArgumentError, VerificationError
from numhlo.lowering.ops.extension_ops import ExtensionOp, add_extension_op, find_extension_op, require_free_name
from numhlo.lowering.ops.implementations import on_native, on_python
from numhlo.lowering.ops.native_functions import TYPED, NativeFunction, native_function
from numhlo.lowering.ops.primitive import (
    MISSING,
    RESULT_TYPES,
    Arrays,
    Attribute,
    EvaluateRule,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.typed_calls import check_handlers
from numhlo.lowering.passes.simplify_extension_ops import inline_meaning
from numhlo.tracer.building import Array, ShapeDtypeStruct, asarray, bind, current_trace, require_callable

REQUIRED: Any = MISSING
"""The default of an attribute that must be given."""


class DefinedOp:
    """An op of a user's dialect, as a function of arrays, traced or not; made by `define_op`.

    Parameters
    ----------
    definition : ExtensionOp
        The record: what an `Op` in a program has as its definition.
    result : ShapeDtypeStruct, or tuple of them, or callable
        What the results are.

    Examples
    --------
    >>> import numhlo, numpy as np
    >>> numhlo.extending.define_op("doctest.twice", result=lambda x: x, implementation=lambda x: 2 * x)
    <op doctest.twice>
    """

    def __init__(self, definition: ExtensionOp, result: Any) -> None:
        self.definition, self._result = definition, result
        self.__name__ = definition.full_name

    def __repr__(self) -> str:
        return f"<op {self.__name__}>"

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        """Return the result, or a tuple of results, for arrays; attributes are fixed while tracing."""
        self._require_known(attributes)
        full = {**self.definition.defaults, **attributes}
        arrays = [asarray(x) for x in args]
        types, single = described(self.__name__, self._result, arrays, full)
        if current_trace() is None:
            _require_allowed(self.definition, [TensorType(x.shape, x.dtype) for x in arrays], full)
            plain = [np.asarray(x) for x in arrays]
            found = [np.asarray(x).view(Array) for x in self.definition.evaluate(plain, full, ())]
        else:
            found = list(bind(self.definition, *arrays, attributes=full))
        assert len(found) == len(types)
        return found[0] if single else tuple(found)

    def _require_known(self, attributes: Mapping[str, Any]) -> None:
        known = {a.name: a for a in self.definition.attributes}
        missing = [a.name for a in known.values() if a.is_required and a.name not in attributes]
        unknown = [name for name in attributes if name not in known]
        for wrong, what in ((missing, "is missing"), (unknown, "is not known")):
            if not wrong:
                continue
            raise ArgumentError(
                f"{self.__name__}: the attribute {wrong[0]} {what}",
                where=capture_location(),
                why=f"its attributes are {', '.join(known) or 'none'}",
            )
        for name, value in attributes.items():
            require_plain_option(self.__name__, name, value)


def define_op(  # noqa: PLR0913 - options by keyword
    name: str,
    *,
    result: Any,
    implementation: Callable[..., Any] | None = None,
    decomposition: Callable[..., Any] | None = None,
    kernel: Any = None,
    api_version: int | None = None,
    attributes: Mapping[str, Any] | None = None,
    verify: Callable[..., Any] | None = None,
    batching: Batching = "sequential",
    jvp: Callable[..., Any] | None = None,
    transpose: Callable[..., Any] | None = None,
    linear: Sequence[int] | None = None,
    has_side_effect: bool = False,
) -> DefinedOp:
    """Define an op of a dialect of your own, and return a function that puts it into programs.

    Parameters
    ----------
    name : str
        With its dialect: ``"my_dialect.rotate"``.
    result : ShapeDtypeStruct, or tuple of them, or callable
        The type rule: what the results are; or a function that says so, given shapes and dtypes of the operands, and
        attributes. Programs whose ops record other types are refused.
    implementation : callable, optional
        ``implementation(*arrays, **attributes)`` on NumPy arrays: what the reference interpreter runs.
    decomposition : callable, optional
        ``decomposition(*arrays, **attributes)`` in traced code: what the op means in other ops. Compiled programs have
        that in its place. One of the two must be given.
    kernel : object, optional
        Native code that compiled programs call, as `custom_call` takes it.
    api_version : int, optional
        How the kernel is called, see `custom_call`.
    attributes : mapping of str to object, optional
        The attributes by name, with their defaults; `REQUIRED` for those that must be given.
    verify : callable, optional
        ``verify(*operands, **attributes)`` gets shapes and dtypes, and returns what is wrong as a text, else None.
    batching, jvp, transpose, linear
        As of `custom_call`. What is left out follows from the decomposition, where there is one.
    has_side_effect : bool, optional
        Whether the op must neither be left out nor repeated.

    Returns
    -------
    DefinedOp
        Takes arrays by position and attributes by keyword; returns the result, or a tuple of results.

    Raises
    ------
    ArgumentError
        If the name is none of a dialect of your own, or is taken, or nothing says what the op computes.
    VerificationError
        When called, or when a program is verified, if operands or attributes are not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> rotate = numhlo.extending.define_op(
    ...     "doctest.rotate",
    ...     result=lambda x, steps: x,
    ...     attributes={"steps": 1},
    ...     verify=lambda x, steps: None if x.shape else "a scalar can't be rotated",
    ...     decomposition=lambda x, steps: np.concatenate([x[steps:], x[:steps]]),
    ... )
    >>> rotate(np.array([1.0, 2.0, 3.0]))
    Array([2., 3., 1.])
    >>> print(numhlo.jit(rotate).lower(np.ones(3)).as_text().splitlines()[2].strip())
    %0 = "doctest.rotate"(%arg0) <{steps = 1 : i64}> : (tensor<3xf64>) -> tensor<3xf64>
    >>> numhlo.grad(lambda x: rotate(x, steps=2)[0] ** 2)(np.array([1.0, 2.0, 3.0]))
    Array([0., 0., 6.])
    """
    require_free_name(name)
    if implementation is None and decomposition is None:
        raise ArgumentError(
            f"define_op: nothing says what {name} computes",
            where=capture_location(),
            fix="give an implementation on NumPy arrays, or a decomposition in traced code",
        )
    for role, function in (("implementation", implementation), ("decomposition", decomposition), ("verify", verify)):
        if function is not None:
            require_callable(function, f"define_op {name}: {role}")
    native = _kernel(name, kernel, api_version)
    meaning = None if decomposition is None else TracedMeaning(name, decomposition)
    dialect, _, mnemonic = name.partition(".")
    definition = ExtensionOp(
        mnemonic,
        _infer(name, result, verify),
        _evaluate(name, result, implementation, meaning, native),
        attributes=tuple([Attribute(key, "any", default) for key, default in (attributes or {}).items()]),
        dialect=dialect,
        rules=as_rules(name, batching, jvp, transpose, linear, options=lambda op: dict(op.attributes)),
        decompose=meaning,
        where=capture_location(),
        operands=("*operands",),
        has_effects=has_side_effect,
        native=native,
    )
    add_extension_op(definition)
    if meaning is not None and native is None:
        inline_meaning(definition)
    return DefinedOp(definition, result)


def _kernel(name: str, kernel: Any, version: int | None) -> NativeFunction | None:
    if kernel is None:
        return None
    native = native_function(name, kernel, version)
    if native is None:
        raise ArgumentError(
            f"define_op {name}: the kernel is of class {type(kernel).__name__}",
            where=capture_location(),
            why="a kernel is native code: a function of numba.cfunc or ctypes, or a PyCapsule",
            fix="give Python as implementation; call numhlo.kernel in a decomposition for what Numba compiles",
        )
    if native.version == TYPED:
        check_handlers(native)
    return native


def _require_allowed(definition: ExtensionOp, types: Sequence[Type], attributes: Mapping[str, Any]) -> None:
    """Raise unless a definition's own rule takes operands and attributes."""
    definition.infer(Signature(definition.full_name, types, attributes, (), None, capture_location()))


def _infer(name: str, result: Any, verify: Callable[..., Any] | None) -> Callable[[Signature], Sequence[Type]]:
    """Return an op's type rule; where extents are open, what the program records is believed."""

    def infer(signature: Signature) -> Sequence[Type]:
        types = signature.operands
        options = {key: value for key, value in signature.attributes.items() if key in known(signature)}
        if not all(isinstance(t, TensorType) for t in types):
            raise _refused(name, signature, "operands must be tensors")
        tensors = signature.tensors
        if not all(t.is_static for t in tensors) and signature.results is not None:
            return list(signature.results)
        structs = [ShapeDtypeStruct(t.shape, t.dtype) for t in tensors]
        wrong = None if verify is None else verify(*structs, **options)
        if wrong:
            raise _refused(name, signature, str(wrong))
        return list(described(name, result, structs, options).types)

    def known(signature: Signature) -> set[str]:
        definition = find_extension_op(name)
        return set(signature.attributes) if definition is None else {a.name for a in definition.attributes}

    return infer


def _refused(name: str, signature: Signature, rule: str) -> VerificationError:
    shown = ", ".join(t.short() if isinstance(t, TensorType) else str(t) for t in signature.operands)
    definition = find_extension_op(name)
    where = None if definition is None else definition.where
    why = "its definition" if where is None else f"its definition at {where.point()}"
    return VerificationError(f"{name}({shown}): {rule}", where=signature.location, why=why)


def _evaluate(
    name: str,
    result: Any,
    implementation: Callable[..., Any] | None,
    meaning: TracedMeaning | None,
    native: NativeFunction | None,
) -> EvaluateRule:
    """Return what an op means on NumPy arrays: the implementation, else the kernel, else the decomposition."""
    run = None if native is None else on_native(native)
    run = run if implementation is None else on_python(name, implementation)

    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        if run is None:
            assert meaning is not None
            return interpret(meaning([TensorType(a.shape, a.dtype) for a in arrays], attributes), arrays)
        types = described(name, result, arrays, attributes).types
        return run(arrays, {"backend_config": attributes, RESULT_TYPES: types})

    return evaluate
