"""How a word of kernel source gets its machine code: Numba's typing of a plain Python object that has no decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import infer_global, make_intrinsic_template

Definition = Callable[..., Any]
"""``definition(typing_context, *types) -> (signature, codegen)``, or None where the types don't fit."""


def implement(word: object) -> Callable[[Definition], Definition]:
    """Return a decorator that makes a function the typing and code generation of ``word``.

    Notes
    -----
    This is what ``numba.extending.intrinsic`` does, except that the key is an object which already exists.
    """

    def add(definition: Definition) -> Definition:
        name = getattr(word, "__name__", type(word).__name__)
        template = make_intrinsic_template(word, definition, name, prefer_literal=True)
        infer_global(word, types.Function(template))
        return definition

    return add


def as_int64(context: Any, builder: ir.IRBuilder, value: ir.Value, type: types.Type) -> ir.Value:
    """Return an integer of any Numba type as i64."""
    return context.cast(builder, value, type, types.int64)


def llvm_intrinsic(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
    """Call an LLVM intrinsic by its full name, such as ``llvm.floor.f32``."""
    function_type = ir.FunctionType(result, [a.type for a in arguments])
    function = builder.module.globals.get(name) or ir.Function(builder.module, function_type, name)
    return builder.call(function, arguments)


def type_suffix(type: ir.Type) -> str:
    """Return the suffix that LLVM's overloaded intrinsics carry for a scalar type."""
    if isinstance(type, ir.IntType):
        return f"i{type.width}"
    return {ir.HalfType: "f16", ir.FloatType: "f32", ir.DoubleType: "f64"}[type.__class__]
