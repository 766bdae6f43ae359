"""Many like carries: one loop over those that are computed alike has the bits of statements for each."""

from itertools import pairwise
from textwrap import dedent, indent

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.compiler.kernel_compiler import function_of_source, read_to_lower
from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.executable import Executable
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.text import text_of
from numhlo.backend.kernels.transform.rolling import LEAST, roll_stores
from numhlo.backend.kernels.verify import verify
from numhlo.lowering.interpreter import interpret
from tests.backend.kernels.transform.printed import after, printed, read
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

lax = jax.lax

COUNT = 40


def neighbours(c, x):
    padded = (x, *c, x * 0.5)
    return [padded[k] + 0.2 * (padded[k - 1] - 2.0 * padded[k] + padded[k + 1]) for k in range(1, len(padded) - 1)]


def shared(c, x):
    value = sum(c, x) * 0.01
    value = value / (1.0 + value * value)
    return [0.9 * y + (0.1 + 0.001 * k) * value for k, y in enumerate(c)]


def shifted(c, x):
    """Carries change places; the last ones come from the other end, and one never changes."""
    return [*(c[k + 1] * x + c[k] for k in range(COUNT - 3)), c[0] * x, c[-2], c[1]]


def two_kinds(c, x):
    """Two runs of like carries, with others between them; what few need is computed twice."""
    first = [jnp.sqrt(jnp.abs(y)) * x for y in c[:15]]
    third = [a + b for a, b in pairwise(c[25:])]
    return [*first, *(y * 0.5 if k % 2 else y - x for k, y in enumerate(c[15:25])), *third, third[0] - third[1]]


def with_a_loop_inside(c, x):
    """A value that an inner loop leaves behind, and one that was computed from what that loop began with."""
    before = c[0] * x
    after = lax.fori_loop(0, 3, lambda k, s: s * 0.5 + c[1], before)
    return [y * 0.5 + before * 0.1 + after for y in c]


def unlike(c, x):
    return [(y * x, y + x, y - x, y * y)[k % 4] for k, y in enumerate(c)]


ALIKE = (neighbours, shared, shifted, two_kinds)


def scan_of(step, while_loop=False):
    def scan(carries, xs):
        def advance(c, x):
            new = tuple(step(c, x))
            return new, new[0]

        if while_loop:  # the condition looks at a carry
            advances = lambda s: (s[0] + 1, advance(s[1], xs[s[0]])[0])
            return lax.while_loop(lambda s: (s[0] < len(xs)) & (s[1][3] < 1e9), advances, (0, carries))
        return lax.scan(advance, carries, xs)

    return scan


def carried(program):
    """Return the IR that the kernel with a state in memory is lowered from."""
    (kernel,) = [k for k in program.kernels if "carried0" in k.source]
    return read_to_lower(kernel.name, kernel.source).entry.body


