"""The kernel IR: what is read is well formed, its text reads as the same, and its hash is of meaning alone."""

import ast

import pytest

from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.buffers import buffers_of
from numhlo.backend.kernels.effects import effects_of
from numhlo.backend.kernels.identity import identity
from numhlo.backend.kernels.names import changing_names
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.text import text_of
from numhlo.backend.kernels.verify import MalformedKernelError, verify
from numhlo.backend.plan_checking.effects import effects_of as effects_of_kernel
from numhlo.backend.primitives.storage import STORAGES
from numhlo.backend.runtime.native_functions import FILES, native_kernel
from tests.backend.kernels.families import PROGRAMS, kernels_of
from tests.backend.kernels.kernels import IMPORTS, KERNELS, source_of

HEAD = "def kernel(ctx, bufs, dims, lo, hi):\n"


def read(source, name="kernel"):
    return read_kernel(name, source, numba_target())


def assert_reads_back(name, source):
    module = read(source, name)
    verify(module, numba_target())
    again = read(text_of(module), name)
    verify(again, numba_target())
    assert identity(again) == identity(module)
    return module


def effects_of_module(module):
    effects = [effects_of(statement) for statement in module.entry.body]
    reads, writes = (frozenset().union(*found) for found in zip(*((e.reads, e.writes) for e in effects), strict=True))
    return reads, writes


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_of_programs_read_back_from_their_text(name):
    kernels = kernels_of(name)
    assert kernels
    for kernel in kernels:
        module = assert_reads_back(kernel.name, kernel.source)
        known = effects_of_kernel(kernel)
        if not known.is_list:
            reads, writes = effects_of_module(module)
            assert None in reads or known.reads == reads  # None is memory anywhere
            assert None in writes or known.writes == writes


@pytest.mark.parametrize("name", KERNELS)
def test_forms_of_kernels_read_back_from_their_text(name):
    assert_reads_back("kernel", source_of(name))


@pytest.mark.parametrize("name", FILES)
def test_the_runtimes_kernels_read_back_from_their_text(name):
    assert_reads_back(name, native_kernel(name).source)


PLAIN = """
    out, x = address(bufs, 0), address(bufs, 1)
    total = 0.0
    for i in range(lo, hi):
        value = load_f64(x, i)
        total = total + value * 2.0
    store_f64(out, 0, total)
"""


def test_text_is_readable():
    assert text_of(read(IMPORTS + HEAD + PLAIN)) == (
        "from numhlo.backend.primitives import address, load_f64, store_f64\n\n\n"
        "def kernel(ctx, bufs, dims, lo, hi):\n"
        "    out = address(bufs, 0)\n"
        "    x = address(bufs, 1)\n"
        "    total = 0.0\n"
        "    for i in range(lo, hi):\n"
        "        value = load_f64(x, i)\n"
        "        total = total + value * 2.0\n"
        "    store_f64(out, 0, total)\n"
    )


@pytest.mark.parametrize(
    "changed",
    [
        PLAIN.replace("total", "t").replace("value", "other"),
        PLAIN.replace("value * 2.0", "(value*(2.0))").replace("\n    store", "\n\n    # a comment\n    store"),
        PLAIN.replace(
            "out, x = address(bufs, 0), address(bufs, 1)", "out = address(bufs, 0)\n    x = address(bufs, 1)"
        ),
        PLAIN.replace("total = total + value * 2.0", "total += value * 2.0"),
    ],
)
def test_names_and_formatting_do_not_change_the_identity(changed):
    assert identity(read(IMPORTS + HEAD + changed)) == identity(read(IMPORTS + HEAD + PLAIN))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0", "-2.0"),
        ("0.0", "-0.0"),
        ("+ value", "- value"),
        ("x, i", "x, lo"),
        ("store_f64(out", "store_f64(x"),
        ("lo, hi)", "hi)"),
    ],
)
def test_what_is_computed_changes_the_identity(old, new):
    assert old in PLAIN
    assert identity(read(IMPORTS + HEAD + PLAIN.replace(old, new))) != identity(read(IMPORTS + HEAD + PLAIN))


def test_buffers_say_what_their_accesses_do():
    module = read(IMPORTS + HEAD + PLAIN)
    assert buffers_of(module.functions) == {0: ir.Buffer(0, "f64", 8), 1: ir.Buffer(1, "f64", 8)}
    mixed = read(IMPORTS + HEAD + PLAIN + "    store_f32(out, 1, to_f32(total))\n")
    assert buffers_of(mixed.functions)[0] == ir.Buffer(0, "", 1)


@pytest.mark.parametrize(
    ("text", "reads", "writes", "rest"),
    [
        ("store_f64(address(bufs, 2), 0, load_f64(address(bufs, 1), lo))", {1}, {2}, ""),
        ("store_f64(bufs, 0, 1.0)", set(), {None}, ""),
        ("call_function(lo, hi)", {None}, {None}, "other"),
        ("a = stack_array(8, 8)", set(), set(), "other"),
        ("a = load_f64(address(bufs, 0), 1) + 1.0", {0}, set(), ""),
        ("if lo > 3:\n        return", set(), set(), "leaves"),
        ("return load_i64(dims, 0)", {None}, set(), "leaves"),
    ],
)
def test_effects_of_statements(text, reads, writes, rest):
    (statement,) = read(IMPORTS + HEAD + f"    {text}\n").entry.body
    effects = effects_of(statement)
    assert (effects.reads, effects.writes) == (reads, writes)
    assert [name for name in ("other", "leaves") if getattr(effects, name)] == ([rest] if rest else [])
    assert effects.is_pure == (not writes and not rest)


