"""Machine code of `numhlo.backend.vector_math.threefry`: straight-line code that LLVM's loop vectorizer widens."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from numhlo.backend.compiler.intrinsics.registration import implement
from numhlo.backend.vector_math.threefry import threefry2x32_u64
from numhlo.lowering.ops.counter_based import GROUPS, PARITY, ROTATIONS

I32, I64 = ir.IntType(32), ir.IntType(64)


@implement(threefry2x32_u64)
def _threefry2x32(
    _typing_context: Any, key0: types.Type, key1: types.Type, counter0: types.Type, counter1: types.Type
) -> Any:
    if any(types.unliteral(t) != types.uint32 for t in (key0, key1, counter0, counter1)):
        return None

    def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
        first, second, x, y = values
        keys = [first, second, builder.xor(builder.xor(first, second), I32(PARITY))]
        x, y = builder.add(x, first), builder.add(y, second)
        for group in range(GROUPS):
            for distance in ROTATIONS[group % 2]:
                x = builder.add(x, y)
                turned = builder.or_(builder.shl(y, I32(distance)), builder.lshr(y, I32(32 - distance)))
                y = builder.xor(x, turned)
            x = builder.add(x, keys[(group + 1) % 3])
            y = builder.add(y, builder.add(keys[(group + 2) % 3], I32(group + 1)))
        return builder.or_(builder.shl(builder.zext(x, I64), I64(32)), builder.zext(y, I64))

    return types.uint64(key0, key1, counter0, counter1), generate
