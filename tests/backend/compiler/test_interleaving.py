"""Which loops ask LLVM to take several vectors at a time."""

import pytest
from llvmlite import ir

from numhlo.backend.compiler import kernel_compiler
from numhlo.backend.compiler.interleaving import interleave
from numhlo.backend.front_ends import FRONT_ENDS

WISH = '!"llvm.loop.interleave.count", i32 2'
SOURCE = """
from numhlo.backend.primitives import address, load_f64, square_root, store_f64
{imports}

def kernel(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    out = address(bufs, 1)
{loops}
        store_f64(out, i, {name}(load_f64(x, i)))
"""
ONE = "    for i in range(lo, hi):"
TWO = "    for i in range(lo, hi):\n        store_f64(out, i, 0.0)\n    for i in range(lo, hi):"


@pytest.mark.parametrize(
    ("loops", "name", "wishes"),
    [(ONE, "exp_f64", True), (ONE, "square_root", False), (ONE, "atan2_f64", False), (TWO, "log_f64", False)],
)
@pytest.mark.parametrize("through", FRONT_ENDS)
def test_the_only_loop_of_kernels_with_polynomials_is_interleaved(loops, name, wishes, through):
    imports = "" if name == "square_root" else f"from numhlo.backend.vector_math import {name}"
    source = SOURCE.format(imports=imports, loops=loops, name=name)
    source = source.replace("atan2_f64(", "atan2_f64(1.0, ")
    lower, _, _ = kernel_compiler._lowering_of("kernel", source, through)
    assert (WISH in str(lower())) == wishes


def looping(*edges):
    """Return a module with a function of blocks that branch to each other, the last one to none."""
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(1)]), "function")
    blocks = [function.append_basic_block() for _ in range(len(edges) + 1)]
    for block, following in zip(blocks, edges, strict=False):
        builder = ir.IRBuilder(block)
        if len(following) == 1:
            builder.branch(blocks[following[0]])
        else:
            builder.cbranch(function.args[0], *[blocks[k] for k in following])
    ir.IRBuilder(blocks[-1]).ret_void()
    return module


@pytest.mark.parametrize(
    ("edges", "wishes"),
    [
        ([(1,), (2, 4), (3,), (1,)], 1),
        ([(2,), (3,), (1, 4), (2,)], 1),  # blocks that stand elsewhere
        ([(1,), (2, 5), (3, 4), (2,), (1,)], 0),  # a loop in a loop
        ([(2,), (3,), (1, 3)], 0),  # no loop
    ],
)
def test_only_a_function_with_one_loop_is_changed(edges, wishes):
    module = looping(*edges)
    interleave(module)
    assert str(module).count(WISH) == wishes
