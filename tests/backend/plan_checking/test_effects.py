"""What kernels touch, read from their text: the quick reading is the parser's, and words that are not known are seen."""

import ast
import inspect

import pytest

from numhlo.backend import primitives
from numhlo.backend.kernels.callees import access_of, passes_on
from numhlo.backend.plan_checking.effects import POINTER, assigned_in, calls_in, effects_of, pointed_to, touches_of
from numhlo.lowering.ir.errors import InternalError
from tests.backend.plan_checking import correct_plans as texts
from tests.backend.plan_checking.correct_plans import planned
from tests.backend.planning.test_plan import cases
from tests.backend.programs import plan

BEGIN = "\ndef kernel(ctx, bufs, dims, lo, hi):\n    a = address(bufs, 0)\n    b = address(bufs, 1)\n"


def effects(*lines):
    found = effects_of(BEGIN + "".join(f"    {line}\n" for line in lines))
    return found.reads, found.writes


def read_by_the_parser(source):
    """Return the places of the buffers that a kernel reads, and of those that it writes."""
    tree = ast.parse(source)
    places = {name: frozenset({int(place)}) for name, place in POINTER.findall(source)}
    for _ in range(10):
        for name, value in assigned_in(tree):
            target = pointed_to(value, places)
            if target:
                places[name] = places.get(name, frozenset()) | target
    touches = [touch for call in calls_in(tree) for touch in touches_of(call, places)]
    return {t.place for t in touches if not t.writes}, {t.place for t in touches if t.writes}


def test_the_quick_reading_is_the_parsers():
    programs = [plan(function) for _, function, _ in cases(7, 30, 15)]
    programs += [planned(text)[0] for text in (texts.LOOP, texts.SUM, texts.MAP, texts.STENCIL, texts.JOINED)]
    kernels = {kernel.source for program in programs for kernel in program.kernels}
    assert len(kernels) > 50
    for source in kernels:
        found = effects_of(source)
        assert (found.reads, found.writes) == read_by_the_parser(source), source


def test_pointers_that_go_through_variables():
    assert effects("c = advance(a, 8)", "d = c", "store_f32(d, 0, load_f32(b, 0))") == ({1}, {0})
    assert effects("c = select(lo < hi, a, b)", "store_f32(c, 0, x)") == (set(), {0, 1})
    assert effects("near = integer_address(a) + lo * 8", "x = load_f64(near, 0)") == ({0}, set())
    assert effects("c = a", "c = b", "x = load_f64(c, 0)") == ({0, 1}, set())


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
            assert not takes or access_of(word) or passes_on(word), word


def test_words_that_are_not_known():
    with pytest.raises(InternalError, match="a kernel calls copy_all, which is no primitive"):
        effects("copy_all(a, b)")
    with pytest.raises(InternalError, match="absolute gets a pointer"):
        effects("x = absolute(a)")


def test_a_users_function_writes_its_results():
    found = effects_of(BEGIN + "    call_function(function0, ctx, dims, a, b)\n")
    assert (found.reads, found.writes, found.given) == (set(), set(), {0, 1})
