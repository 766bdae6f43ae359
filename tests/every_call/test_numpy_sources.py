"""Random NumPy sources: a slice of them on every call, and the generator, the verdicts and the reduction themselves."""

import itertools

import numpy as np
import pytest

import numhlo
from tests.every_call import numpy_judging
from tests.every_call.numpy_children import Judges, as_json, from_json
from tests.every_call.numpy_find import standalone
from tests.every_call.numpy_judging import inputs, is_decided, judge, loaded
from tests.every_call.numpy_shrinking import candidates, is_sound, shrink
from tests.every_call.numpy_sources import shortened
from tests.every_call.source_programs import Parameter, Source, program

BATCH = 25

A, B = Parameter("a", (5,), "float64"), Parameter("b", (5,), "float64")


def source(text, *parameters, autograph=True, seed=0):
    return Source(f"import numpy as np\n\n\n{text}", parameters, seed, autograph, True)


WHILE = source(
    """def program(a, b):
    w = np.zeros_like(a)
    k = 0
    while k < 30 and a.mean() < 2.0:
        for i in range(1, 5):
            w[i] = 0.5 * w[i - 1] + 0.3 * a[i]
        a[1:] = 0.5 * a[:-1] + 0.2 * b[1:]
        k += 1
    return w, a
""",
    A,
    B,
)


@pytest.mark.parametrize(("tier", "batch"), [("first" if k < 5 else "interpreter", k) for k in range(8)])
def test_sources_are_right_on_every_call(tier, batch):
    start = 100_000 + BATCH * batch
    verdicts = {seed: judge(program(seed), tier) for seed in range(start, start + BATCH)}
    assert not {seed: verdict for seed, verdict in verdicts.items() if verdict.is_find}


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(4))
def test_sources_are_right_on_every_native_call(batch):
    start = 200_000 + 5 * batch
    verdicts = {seed: judge(program(seed), "native") for seed in range(start, start + 5)}
    assert not {seed: verdict for seed, verdict in verdicts.items() if verdict.is_find}


def test_a_program_belongs_to_its_seed():
    assert [program(seed) for seed in range(20)] == [program(seed) for seed in range(20)]
    assert program(1).text != program(2).text


def test_numpy_runs_all_sources_and_their_numbers_stay_small():
    with np.errstate(all="ignore"):
        for seed in range(60):
            one = program(seed)
            with loaded(one) as function:
                found = function(*inputs(one))
            for x in found if type(found) is tuple else (found,):
                assert np.all(np.abs(x) < 50), one.text


def test_sources_hold_what_they_are_for():
    texts = "\n".join(program(seed).text for seed in range(400))
    wanted = [
        "for ",
        "while ",
        "if ",
        "else:",
        "break",
        "continue",
        "def helper_",
        "np.empty_like",
        "out=",
        " *= ",
        ".sort()",
    ]
    wanted += [
        "np.cumsum(",
        "np.dot(",
        "reversed(",
        "enumerate(",
        "[::-1]",
        ".T\n",
        "range(121)",
        "range(steps)",
        " if ",
        "float32",
    ]
    assert [word for word in wanted if word not in texts] == []


@pytest.mark.parametrize("tier", ["first", "interpreter", "plans"])
def test_a_right_source_is_right(tier):
    assert judge(WHILE, tier).kind == "right"


@pytest.mark.slow
def test_a_right_source_is_right_as_machine_code():
    assert judge(WHILE, "native").kind == "right"


def wrong_on_call(number, change):
    """Return a `jit` whose functions go wrong on one call."""

    def jit(function, **options):
        compiled, count = JIT(function, **options), itertools.count(1)

        def call(*arguments):
            found = compiled(*arguments)
            return change(found, arguments) if next(count) == number else found

        return call

    return jit


def of_result(found, arguments):
    w, a = found
    return w, np.asarray(a) + 1e-6


def of_argument(found, arguments):
    arguments[0][2] += 1e-6
    return found


def of_untouched_argument(found, arguments):
    if arguments[1].flags.writeable:
        arguments[1][2] += 1e-6
    return found


JIT = numhlo.jit


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("change", [of_result, of_argument, of_untouched_argument])
def test_a_wrong_call_is_found(monkeypatch, number, change):
    monkeypatch.setattr(numpy_judging.numhlo, "jit", wrong_on_call(number, change))
    verdict = judge(WHILE, "first")
    assert verdict.kind == "wrong"
    assert verdict.detail.startswith(f"call {number} ")


