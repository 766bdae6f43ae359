"""Teaches Numba the functions of `numhlo.backend.vector_math`.

A function's body is compiled once a process and forced inline into every kernel, with NumPy's error model: a division
that may raise would be a branch, and branches keep a loop from becoming SIMD code.

The one branch that vector math needs is `rescue`. It is a call of a small function that comes in a scalar and in
several vector variants, which LLVM's vectorizer knows from the call's ``vector-function-abi-variant``; a vector variant
looks whether any lane needs the slow path, and only then goes through the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature as make_signature
from numba.extending import overload

import numhlo.backend.vector_math  # noqa: F401 - fills JITABLE
from numhlo.backend.compiler.intrinsics.registration import implement, llvm_intrinsic
from numhlo.backend.compiler.pipelines import FunctionPipeline
from numhlo.backend.vector_math.jitable import (
    JITABLE,
    SPLIT,
    TABLES,
    Table,
    horner,
    polynomial,
    rescue,
    rescue_pair,
)

OPTIONS = {"forceinline": True, "error_model": "numpy", "pipeline_class": FunctionPipeline}
LANES = (2, 4, 8, 16)
DOUBLE, INT64, INT32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


def _giving(body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *_types: body


_registered: set[Callable[..., Any]] = set()


def register_jitable(functions: Iterable[Callable[..., Any]]) -> None:
    """Teach Numba those of the functions that are marked jitable and that it doesn't know yet."""
    for function in functions:
        if function in JITABLE and function not in _registered:
            _registered.add(function)
            overload(function, strict=False, jit_options=OPTIONS)(_giving(JITABLE[function]))


register_jitable(JITABLE)


def _emit_polynomial(builder: ir.IRBuilder, x: ir.Value, coefficients: list[ir.Value]) -> ir.Value:
    """Emit what `polynomial` computes, operation by operation."""
    if len(coefficients) >= SPLIT:
        square = builder.fmul(x, x)
        odd = _emit_polynomial(builder, square, coefficients[1::2])
        return builder.fadd(builder.fmul(odd, x), _emit_polynomial(builder, square, coefficients[::2]))
    return _emit_horner(builder, x, coefficients)


def _emit_horner(builder: ir.IRBuilder, x: ir.Value, coefficients: list[ir.Value]) -> ir.Value:
    result = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = builder.fadd(builder.fmul(result, x), coefficient)
    return result


def _implement_polynomial(word: Callable[..., Any], emit: Callable[..., ir.Value]) -> None:
    """Straight-line code; one word for Numba's front end to type instead of two per coefficient."""

    @implement(word)
    def typed(_typing_context: Any, x: types.Type, coefficients: Any) -> Any:
        def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
            point, row = values
            return emit(builder, point, [builder.extract_value(row, k) for k in range(len(coefficients))])

        return make_signature(x, x, coefficients), generate


_implement_polynomial(horner, _emit_horner)
_implement_polynomial(polynomial, _emit_polynomial)


def _implement_table(table: Table) -> None:
    @implement(table)
    def entry(_typing_context: Any, index: types.Type) -> Any:
        def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
            row = ir.Constant(ir.ArrayType(INT64, len(table.entries)), list(table.entries))
            place = cgutils.global_constant(builder, "table", row)
            return builder.load(builder.gep(place, [INT64(0), values[0]], inbounds=True))

        return types.int64(types.int64), generate


for _table in TABLES:
    _implement_table(_table)


class RawAttributes(ir.values.AttributeSet):
    """Attributes that llvmlite doesn't list: strings as in LLVM's text."""

    def add(self, name: str) -> None:
        """Add one, unchecked."""
        set.add(self, name)


