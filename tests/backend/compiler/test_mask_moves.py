"""Masks that LLVM folds although they are still needed: the kernel that showed it, and what takes their place."""

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest

from numhlo.backend.compiler import kernel_compiler
from numhlo.backend.compiler.mask_moves import may_lack_masks, with_compared_masks
from numhlo.backend.front_ends import FRONT_ENDS
from tests.backend.both_ways import assert_same_both_ways, loaded_by_both

SEVERAL_ROUNDINGS = """
from numhlo.backend.primitives import (
    address, ceil, floor, load_f4e2m1fn, round_away, round_even, round_f4e2m1fn, store_f4e2m1fn
)


def signs(ctx, bufs, dims, lo, hi):
    out0 = address(bufs, 0)
    out1 = address(bufs, 1)
    out2 = address(bufs, 2)
    out3 = address(bufs, 3)
    out4 = address(bufs, 4)
    out5 = address(bufs, 5)
    in0 = address(bufs, 6)
    for i in range(lo, hi):
        x = load_f4e2m1fn(in0, i)
        store_f4e2m1fn(out0, i, -x)
        store_f4e2m1fn(out1, i, round_f4e2m1fn(ceil(x)))
        store_f4e2m1fn(out2, i, round_f4e2m1fn(floor(x)))
        store_f4e2m1fn(out3, i, round_f4e2m1fn(round_even(x)))
        store_f4e2m1fn(out4, i, round_f4e2m1fn(round_away(x)))
        store_f4e2m1fn(out5, i, round_f4e2m1fn(x))
"""
SIGN_OF_FOUR = """
define i64 @f(ptr %p, ptr %q) {
  %x = load <4 x i32>, ptr %p
  %s = icmp slt <4 x i32> %x, zeroinitializer
  %t = icmp sgt <4 x i32> %x, splat (i32 -1)
  %b = load <16 x i8>, ptr %q
  %l = trunc <16 x i8> %b to <16 x i1>
  %1 = extractelement <4 x i1> %s, i64 1
  %2 = extractelement <4 x i1> %t, i64 2
  %3 = extractelement <16 x i1> %l, i64 3
  %4 = zext i1 %1 to i64
  %5 = select i1 %2, i64 2, i64 0
  %6 = select i1 %3, i64 4, i64 0
  %7 = or i64 %4, %5
  %8 = or i64 %7, %6
  ret i64 %8
}
"""


def test_signs_of_several_vectors():
    codes = np.arange(16, dtype=np.uint8)
    results = [np.zeros(16, np.uint8) for _ in range(6)]
    native = assert_same_both_ways("signs", SEVERAL_ROUNDINGS, [*results, codes], 16)
    np.testing.assert_array_equal(native[0], codes ^ 8)
    floats = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    np.testing.assert_array_equal(native[1].view(ml_dtypes.float4_e2m1fn).astype(np.float32), np.ceil(floats))


def test_compared_masks_are_the_same():
    """The module with other comparisons is one that LLVM takes, and it has the same masks."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = with_compared_masks(SIGN_OF_FOUR)
    assert text.count("arithmetic.fence.v4f32(<4 x float> zeroinitializer)") == 3
    assert "icmp sge <4 x i32> %x, %t.zero" in text
    assert "icmp ne <16 x i8> %l.bit, %l.zero" in text
    for features in (kernel_compiler.host_target().features, "+sse2"):
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(features=features)
        assert machine.emit_object(llvm.parse_assembly(text))


@pytest.mark.parametrize(
    ("code", "features", "found"),
    [
        ("c5f850c0", "+avx512f", True),  # vmovmskps %xmm0, %eax
        ("c4c17950c1", "+avx512f", True),  # vmovmskpd %xmm9, %eax
        ("c5f9d7c0", "+sse2,+avx512f", True),  # vpmovmskb %xmm0, %eax
        ("c5f958c1", "+avx512f", False),  # vaddpd %xmm1, %xmm0, %xmm0
        ("c5f850c0", "+avx2,-avx512f", False),
    ],
)
def test_which_code_is_looked_at_again(code, features, found):
    assert may_lack_masks(bytes.fromhex(code), features) is found


def test_code_is_made_again_without_folds(monkeypatch):
    """A kernel whose code may lack a mask is compiled again, from the module with comparisons."""
    asked, rewritten = [], []
    monkeypatch.setattr(kernel_compiler, "may_lack_masks", lambda code, features: asked.append(code) or True)
    monkeypatch.setattr(
        kernel_compiler, "with_compared_masks", lambda text: rewritten.append(text) or with_compared_masks(text)
    )
    codes = np.arange(16, dtype=np.uint8)
    results = [np.zeros(16, np.uint8) for _ in range(6)]
    loaded_by_both.cache_clear()
    assert_same_both_ways("signs", SEVERAL_ROUNDINGS, [*results, codes], 16)
    loaded_by_both.cache_clear()  # what was made by the functions above
    assert len(asked) == len(rewritten) == len(FRONT_ENDS) and "define" in rewritten[0]