@pytest.mark.parametrize("while_loop", [False, True])
@pytest.mark.parametrize("step", [*ALIKE, unlike, with_a_loop_inside], ids=lambda f: f.__name__)
def test_like_carries_have_the_interpreters_bits(step, while_loop, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    function = from_jax(scan_of(step, while_loop), carries, xs)
    program = plan(function)
    loops = [s for s in ir.walk(carried(program)) if isinstance(s, ir.For) and s.counter.name == "place"]
    assert bool(loops) == (step in ALIKE)
    expected = interpret(function, [*carries, xs])
    for lowered in (False, True):
        found = run_plain(program, [*carries, xs], lowered=lowered)
        for left, right in zip(found, expected, strict=True):
            assert_same_bits(left, np.asarray(right))


def first_places(body, pointer):
    """Yield the first place of each store and loop of stores that an iteration has."""
    for statement in body:
        match statement:
            case ir.For(start=start, body=inner) if any(isinstance(s, ir.Store) for s in inner):
                yield start.value
            case ir.Store(pointer=ir.Read(variable=own), index=index) if own is pointer:
                yield index.operands[1].value


@pytest.mark.parametrize("step", ALIKE, ids=lambda f: f.__name__)
def test_stores_go_from_one_end_to_the_other(step, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    body = carried(plan(from_jax(scan_of(step), carries, xs)))
    (array,) = [s.variable for s in body if isinstance(s, ir.Let) and s.variable.name == "carried0"]
    (loop,) = [s for s in body if isinstance(s, ir.While)]
    places = list(first_places(loop.body, array))
    assert 1 <= len(places) < COUNT
    assert places == sorted(places)


@pytest.mark.slow
@pytest.mark.parametrize("step", ALIKE, ids=lambda f: f.__name__)
def test_machine_code_has_them_too(step, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    function = from_jax(scan_of(step), carries, xs)
    executable = Executable(plan(function))
    assert executable.wait(60)
    for left, right in zip(executable([*carries, xs]), interpret(function, [*carries, xs]), strict=True):
        assert_same_bits(left, np.asarray(right))


SIZE = 10
KERNEL = """
x = address(bufs, 0)
y = address(bufs, 1)
carried = stack_array(64, 8)
{begin}
here = 0
{fill}
for i in range(lo, hi):
{loads}
{values}
    there = 16 - here
{stores}
    here = there
for k in range(10):
    store_f64(y, k, load_f64(carried, here + k))
"""


def kernel_of(value_of, begin="", stores="store_f64(carried, there + {k}, {value})", size=SIZE):
    """Return a kernel whose iterations compute each of some neighbours by ``value_of``: lines, of which the last is it."""
    values = [value_of(k).split("\n") for k in range(size)]
    parts = {
        "begin": begin,
        "fill": "\n".join(f"store_f64(carried, {k}, load_f64(x, {k}))" for k in range(size)),
        "loads": "\n".join(f"s{k} = load_f64(carried, here + {k})" for k in range(size)),
        "values": "\n".join(line for lines in values for line in lines[:-1]) or "pass",
        "stores": "\n".join(stores.format(k=k, value=lines[-1]) for k, lines in enumerate(values)),
    }
    inside = {
        name: indent(text, "    ") if name in ("loads", "values", "stores") else text for name, text in parts.items()
    }
    return KERNEL.format(**inside)


def results(module):
    """Return what a kernel makes of some numbers in three iterations."""
    x, y = np.linspace(-1.0, 2.0, 16), np.zeros(16)
    table = np.array([x.ctypes.data, y.ctypes.data])
    function_of_source("kernel", text_of(module))(0, table.ctypes.data, 0, 0, 3)
    return y.tolist()


def neighbour(k):
    """Return a name of the state, the first behind the last."""
    return f"s{k % SIZE}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(kernel_of(lambda k: f"a{k} = s{k} * 0.5\nb{k} = a{k} + 1.0\nb{k} * a{k}"), id="parts"),
        pytest.param(kernel_of(lambda k: f"{neighbour(min(k + 1, 9))} - s{k}"), id="neighbours"),
        pytest.param(kernel_of(lambda k: f"s{k} * to_f64({k}.5)"), id="constants"),
        pytest.param(
            kernel_of(lambda k: f"s{k} * c{k}", "\n".join(f"c{k} = load_f64(x, {k})" for k in range(SIZE))),
            id="what the kernel begins with",
        ),
    ],
)
def test_neighbours_that_are_computed_alike_become_a_loop(text):
    module = read(text)
    expected = results(module)
    assert roll_stores(module)
    verify(module, numba_target())
    assert sum(isinstance(s, ir.For) for s in ir.walk(module.entry.body)) == 3
    assert results(module) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(kernel_of(lambda k: f"s{k} {'+-*'[k % 3]} 0.5"), id="not alike"),
        pytest.param(kernel_of(lambda k: f"s{k} * 0.5", size=LEAST - 1), id="few"),
        pytest.param(
            kernel_of(lambda k: "\n".join([f"a{k} = s{k}", *[f"a{k} = a{k} * a{k}"] * 6, f"a{k}"])), id="long"
        ),
        pytest.param(kernel_of(lambda k: f"a{k} = load_f64(x, i)\ns{k} * a{k}"), id="loads"),
        pytest.param(
            kernel_of(lambda k: f"a{k} = 1.0\nfor j in range(2):\n    a{k} = a{k} * s{k}\na{k}"), id="what changes"
        ),
        pytest.param(kernel_of(lambda k: f"s{k} * 0.5").replace("16 - here", "8 - here"), id="halves that overlap"),
        pytest.param(kernel_of(lambda k: f"s{k} * 0.5").replace("here = there", "here = i"), id="other places"),
        pytest.param(
            kernel_of(lambda k: f"s{k} * 0.5").replace(
                "there = 16", "store_f64(carried, here + 3, 0.0)\n    there = 16"
            ),
            id="another store",
        ),
        pytest.param(
            kernel_of(lambda k: f"s{k} * 0.5").replace("carried = stack_array(64, 8)", "carried = y"), id="memory"
        ),
    ],
)
def test_what_stays_as_it_is(text):
    found, changed = after(roll_stores, text)
    assert not changed
    assert found == printed(read(text))


def test_the_loop_reads_a_table_of_what_differs():
    begin = "\n".join(f"c{k} = to_f64(number(dims, {k}))" for k in range(2))
    module = read(kernel_of(lambda k: f"c{k % 2} * s{k} + {neighbour(k + 1) if k < 9 else 's9'}", begin))
    assert roll_stores(module)
    tables = [s for s in module.entry.body if isinstance(s, ir.Store) and s.pointer.variable.name == "table"]
    assert [s.value.variable.name for s in tables] == [f"c{k % 2}" for k in range(9)]
    expected = """
        for place in range(9):
            x_2 = load_f64(table, place - 0)
            x_3 = load_f64(carried, here + place + 0)
            x_4 = load_f64(carried, here + place + 1)
            store_f64(carried, there + place, x_2 * x_3 + x_4)
        store_f64(carried, there + 9, c1 * s9 + s9)
        here = there
    """
    assert indent(dedent(expected).strip("\n"), "    ") in printed(module)