class Rescue:
    """Builds the scalar and vector variants of one rescue in a module.

    Their arguments are the value so far, the number that is compared with a limit, that limit, and what the slow path
    takes instead of the number, if it takes something else.
    """

    def __init__(self, context: Any, builder: ir.IRBuilder, name: str, body: Callable[..., Any], more: int = 0) -> None:
        self.context = context
        self.module = builder.module
        self.name = name
        self.more = more
        self.signature = types.float64(*[types.float64] * (more or 1))
        self.slow = context.compile_subroutine(builder, body, self.signature).fndesc

    def call(self, builder: ir.IRBuilder, arguments: list[ir.Value]) -> ir.Value:
        """Emit the call that the vectorizer may widen."""
        if self.name not in self.module.globals:
            self._keep([self._scalar(), *(self._vector(lanes) for lanes in LANES)])
        shape = "v" * len(arguments)
        known = ",".join(f"_ZGV_LLVM_N{lanes}{shape}_{self.name}({self.name}.{lanes})" for lanes in LANES)
        result = builder.call(self.module.globals[self.name], arguments)
        result.attributes = RawAttributes(["nounwind", "readnone", f'"vector-function-abi-variant"="{known}"'])
        return result

    def _function(self, type: ir.Type, name: str) -> tuple[ir.Function, ir.IRBuilder]:
        function = ir.Function(self.module, ir.FunctionType(type, [type] * (3 + self.more)), name)
        function.linkage = "linkonce_odr"
        function.attributes = RawAttributes(["noinline", "nounwind", "readnone", "willreturn"])
        return function, ir.IRBuilder(function.append_basic_block("entry"))

    def _call_slow(self, builder: ir.IRBuilder, arguments: list[ir.Value]) -> ir.Value:
        _status, result = self.context.call_internal_no_propagate(builder, self.slow, self.signature, arguments)
        return result

    def _needed(self, builder: ir.IRBuilder, x: ir.Value, limit: ir.Value) -> ir.Value:
        lanes = f"v{x.type.count}" if isinstance(x.type, ir.VectorType) else ""
        magnitude = llvm_intrinsic(builder, f"llvm.fabs.{lanes}f64", x.type, [x])
        return builder.fcmp_ordered(">", magnitude, limit)

    def _scalar(self) -> ir.Function:
        function, builder = self._function(DOUBLE, self.name)
        fast, x, limit, *more = function.args
        with builder.if_then(self._needed(builder, x, limit), likely=False):
            builder.ret(self._call_slow(builder, more or [x]))
        builder.ret(fast)
        return function

    def _vector(self, lanes: int) -> ir.Function:
        function, builder = self._function(ir.VectorType(DOUBLE, lanes), f"{self.name}.{lanes}")
        fast, x, limit, *more = function.args
        mask = builder.bitcast(self._needed(builder, x, limit), ir.IntType(lanes))
        with builder.if_then(builder.icmp_unsigned("!=", mask, mask.type(0)), likely=False):
            builder.ret(self._by_lane(builder, lanes, fast, more or [x], mask))
        builder.ret(fast)
        return function

    def _by_lane(
        self, builder: ir.IRBuilder, lanes: int, fast: ir.Value, arguments: list[ir.Value], mask: ir.Value
    ) -> ir.Value:
        result = cgutils.alloca_once_value(builder, fast)
        wide = builder.zext(mask, INT32)
        with cgutils.for_range(builder, INT32(lanes)) as loop:
            bit = builder.and_(builder.lshr(wide, loop.index), INT32(1))
            with builder.if_then(builder.icmp_unsigned("!=", bit, INT32(0))):
                slow = self._call_slow(builder, [builder.extract_element(x, loop.index) for x in arguments])
                builder.store(builder.insert_element(builder.load(result), slow, loop.index), result)
        return builder.load(result)

    def _keep(self, functions: list[ir.Function]) -> None:
        """Keep all variants and their arguments until the vectorizer has run: nothing calls them before."""
        type = ir.ArrayType(ir.IntType(8).as_pointer(), len(functions))
        used = ir.GlobalVariable(self.module, type, "llvm.compiler.used")
        used.linkage = "appending"
        used.section = "llvm.metadata"
        used.initializer = ir.Constant(type, [f.bitcast(ir.IntType(8).as_pointer()) for f in functions])


@implement(rescue)
def _rescue(_typing_context: Any, fast: types.Type, x: types.Type, limit: types.Type, slow: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        function = slow.typing_key
        emitter = Rescue(context, builder, f"rescue_{function.__name__}", JITABLE[function])
        return emitter.call(builder, list(values[:3]))

    return types.float64(types.float64, types.float64, types.float64, slow), generate


@implement(rescue_pair)
def _rescue_pair(
    _typing_context: Any,
    fast: types.Type,
    x: types.Type,
    limit: types.Type,
    slow: Any,
    lhs: types.Type,
    rhs: types.Type,
) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        function = slow.typing_key
        emitter = Rescue(context, builder, f"rescue_{function.__name__}", JITABLE[function], 2)
        return emitter.call(builder, [*values[:3], *values[4:]])

    number = types.float64
    return number(number, number, number, slow, number, number), generate
