"""Custom calls: configurations in three spellings, layouts, aliases, computations; LAPACK's run."""

import re

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check_protos, entry, printed_by_xla, read_by_xla, same_bits

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"


def both(text, **options):
    """Return what numhlo makes of a text, and of what it writes of that, read and printed by XLA between."""
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)), **options)
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    check_protos(text, module)
    return module.as_text(), again.as_text()


@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ("", "api_version"),
        (', backend_config="free \\"text\\"\\n"', 'backend_config = "free \\22text\\22\\0A"'),
        (', backend_config={"a":{"b":[1,"}"]}}', 'backend_config = "{\\22a\\22:{\\22b\\22:[1,\\22}\\22]}}"'),
        (
            ", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, l = array<i64: 1, 2>}",
            "backend_config = {l = array<i64: 1, 2>, mode = 86 : ui8}",
        ),
        (", api_version=API_VERSION_STATUS_RETURNING", "api_version = 2 : i32"),
        (", custom_call_has_side_effect=true", "has_side_effect = true"),
        (", called_computations={add}", "called_computations = [@add]"),
        (", output_to_operand_aliasing={{}: (0, {})}", "operand_index = 0, operand_tuple_indices = []"),
    ],
)
def test_what_a_call_says(rest, shown):
    lines = ["x = f32[2] parameter(0)", f'ROOT r = f32[2] custom-call(x), custom_call_target="my target"{rest}']
    first, second = both(entry(*lines, before=ADD))
    assert '@"my target"(%arg0)' in first
    assert (shown in first) == (shown != "api_version")
    assert re.sub(r"@add\.\d+", "@add", second) == first


def test_layouts():
    rest = "operand_layout_constraints={f32[2,3]{0,1}}, api_version=API_VERSION_TYPED_FFI"
    lines = ["x = f32[2,3]{1,0} parameter(0)", "y = f32[2,3]{0,1} copy(x)"]
    lines += [f'c = (f32[2,3]{{0,1}}, s32[]) custom-call(y), custom_call_target="t", {rest}']
    first, second = both(entry(*lines, "ROOT r = f32[2,3]{0,1} get-tuple-element(c), index=0"))
    assert "operand_layouts = [dense<[0, 1]> : tensor<2xindex>]" in first
    assert "result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]" in first
    assert second == first


def test_lapack():
    rest = (
        'custom_call_target="lapack_dpotrf_ffi", operand_layout_constraints={f64[3,3]{0,1}}, '
        "output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, "
        'frontend_attributes={num_batch_dims="0"}, backend_config={uplo = 76 : ui8}'
    )
    lines = ["x = f64[3,3]{0,1} parameter(0)", f"c = (f64[3,3]{{0,1}}, s32[]) custom-call(x), {rest}"]
    lines += ["f = f64[3,3]{0,1} get-tuple-element(c), index=0", "i = s32[] get-tuple-element(c), index=1"]
    module = stablehlo.from_hlo(entry(*lines, "ROOT r = (f64[3,3], s32[]) tuple(f, i)"))
    root = np.array([[2.0, 0, 0], [1, 3, 0], [-1, 0.5, 1]])
    found, info = module.run("main", root @ root.T)
    np.testing.assert_allclose(np.tril(found), root, 1e-12)
    assert info == 0
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    assert same_bits(again.run("main", root @ root.T), [found, info])


def test_the_compilers_own_topk():
    line = 'ROOT r = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target="TopK", called_computations={gt}'
    before = "gt { a = f32[] parameter(0)  b = f32[] parameter(1)  i = s32[] parameter(2)  j = s32[] parameter(3)\n"
    before += "ROOT c = pred[] compare(a, b), direction=GT, type=TOTALORDER }"
    module = stablehlo.from_hlo(entry("x = f32[2,3] parameter(0)", line, before=before))
    values, places = module.run("main", np.array([[1, 3, 2], [5, 4, 6]], np.float32))
    assert values.tolist() == [[3, 2], [6, 5]]
    assert places.tolist() == [[1, 2], [2, 0]]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("", "needs the attribute custom_call_target"),
        ('custom_call_target="t", api_version=ODD', "api_version must be one of"),
        ('custom_call_target="t", api_version=API_VERSION_TYPED_FFI, backend_config="a"', "is no dictionary"),
        ('custom_call_target="t", api_version=API_VERSION_TYPED_FFI, backend_config={a = }', "is no dictionary"),
        ('custom_call_target="t", backend_config=', "a value"),
        ('custom_call_target="t", backend_config={{', "expected '}'"),
        ('custom_call_target="\\q"', "unknown escape"),
        ('custom_call_target="t', "has no closing quote"),
        ('custom_call_target="t", operand_layout_constraints={odd}', "a type, such as"),
    ],
)
def test_what_is_refused(rest, message):
    line = f"ROOT r = f32[2] custom-call(x){', ' if rest else ''}{rest}"
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[2] parameter(0)", line))


def test_tuples_as_operands_are_refused():
    line = 'ROOT r = f32[2] custom-call(t), custom_call_target="my"'
    with pytest.raises(ParseError, match="a tuple as an operand of the custom call my"):
        stablehlo.from_hlo(entry("x = f32[2] parameter(0)", "t = (f32[2]) tuple(x)", line))