def test_effects_name_the_variables_that_loops_assign():
    loop = next(s for s in read(IMPORTS + HEAD + PLAIN).entry.body if isinstance(s, ir.For))
    assert [variable.name for variable in effects_of(loop).assigns] == ["total"]
    assert loop.line == IMPORTS.count("\n") + 5


def names_that_change(body):
    found = changing_names(ast.parse(HEAD + body).body[0])
    return {name for _, name in found.inside} | found.anywhere


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("    a = lo\n    a = a + 1\n    b = a\n", set()),
        ("    a = lo\n    if hi:\n        a = 1\n    b = a\n", {"a"}),
        ("    if hi:\n        a = 1\n    else:\n        a = 2\n    b = a\n", {"a"}),
        ("    for i in range(hi):\n        a = i\n    for i in range(hi):\n        a = i * 2\n", set()),
        ("    for i in range(hi):\n        if i:\n            b = a\n        a = i\n", {"a"}),
        ("    for i in range(hi):\n        a = i\n    b = i\n", {"i"}),
        ("    while lo < hi:\n        lo = lo + 1\n", {"lo"}),
    ],
)
def test_which_variables_change(body, names):
    assert names_that_change(body) == names


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    for i in [1, 2]:\n        pass\n", "loop over something else than a range"),
        ("    a = 1 if hi > lo else 2.0\n", "value that is i64 or f64"),
        ("    a = nothing(lo)\n", "call of nothing"),
        ("    a = lo < hi < 3\n", "comparison of three values"),
        ("    if lo:\n        return 1\n", "function that may return a value or none"),
        ("    if lo:\n        a = 1\n    b = a + c\n", "value of c"),
        ("    try:\n        pass\n    finally:\n        pass\n", "statement Try"),
        ("    a = load_f64(bufs, 1.5)\n", "takes no"),
    ],
)
def test_what_the_ir_has_no_form_for_is_named(body, message):
    with pytest.raises(UnreadableError) as caught:
        read(IMPORTS + HEAD + body)
    assert message in str(caught.value)


def function(body, result=ir.NOTHING):
    return ir.Module("kernel", [ir.Function("kernel", [], body, result)])


ONE, HALF, FLAG = ir.Constant(1, ir.INT64), ir.Constant(0.5, ir.FLOAT64), ir.Constant(True, ir.BOOL)
FIXED, CHANGING = ir.Variable("a", ir.INT64), ir.Variable("b", ir.INT64, mutable=True)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ([ir.Evaluate(ir.Read(FIXED))], "in the block that defines it"),
        ([ir.If(FLAG, [ir.Let(FIXED, ONE)], []), ir.Evaluate(ir.Read(FIXED))], "in the block that defines it"),
        ([ir.Let(FIXED, ONE), ir.Let(FIXED, ONE)], "is defined once"),
        ([ir.Let(FIXED, HALF)], "a value of the variable's type"),
        ([ir.Evaluate(ir.Read(CHANGING))], "assigned before it is read"),
        ([ir.Assign(FIXED, ONE)], "only a variable that changes"),
        ([ir.While(ONE, [])], "a condition is a boolean"),
        ([ir.Break()], "stand in a loop"),
        ([ir.Return(ONE)], "values of one type"),
        ([ir.Store(STORAGES["f32"], ONE, ONE, HALF)], "of its elements' type"),
        ([ir.Store(STORAGES["f64"], HALF, ONE, HALF)], "at a pointer and an integer index"),
        ([ir.Evaluate(ir.Load(STORAGES["f32"], ONE, ONE, ir.FLOAT64))], "of its elements' type"),
        ([ir.For(ir.Variable("i", ir.INT64), ONE, HALF, ONE, [])], "a loop counts integers"),
        ([ir.Evaluate(ir.Call(max, (ONE, ONE), ir.FLOAT64))], "its callee's definition gives"),
        ([ir.Evaluate(ir.Call(ir.Function("f", [], []), (), ir.NOTHING))], "called behind its definition"),
        ([ir.Evaluate(ir.Conditional(FLAG, ONE, HALF))], "values have one type"),
        ([ir.Evaluate(ir.Not(ONE))], "a negation is of a boolean"),
    ],
)
def test_the_verifier_names_the_rule_that_is_broken(body, rule):
    with pytest.raises(MalformedKernelError) as caught:
        verify(function(body), numba_target())
    assert rule in str(caught.value)


def test_a_result_is_returned_wherever_a_function_ends():
    verify(function([ir.If(FLAG, [ir.Return(ONE)], [ir.Return(ONE)])], ir.INT64))
    with pytest.raises(MalformedKernelError) as caught:
        verify(function([ir.If(FLAG, [ir.Return(ONE)], [])], ir.INT64))
    assert "returns one wherever it ends" in str(caught.value)
