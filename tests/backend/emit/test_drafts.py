"""What is remembered of kernels' text: right for other sizes, and only for those that answer the writer's questions."""

import math

import numpy as np
import pytest

import numhlo
from numhlo import switches
from numhlo.backend.emit import draft as drafts
from numhlo.backend.emit.sizes import Questions, Slots, reckoned
from numhlo.backend.program import Branch, Kernel, Launch, Loop
from numhlo.lowering.ir import Region, TensorType, Value
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.passes.pipeline import optimize
from tests.backend import random_programs
from tests.backend.planning.test_plan import MIXTURES
from tests.backend.programs import plan

OTHER_PRIMES = {2: 3, 3: 5, 5: 7}
LARGER_PRIMES = {2: 11, 3: 13, 5: 17}


@pytest.fixture
def memory(monkeypatch):
    """Return an empty memory of drafts, in place of the one that other tests filled."""
    found = {}
    monkeypatch.setattr(drafts, "_DRAFTS", found)
    return found


@pytest.fixture
def written(monkeypatch):
    """Return a list that grows with every text that is written."""
    found, write = [], drafts._write

    def noting(*arguments):
        found.append(write(*arguments))
        return found[-1]

    monkeypatch.setattr(drafts, "_write", noting)
    return found


def other_extent(extent, primes):
    """Return an extent with other prime factors, so that shapes that could be reshaped or broadcast still can be."""
    for old, new in primes.items():
        if extent and extent % old == 0:
            return new * other_extent(extent // old, primes)
    return extent


def launches(steps):
    """Yield what a program launches, with all that the launch of a kernel needs."""
    for step in steps:
        match step:
            case Launch():
                yield step.kernel.source, step.buffers, step.dims, step.extent, step.grain, step.flops, step.bytes
            case Loop():
                yield from launches([*step.condition, *step.body])
            case Branch():
                yield from (launch for branch in step.branches for launch in launches(branch))


def random_launches(monkeypatch, primes, number):
    shapes = [tuple(other_extent(n, primes) for n in shape) for shape in random_programs.SHAPES]
    with monkeypatch.context() as patch:
        patch.setattr(random_programs, "SHAPES", shapes)
        rng = np.random.default_rng([7, number])
        function = random_programs.random_function(rng, 15, MIXTURES[number % len(MIXTURES)])
    return list(launches(plan(function).steps))


@pytest.mark.slow
def test_remembered_kernels_are_those_that_would_be_written(memory, written, monkeypatch):
    asked = 0
    for number in range(60):
        families = (OTHER_PRIMES, LARGER_PRIMES)
        found = [random_launches(monkeypatch, primes, number) for primes in ({}, *families)]
        asked += sum(map(len, found))
        mark = len(written)
        for primes, remembered in zip(families, found[1:], strict=True):
            memory.clear()
            assert random_launches(monkeypatch, primes, number) == remembered
            memory.clear()
        del written[mark:]
    assert len(written) < asked * 0.8  # many were not written, so the comparison says something


def normalize(x, w):
    y = np.tanh(x @ w) * 2.0 - 1.0
    y[1:-1] = y[2:] + y[:-2]
    y = (y - y.mean(axis=0)) / np.sqrt((y * y).mean(axis=0) + 1e-5)
    best = np.exp(y - y.max(axis=1, keepdims=True)).argmax(axis=1)
    return np.cumsum(y, axis=1), best, np.where(y > 0.25, y, y.T.mean())


def test_a_new_shape_writes_no_text(written):
    function = numhlo.jit(normalize)

    def planned(rows, inner, columns):
        traced = function.trace(np.ones((rows, inner)), np.ones((inner, columns)))
        return list(launches(plan(optimize(traced.module.main)).steps))

    for rows in (40, 90):
        planned(rows, 33, 70)
    planned(120, 110, 150)  # a product that is cut
    written.clear()
    for rows in (50, 61, 112):
        assert len(planned(rows, rows - 9, rows + 31)) > 5
    assert written == []


def test_attributes_are_part_of_a_structure():
    x = np.array([1.2345678, 3.14159])
    with switches.using(engine="compiled"):
        rounded = [
            numhlo.jit(lambda x, bits=bits: numhlo.lax.reduce_precision(x, 8, bits), tier0=False)(x) for bits in (7, 2)
        ]
    np.testing.assert_array_equal(rounded, [[1.234375, 3.140625], [1.25, 3.0]])


def a_value(shape=(3,)):
    return Value(TensorType(shape, np.dtype(np.float64)), Region())


def remember(sizes, write, values=()):
    """Return what is remembered for sizes, which make up all of a description."""
    numbers = {value: number for number, value in enumerate(values)}
    return drafts.remembered(
        lambda places: tuple(places[n] for n in sizes),
        values,
        numbers.__getitem__,
        lambda unknowns: [write(unknowns, *[unknowns.sizes[n] for n in sizes])],
    )[0]


def a_draft(text, dims=(), buffers=(), extent=1):
    return drafts.Draft(Kernel("f", str(text)), tuple(buffers), tuple(dims), extent, 1, 0, 0)


@pytest.mark.parametrize(
    ("write", "same", "others"),
    [
        pytest.param(lambda n, m: n > 10, [(20, 3), (11, 90)], [(7, 4)], id="compares"),
        pytest.param(lambda n, m: n == m * 4, [(20, 5), (32, 8)], [(21, 5)], id="equals what was reckoned"),
        pytest.param(lambda n, m: f"{m}", [(20, 5), (9, 5)], [(20, 6)], id="writes a size out"),
        pytest.param(lambda n, m: [*range(m)], [(20, 5), (9, 5)], [(20, 6)], id="counts up to a size"),
        pytest.param(lambda n, m: [9, 8, 7, 6][m], [(20, 2), (9, 2)], [(20, 3)], id="takes a size as an index"),
        pytest.param(lambda n, m: -n // 2 + abs(m) < -10, [(30, 3), (50, 7)], [(30, 9)], id="reckons on"),
        pytest.param(lambda n, m: {n: 1}.get(m), [(30, 3), (50, 7)], [(8, 8)], id="looks a size up"),
        pytest.param(lambda n, m: max(n, m) is n, [(30, 3), (50, 7)], [(3, 30)], id="takes the larger"),
        pytest.param(lambda n, m: m in (4, 5), [(30, 3), (50, 7)], [(30, 4)], id="looks for a size"),
        pytest.param(lambda n, m: bool(n - m - 5), [(30, 3), (50, 7)], [(8, 3)], id="asks whether it is nothing"),
        pytest.param(lambda n, m: math.prod([n, m]) <= 60, [(30, 2), (12, 5)], [(30, 3)], id="multiplies"),
    ],
)
def test_texts_are_kept_for_sizes_that_answer_alike(memory, written, write, same, others):
    for sizes in same:
        remember(sizes, lambda _, n, m: a_draft(write(n, m)))
    assert len(written) == 1
    for number, sizes in enumerate(others):
        found = remember(sizes, lambda _, n, m: a_draft(write(n, m)))
        assert found.kernel.source == str(write(*sizes))
        assert len(written) == 2 + number
    assert remember(same[0], lambda _, n, m: a_draft(write(n, m))).kernel.source == str(write(*same[0]))
    assert len(written) == 1 + len(others)


def test_numbers_of_a_launch_are_those_of_its_sizes(memory, written):
    half = reckoned(lambda extent, parts: extent // parts if extent > 50 else 0)

    def write(unknowns, n, m):
        return a_draft("", (n, 7, n * m - 1, half(n, 2)), extent=n // m)

    assert remember((20, 3), write)[2:4] == ((20, 7, 59, 0), 6)
    assert remember((90, 4), write)[2:4] == ((90, 7, 359, 45), 22)
    assert len(written) == 1


def test_values_have_no_shapes_for_writers(memory, written):
    first, second = a_value(), a_value((4, 5))

    def write(unknowns, n):
        seen = [unknowns.value(v) for v in (second, first)]
        assert [v.tensor.shape for v in seen] == [(), ()]
        return a_draft("", (), [unknowns.buffer(v) for v in seen])

    assert remember((9,), write, (first, second)).buffers == (1, 0)
    assert remember((8,), write, (second, first)).buffers == (1, 0)
    assert len(written) == 1


def test_sizes_are_not_used_after_their_kernel(memory):
    kept = []
    remember((9,), lambda unknowns, n: kept.append(n) or a_draft(""))
    for use in (str, lambda n: n + 1, lambda n: n > 3):
        with pytest.raises(InternalError, match="a size is used after its kernel was finished"):
            use(kept[0])
    questions = Questions([9]), Questions([9])
    first, second = (q.unknowns[9] for q in questions)
    with pytest.raises(InternalError, match="a kernel was given another kernel's size"):
        first + second
    with pytest.raises(TypeError):
        first + 0.5


def test_plain_numbers_and_equal_sizes_are_part_of_a_structure():
    slots = Slots()
    assert [slots[n] for n in (1, 5, -1, 0, 5, -7)] == [1, 2, -1, 0, 2, 3]
    assert slots.numbers == [5, -7]
    unknowns = Questions([5, 7]).unknowns
    assert unknowns[0] == 0 and unknowns[5] != unknowns[7] and unknowns[5] != 1


def test_where_accesses_begin_is_a_number_of_an_arrays_own():
    slots = Slots(arrays={"a": 0, "view of a": 0, "b": 1})
    assert slots[5] == 2
    assert [slots.offset(*place) for place in (("a", 5), ("b", 5), ("view of a", 5), ("b", 1), ("b", 0))] == [
        3,
        4,
        3,
        1,
        0,
    ]
    assert slots.numbers == [5, 5, 5]
    unknowns = Questions(slots.numbers, slots=slots).unknowns
    assert (unknowns[5].place, unknowns.offset("view of a", 5).place) == (0, 1)
    assert unknowns.offset("a", 5) != unknowns.offset("b", 5)
    assert unknowns.offset("b", 1) == 1


def test_few_texts_are_kept(memory, written, monkeypatch):
    monkeypatch.setattr(drafts, "MOST_DRAFTS", 3)
    for extent in range(2, 60):
        remember((extent,), lambda _, n: a_draft(str(n)))
    (variants,) = memory.values()
    assert len(variants) == drafts.MOST_VARIANTS
    for rank in range(2, 9):
        remember(range(2, 2 + rank), lambda _, *shape: a_draft(""))
    assert len(memory) == 3
