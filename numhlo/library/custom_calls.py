"""`custom_call`: a user's function, in Python or native, as what ``stablehlo.custom_call`` of a name reaches.

The name alone ties a program to the function, so text that names it runs, is batched and differentiated like what was
traced. `user_rules` turns users' rules into the tracer's; how native functions are called is in
`numhlo.lowering.ops.native_functions`. `kernel` is for functions that Numba is to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.library.result_descriptions import described
from numhlo.library.user_rules import Batching, as_rules
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.custom_call_attributes import alias_text
from numhlo.lowering.ops.custom_calls import Target, register_target
from numhlo.lowering.ops.implementations import on_native, on_python
from numhlo.lowering.ops.memory_layouts import Layout
from numhlo.lowering.ops.native_functions import TYPED, native_function
from numhlo.lowering.ops.primitive import RESULT_TYPES
from numhlo.lowering.ops.typed_calls import check_handlers, register_types
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.tracer.building import Array, Tracer, asarray, bind, current_trace, require_callable, tree_leaves

Layouts = Sequence[Layout | Sequence[int] | None]
_PLAIN = (bool, int, float, str, np.generic, np.ndarray)


def require_plain_option(what: str, name: str, value: Any) -> None:
    """Raise unless a value can stand in a program's text.

    Parameters
    ----------
    what : str
        Whose option it is, for messages.
    name : str
    value : object
    """
    if any(isinstance(leaf, Tracer) or not isinstance(leaf, _PLAIN) for leaf in tree_leaves(value)):
        raise ArgumentError(
            f"{what}: the option {name} is of class {type(value).__name__}",
            where=capture_location(),
            why="options stand in the program's text: numbers, flags, texts, arrays of numbers, and tuples of them",
            fix="pass what is traced as an argument by position",
        )


class CustomCall:
    """A registered function, to be called with arrays, traced or not.

    Attributes
    ----------
    name : str
        The ``call_target_name``.
    """

    def __init__(
        self,
        target: Target,
        name: str,
        result: Any,
        version: int,
        *,
        layouts: tuple[Layouts | None, ...] = (None, None),
        aliases: Mapping[int, int] | None = None,
        effect: bool = False,
    ) -> None:
        self.name = self.__name__ = name
        self._target, self._result, self._version = target, result, version
        self._layouts, self._aliases, self._effect = layouts, aliases or {}, effect

    def __repr__(self) -> str:
        return f"<custom_call {self.name}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return the result, or a tuple of results, for arrays; options are fixed while tracing."""
        arrays = [asarray(x) for x in args]
        types, single = described(f"custom_call {self.name}", self._result, arrays, options)
        attributes = {
            "call_target_name": self.name,
            "has_side_effect": self._effect,
            "backend_config": self._configuration(options),
            "api_version": self._version,
            **self._layout_attributes([x.ndim for x in arrays], [t.ndim for t in types]),
            **self._alias_attributes([TensorType(x.shape, x.dtype) for x in arrays], types),
        }
        if current_trace() is None:
            full = {**control_flow.CUSTOM_CALL.defaults, **attributes, RESULT_TYPES: types}
            plain = [np.asarray(x) for x in arrays]
            found = [np.asarray(x).view(Array) for x in self._target.function(plain, full)]
        else:
            found = list(bind(control_flow.CUSTOM_CALL, *arrays, attributes=attributes, results=types))
        return found[0] if single else tuple(found)

    def _configuration(self, options: Mapping[str, Any]) -> Any:
        if self._version != TYPED:
            text = options.get("backend_config", "")
            if set(options) - {"backend_config"} or not isinstance(text, str):
                raise ArgumentError(
                    f"custom_call {self.name}: options {', '.join(sorted(options))}",
                    where=capture_location(),
                    why=f"a function of api_version {self._version} gets no options, but for a text",
                    fix="pass them as arrays, as backend_config='text' (api_version 3), or use XLA's typed form",
                )
            return text
        for name, value in options.items():
            require_plain_option(f"custom_call {self.name}", name, value)
        return {name: value for name, value in sorted(options.items()) if value is not None}

    def _alias_attributes(self, operands: Sequence[TensorType], results: Sequence[TensorType]) -> dict[str, Any]:
        for operand, result in self._aliases.items():
            there = 0 <= operand < len(operands) and 0 <= result < len(results)
            if not there or operands[operand] != results[result]:
                found = f"{operands[operand].short()}, {results[result].short()}" if there else "not there"
                raise ArgumentError(
                    f"custom_call {self.name}: input_output_aliases of operand {operand} and result {result}: {found}",
                    where=capture_location(),
                    why="what shares memory has one type",
                )
        texts = [alias_text(result, len(results), operand) for operand, result in self._aliases.items()]
        return {"output_operand_aliases": tuple(map(ForeignAttribute, texts))} if texts else {}

    def _layout_attributes(self, operands: Sequence[int], results: Sequence[int]) -> dict[str, Any]:
        if self._layouts == (None, None):
            return {}
        found = {}
        for what, given, ranks in zip(("operand", "result"), self._layouts, (operands, results), strict=True):
            chosen = [None] * len(ranks) if given is None else list(given)
            if len(chosen) != len(ranks):
                raise ArgumentError(
                    f"custom_call {self.name}: {what}_layouts has {len(chosen)}, and there are {len(ranks)} {what}s",
                    where=capture_location(),
                    fix="give one for each, None for C's order",
                )
            layouts = [_layout(one, ndim) for one, ndim in zip(chosen, ranks, strict=True)]
            for number, (layout, ndim) in enumerate(zip(layouts, ranks, strict=True)):
                if layout.ndim != ndim:
                    raise ArgumentError(
                        f"custom_call {self.name}: the layout {layout} of {what} {number}, of {ndim} dimensions",
                        where=capture_location(),
                    )
            found[f"{what}_layouts"] = tuple([ForeignAttribute(layout.attribute) for layout in layouts])
        return found