def test_an_earlier_result_that_changes_is_found(monkeypatch):
    kept = []

    def change(found, arguments):
        kept[0][0] += 1.0
        return found

    def jit(function, **options):
        compiled = wrong_on_call(2, change)(function, **options)

        def call(*arguments):
            found = tuple(np.array(x) for x in compiled(*arguments))
            kept.append(found[0])
            return found

        return call

    monkeypatch.setattr(numpy_judging.numhlo, "jit", jit)
    verdict = judge(WHILE, "first")
    assert (verdict.kind, "call 1's result 0 has changed since" in verdict.detail) == ("wrong", True)


def test_an_exception_of_another_class_is_a_find(monkeypatch):
    def change(found, arguments):
        raise KeyError("gone")

    monkeypatch.setattr(numpy_judging.numhlo, "jit", wrong_on_call(1, change))
    verdict = judge(WHILE, "first")
    assert (verdict.kind, verdict.detail.startswith("KeyError: 'gone'")) == ("foreign", True)


def test_an_error_of_numhlos_own_is_a_refusal():
    text = "def program(a):\n    if a[0] > 0.0:\n        a[1] = 0.0\n    return a\n"
    verdict = judge(source(text, A, autograph=False), "first")
    assert (verdict.kind, verdict.detail.startswith("TruthValueError: ")) == ("refused", True)


def test_what_numpy_refuses_or_never_ends_is_left_out(monkeypatch):
    monkeypatch.setattr(numpy_judging, "SECONDS_OF_NUMPY", 0.05)
    assert judge(source("def program(a):\n    return a[9]\n", A), "first").kind == "skipped"
    endless = source("def program(a):\n    while a[0] < 2.0:\n        a[1] = 0.0\n    return a\n", A)
    assert judge(endless, "first").kind == "skipped"


def test_a_comparison_of_what_is_equal_but_for_rounding_is_not_decided():
    undecided = "def program(a):\n    return np.where(a * 3.1 / 3.1 > a, 1.0, 0.0)\n"
    assert not is_decided(source(undecided, A))
    assert is_decided(WHILE)


def test_an_assignment_of_views_that_numpy_reads_while_it_writes_is_not_decided():
    assert not is_decided(source("def program(a):\n    a[::2] = a[:3]\n", A))
    assert is_decided(source("def program(a):\n    a[1:] = a[:-1]\n    a[:] = a[::-1]\n", A))


def test_sources_keep_their_form_on_the_way_to_a_child():
    one = program(5)
    assert from_json(as_json(one, "first")) == (one, "first")


def test_children_that_crash_or_hang_are_replaced():
    crash = source("import ctypes\n\n\ndef program(a):\n    ctypes.string_at(0)\n    return a\n", A)
    hang = source("import time\n\n\ndef program(a):\n    time.sleep(a.size)\n    return a\n", A)
    with Judges(60.0) as judges:
        assert judges.judge(crash, "first")[0] == "crash"
        assert judges.judge(WHILE, "first") == ("right", "")
        assert judges.judge(hang, "first", 0.3)[0] == "hang"


def test_a_source_shrinks_to_what_matters():
    def fails(candidate):
        return "np.tanh(" in candidate.text and "for " in candidate.text

    text = """def program(a, b):
    w = np.empty_like(a)
    w[:] = a
    for i in range(121):
        if a[0] > 0.2:
            w[1] = np.tanh(b[2]) + 0.125
        else:
            w[2] = 3.0
    b[1] = 2.0
    return w, a, b
"""
    small = shrink(source(text, A, B), fails, 20.0)
    assert fails(small)
    assert len(small.text.splitlines()) <= 6
    assert all(is_sound(x.text) is not None for x in candidates(small))


def test_an_empty_array_is_filled_before_it_is_read():
    fill = "def program(a):\n    w = np.empty_like(a)\n    w[:] = 0.5\n    return w\n"
    assert is_sound(fill)
    assert not is_sound(fill.replace("    w[:] = 0.5\n", ""))


def test_a_find_is_a_program_of_its_own(tmp_path):
    text = standalone(WHILE, {"first": ("right", ""), "native": ("wrong", "call 3")})
    assert text.startswith("# probably planner")
    scope = {"__name__": "found"}
    exec(compile(text, str(tmp_path / "found.py"), "exec"), scope)  # noqa: S102 - the program that was written
    np.testing.assert_array_equal(scope["arguments"](1), inputs(WHILE, 1))


def test_refusals_are_counted_without_names_and_sizes():
    one = shortened("MutationError: an array float64[5,6] is read, 'w1'")
    assert one == shortened("MutationError: an array float64[3] is read, 'v2'")


def test_float32_that_goes_into_float64_is_compared_as_float32():
    text = "import numpy as np\n\n\ndef program(a, c):\n    c[1] = a.mean() * 3\n    c[0] = np.tanh(a).sum()\n"
    parameters = (Parameter("a", (9,), "float32"), Parameter("c", (9,), "float64"))
    assert judge(Source(text, parameters, 20008416, False, False), "first").kind == "right"
