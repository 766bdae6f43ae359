"""What kernels touch, read from their IR; callees that are not known are seen."""

import inspect

import pytest

from numhlo.backend import primitives
from numhlo.backend.kernels.callees import access_of, looks_at_nothing
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.plan_checking.effects import effects_of
from numhlo.backend.program import Kernel

BEGIN = """from numhlo.backend.primitives import *

def kernel(ctx, bufs, dims, lo, hi):
    a = address(bufs, 0)
    b = address(bufs, 1)
"""


def found_in(*lines):
    return effects_of(Kernel("kernel", BEGIN + "".join(f"    {line}\n" for line in lines)))


def effects(*lines):
    found = found_in(*lines)
    return found.reads, found.writes


def test_pointers_that_go_through_variables():
    assert effects("c = advance(a, 8)", "d = c", "store_f32(d, 0, load_f32(b, 0))") == ({1}, {0})
    assert effects("near = integer_address(a) + lo * 8", "x = load_f64(near, 0)") == ({0}, set())
    assert effects("c = a", "c = b", "x = load_f64(c, 0)") == ({1}, set())


def test_addresses_that_may_be_in_several_buffers():
    begin = "c = integer_address(a)", "for i in range(lo, hi):", "    x = load_f64(c, i)"
    assert effects(*begin, "    c = integer_address(b)", "store_f64(c, 0, 1.0)") == ({0, 1}, {0, 1})
    with pytest.raises(UnreadableError, match="no variable of two types"):
        effects("c = a", "for i in range(lo, hi):", "    c = b")


def test_buffers_that_a_list_of_launches_names():
    assert found_in("k = number(dims, 0)", "store_f32(address(bufs, k), 0, to_f32(1.0))").is_list


def test_words_of_several_pointers():
    assert effects("stream_u32(b, 0, a, 16)") == ({0}, {1})
    assert effects("transpose_tile_b4(b, 8, a, 0, 8, 8, 8, 0)") == ({0}, {1})
    gemm = "gemm_f32(ctx, False, False, 8, 8, 8, to_f32(1.0), a, 8, a, 8, to_f32({}), b, 8)"
    assert effects(gemm.format("0.0")) == ({0}, {1})
    assert effects(gemm.format("1.0")) == ({0, 1}, {1})
    assert effects("trsm_at0 = number(dims, 0)", "call_fortran(trsm_at0, 0, 0, 0, 0, 0, 0, 0, a, 0, b, 0, 1)") == (
        {0, 1},
        {1},
    )


def test_all_primitives_that_take_pointers_are_known():
    pointers = {"pointer", "source", "target", "left", "right", "tile", "out", "a", "c"}
    for word in primitives.__all__:
        named = getattr(primitives, word)
        if callable(named) and not isinstance(named, type) and not word.endswith("_name"):
            takes = pointers.intersection(inspect.signature(named).parameters)
            assert not takes or access_of(named) or looks_at_nothing(named), word


def test_words_that_are_not_known():
    with pytest.raises(UnreadableError, match="no call of copy_all"):
        effects("copy_all(a, b)")
    with pytest.raises(UnreadableError, match=r"nobody knows what .*absolute.* of a pointer is"):
        effects("x = absolute(a)")


def test_a_users_function_writes_its_results():
    found = found_in("function0 = number(dims, 0)", "call_function(function0, ctx, dims, a, b)")
    assert (found.reads, found.writes, found.given) == (set(), set(), {0, 1})
