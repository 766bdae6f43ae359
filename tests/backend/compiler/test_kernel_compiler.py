"""How kernels are compiled: in vectors of which width."""

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from numhlo.backend import target
from numhlo.backend.compiler import kernel_compiler, lowering
from numhlo.backend.compiler.intrinsics import vectors
from numhlo.backend.compiler.levels import HIGHEST
from numhlo.backend.front_ends import FRONT_ENDS
from tests.backend.both_ways import run_native

SOURCE = """
from numhlo.backend.primitives import address, load_f64, store_f64
{imports}

def {name}(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    for i in range(lo, hi):
        x = load_f64(out, i)
        store_f64(out, i, {value})
"""
EXP = (
    "exponential",
    SOURCE.format(
        imports="from numhlo.backend.vector_math import exp_f64", name="exponential", value="exp_f64(x) * 2.0"
    ),
)
LINEAR = "linear", SOURCE.format(imports="", name="linear", value="x * 2.0 + 1.0")

SEARCH = (
    "search",
    SOURCE.format(
        imports="from numhlo.backend.primitives import overtake", name="search", value="overtake(x > 2.0, x, 2.0)"
    ),
)

ROWS = (
    "rows",
    """
from numhlo.backend.primitives import add_lanes_f64, address, load_f64, number, stack_array, store_f64

def rows(ctx, bufs, dims, lo, hi):
    out, x, n = address(bufs, 0), address(bufs, 1), number(dims, 0)
    block = stack_array(4096, 8)
    for row in range(lo, hi):
        for i in range(n):
            value = load_f64(x, row * n + i)
            store_f64(block, i, value * value)
        store_f64(out, row, add_lanes_f64(block, 0, n))
""",
)
"""Stores elements, and loads them as vectors: each load waits unless one store of a vector holds it."""


@pytest.fixture
def asked(monkeypatch):
    """The widths that were asked for; a test may set which one is given."""
    seen, own = [], kernel_compiler.host_target

    def host_target(widest=False, level=HIGHEST):
        seen.append(widest)
        return own(widest=widest, level=level)

    monkeypatch.setattr(kernel_compiler, "host_target", host_target)
    return seen


def test_polynomials_and_searches_take_the_widest_vectors_and_other_kernels_what_llvm_thinks_best(asked):
    kernel_compiler.compile_source(*EXP)
    kernel_compiler.compile_source(*LINEAR)
    kernel_compiler.compile_source(*ROWS)
    kernel_compiler.compile_source(*SEARCH)
    assert asked == [True, False, True, True]


@pytest.fixture
def wide_processor(monkeypatch):
    """Generate code, which is only looked at, for a processor with registers of 512 bits, whichever this one is."""
    if not llvm.get_process_triple().startswith("x86_64"):
        pytest.skip("LLVM generates code for this machine's architecture alone")
    kept = target.has_feature, vectors.register_bytes, kernel_compiler.host_target

    def forget():
        for function in kept:
            function.cache_clear()

    for module in (target, kernel_compiler):
        monkeypatch.setattr(module, "processor", lambda: ("skylake-avx512", "+avx,+avx2,+avx512f,+avx512dq,+fma"))
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("wide_processor")
@pytest.mark.parametrize(("kernel", "interleaves"), [(ROWS, False), (EXP, True), (LINEAR, True)])
def test_what_is_loaded_as_vectors_is_stored_a_vector_at_a_time(monkeypatch, kernel, interleaves):
    written, own = [], kernel_compiler._optimize

    def optimize(module, machine, **options):
        own(module, machine, **options)
        written.append((str(module), options["interleaves"]))

    monkeypatch.setattr(kernel_compiler, "_optimize", optimize)
    kernel_compiler.compile_source(*kernel)
    ((text, found),) = written
    assert found is interleaves
    if not interleaves:
        assert len(re.findall("store <8 x double> .* align 64", text)) == 1  # into the block; there would be four


@pytest.mark.usefixtures("wide_processor")
@pytest.mark.parametrize("through", FRONT_ENDS)
def test_the_widest_vectors_have_512_bits(through):
    lower, _, _ = kernel_compiler._lowering_of(*EXP, through)
    module = lower()
    host = kernel_compiler.host_target(widest=True)
    kernel_compiler._optimize(module, host)
    assert "zmm" in host.machine.emit_assembly(module)


def test_width_and_interleaving_change_no_bits(monkeypatch):
    x = np.random.default_rng(0).normal(size=1003) * 100
    wide, narrow = x.copy(), x.copy()
    run_native(*EXP, [wide], x.size)
    monkeypatch.setattr(kernel_compiler, "evaluates_polynomials", lambda callees: False)
    monkeypatch.setattr(lowering, "gains_by_interleaving", lambda callees: False)
    run_native(*EXP, [narrow], x.size)
    assert not np.array_equal(wide, x)
    assert wide.tobytes() == narrow.tobytes()