def _layout(given: Layout | Sequence[int] | None, ndim: int) -> Layout:
    if given is None:
        return Layout.row_major(ndim)
    return given if isinstance(given, Layout) else Layout(given)


def custom_call(  # noqa: PLR0913 - options by keyword
    name: str,
    implementation: Any,
    *,
    result: Any,
    api_version: int | None = None,
    batching: Batching = "sequential",
    jvp: Callable[..., Any] | None = None,
    transpose: Callable[..., Any] | None = None,
    linear: Sequence[int] | None = None,
    operand_layouts: Layouts | None = None,
    result_layouts: Layouts | None = None,
    has_side_effect: bool = False,
    types: Mapping[str, Any] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
) -> CustomCall:
    """Register what ``stablehlo.custom_call`` of a name runs, and return a function that puts such calls into programs.

    Parameters
    ----------
    name : str
        The ``call_target_name``; programs read from text reach the implementation by it, too.
    implementation : object
        A Python function of NumPy arrays that returns an array or a tuple of them; or native code: a function of
        `numba.cfunc`, a function of `ctypes`, a ``PyCapsule`` that holds an address, such as `jax.ffi.pycapsule` makes,
        or a mapping of such by XLA's names of the stages. Compiled programs call native code by its address, on the
        buffers as they lie, without Python and without the GIL.
    result : ShapeDtypeStruct, or tuple of them, or callable
        What the results are; or a function that says so, given shapes and dtypes of the inputs, and options.
    api_version : int, optional
        How native code is called: 1 is ``void f(void *out, const void **in)`` (``void **out`` unless there is one
        result), 2 adds a status, 3 an opaque text, its length and a status, 4 is XLA's typed form
        ``XLA_FFI_Error *f(XLA_FFI_CallFrame *)``. By default 4 for capsules, and 1 for all else.
    batching : {"sequential", "expand_dims", "broadcast_all"} or callable, optional
        Under `vmap`: call it example by example; once, on arrays with the examples as a leading axis (of extent 1, with
        ``"expand_dims"``, where the examples share an array); or by ``rule(axis_size, in_batched, *arrays, **options)
        -> (results, out_batched)``, as in `custom_vmap`.
    jvp : callable, optional
        ``jvp(primals, tangents, results, **options)`` returns the results' tangents, None for zero.
    transpose : callable, optional
        ``transpose(cotangents, *arrays, **options)`` returns a cotangent for each operand, None for those that are
        given; operands that it is linear in are None.
    linear : sequence of int, optional
        The operands that the call is linear in, all together. By default all, if ``transpose`` is given without
        ``jvp``; then its derivative is the call itself.
    operand_layouts, result_layouts : sequence, optional
        A `Layout`, its ``minor_to_major``, or None for C's order, for each operand and result: how arrays lie in the
        memory that the implementation gets, and where it writes.
    has_side_effect : bool, optional
        Whether calls must neither be left out nor repeated.
    types : mapping of str to PyCapsule, optional
        Of handlers that keep state: where the numbers of its types are kept, by the types' names.
    input_output_aliases : mapping of int to int, optional
        By operand, the result that has its memory: a native function gets both at one address, where the operand's
        elements are. The operand itself is left as it was.

    Returns
    -------
    callable
        Takes arrays by position and options by keyword; returns the result, or a tuple of results.

    Raises
    ------
    ArgumentError
        If the name is taken, or something is given that the implementation has no use for.
    ShapeError, DTypeError
        When called, if a Python implementation returns something else than was described.
    NativeCallError
        When called, if a native implementation says that it failed.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> scaled = custom_call(
    ...     "doctest.scaled",
    ...     lambda x, factor: factor * x,
    ...     result=lambda x, factor: x,
    ...     batching="broadcast_all",
    ...     transpose=lambda ct, x, factor: (scaled(ct, factor=factor),),
    ... )
    >>> scaled(np.array([1.0, 2.0]), factor=3.0)
    Array([3., 6.])
    >>> numhlo.grad(lambda x: (scaled(x, factor=3.0) ** 2).sum())(np.array([1.0, 2.0]))
    Array([18., 36.])
    >>> text = numhlo.jit(lambda x: scaled(x, factor=3.0)).lower(np.ones(2)).as_text()
    >>> numhlo.stablehlo.parse(text).run("main", np.array([1.0, 2.0]))
    (Array([3., 6.]),)
    """
    _require_name(name)
    native = native_function(name, implementation, api_version)
    if native is None:
        require_callable(implementation, f"custom_call {name}: implementation")
    elif native.version == TYPED:
        register_types(name, types or {})
        check_handlers(native)
    function = on_python(f"custom_call {name}", implementation) if native is None else on_native(native)
    rules = as_rules(name, batching, jvp, transpose, linear)
    target = Target(function, native, rules, capture_location())
    register_target(name, target)
    version = TYPED if native is None else native.version
    layouts = operand_layouts, result_layouts
    return CustomCall(
        target, name, result, version, layouts=layouts, aliases=input_output_aliases, effect=has_side_effect
    )


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ArgumentError(
            f"custom_call: the name {name!r}",
            where=capture_location(),
            fix='give a text, with a namespace of your own: "my_library.solve"',
        )
