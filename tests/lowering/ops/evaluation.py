"""How the tests of op definitions run one op: infer types, check constraints, evaluate, compare types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from numhlo.lowering.ir import TensorType, Type, element_spelling, tensor_type_of
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.primitive import RESULT_TYPES, Primitive, Signature
from tests.oracle import run_on_xla


def tensor(spelling: str) -> TensorType:
    """Return the type written as in text between ``tensor<`` and ``>``."""
    *extents, element = spelling.split("x") if "complex" not in spelling else _split_complex(spelling)
    return TensorType(tuple(-1 if n == "?" else int(n) for n in extents), ELEMENT_TYPES[element])


def _split_complex(spelling: str) -> list[str]:
    head, _, tail = spelling.partition("complex")
    return [*head.split("x")[:-1], "complex" + tail]


def infer(op: Primitive, *types: Type, result: Type | None = None, **attributes: Any) -> Type:
    """Return the only inferred result type."""
    results = None if result is None else [result]
    (inferred,) = op.infer(Signature(op.name, types, {**op.defaults, **attributes}, (), results))
    return inferred


def rejection(op: Primitive, *types: Type, result: Type | None = None, **attributes: Any) -> str:
    """Return the message with which the op's type rule rejects these types."""
    with pytest.raises(VerificationError) as caught:
        infer(op, *types, result=result, **attributes)
    return str(caught.value)


def evaluate(op: Primitive, *arrays: np.ndarray, result: TensorType | None = None, **attributes: Any) -> np.ndarray:
    """Return the only result, whose type must be the inferred one; the operands must not change."""
    before = [a.tobytes() for a in arrays]
    inferred = infer(op, *map(tensor_type_of, arrays), result=result, **attributes)
    full = {**op.defaults, **attributes}
    if op.explicit_result:
        full[RESULT_TYPES] = [inferred]
    with np.errstate(all="ignore"):
        (value,) = op.evaluate(arrays, full, ())
    assert type(value) is np.ndarray
    assert tensor_type_of(value) == inferred
    assert [a.tobytes() for a in arrays] == before
    return value


def on_xla(ops: Sequence[Primitive], *columns: np.ndarray) -> list[np.ndarray]:
    """Return what XLA makes of each op on as many of the columns as it takes; all columns have one type."""
    kind = tensor_type_of(columns[0])
    lines, types = [], []
    for number, op in enumerate(ops):
        count = len(op.operands)
        result = infer(op, *[kind] * count)
        operands = ", ".join(f"%x{k}" for k in range(count))
        lines.append(f'%{number} = "stablehlo.{op.name}"({operands}) : ({", ".join([str(kind)] * count)}) -> {result}')
        types.append(str(result))
    arguments = ", ".join(f"%x{k}: {kind}" for k in range(len(columns)))
    names = ", ".join(f"%{number}" for number in range(len(ops)))
    text = f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n"
    return run_on_xla(text + "\n".join(lines) + f"\nreturn {names} : {', '.join(types)}\n}}", columns)


def same(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where two arrays have equal values: NaN equals NaN, and zeros must have the same sign."""
    if found.dtype.kind == "c":
        both: np.ndarray = np.logical_and(same(found.real, expected.real), same(found.imag, expected.imag))
        return both
    if found.dtype.kind != "f":
        found, expected = found.astype(np.float64), expected.astype(np.float64)
    equal = (found == expected) & (np.signbit(found) == np.signbit(expected))
    either: np.ndarray = np.logical_or(equal, np.isnan(found) & np.isnan(expected))
    return either


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns that hold every ordered pair of the values."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


def all_codes(dtype: np.dtype) -> np.ndarray:
    """Return every value of a type of at most 16 bits, by code."""
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    name = element_spelling(dtype)
    bits = {"f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6, "i2": 2, "ui2": 2, "i4": 4, "ui4": 4}.get(name, 8)
    return np.arange(1 << bits, dtype=np.uint8).view(dtype)
