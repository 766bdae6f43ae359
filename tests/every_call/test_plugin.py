"""What the plugin notes and calls again: of a test's own calls, those whose machine code it has waited for."""

import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
from numhlo import stablehlo
from numhlo.backend.executable import Executable
from tests.every_call.harness import EveryCallError
from tests.every_call.plugin import EveryCall
from tests.every_call.recording import EVERYTHING, IN_SUITE, Limits, Recorder

X = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def recorder(monkeypatch):
    made = Recorder(IN_SUITE)
    made.install(monkeypatch)
    made.begin()
    return made


def test_calls_that_were_waited_for_are_made_again(recorder):
    waited, other = numhlo.jit(lambda x, n: x * n + 1), numhlo.jit(lambda x: x - 1)
    waited(X, 3)
    other(X)
    waited.wait()
    (noted,) = recorder.end()
    assert recorder.check(noted) and not recorder.check(noted)  # once
    recorder.begin()
    assert recorder.end() == []


def test_everything_is_made_again_where_it_is_asked_for(recorder):
    recorder.limits = EVERYTHING
    numhlo.jit(lambda x: x * 2 + 3)(X)
    (noted,) = recorder.end()
    assert recorder.check(noted)


def test_written_donated_static_and_named_arguments(recorder):
    def step(x, y, *, factor, kind):
        x += y * factor
        return (x if kind == "x" else y).sum()

    function = numhlo.jit(step, static_argnames="kind")
    function(X.copy(), X, factor=2.0, kind="x")
    giving = numhlo.jit(lambda x: x + 2, donate_argnums=0, tier0=False)
    giving(X.copy())
    function.wait()
    first, second = recorder.end()
    assert (first.written, second.donated) == ([0], (0,))
    assert recorder.check(first) and recorder.check(second)


def test_programs_of_stablehlo(recorder):
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.add %x, %x : tensor<3xf32> return %0 : tensor<3xf32> }"
    with numhlo.debugging(tier0=False):
        stablehlo.parse(text).run("main", np.ones(3, np.float32))
    (noted,) = recorder.end()
    assert recorder.check(noted)


def test_a_program_that_is_wrong_in_machine_code_is_found(recorder, monkeypatch):
    function = numhlo.jit(lambda x: hnp.exp(x) * 3)
    function(X)
    function.wait()
    (noted,) = recorder.end()
    monkeypatch.setattr(noted, "reference", lambda *leaves: np.exp(X) * 4)
    with pytest.raises(EveryCallError, match="result 0"):
        recorder.check(noted)


def test_what_takes_the_interpreter_long_is_left_out(recorder):
    recorder.limits = Limits(everything=True, seconds=0.0, nbytes=1000)
    numhlo.jit(lambda x: x * 5 - 1)(X)
    numhlo.jit(lambda x: x * 5 - 2)(np.ones(1000))
    (noted,) = recorder.end()
    assert not recorder.check(noted)


def test_tests_that_have_passed_are_left_out(tmp_path):
    class Item:
        def __init__(self, nodeid):
            self.nodeid = nodeid

    class Config:
        def __init__(self):
            self.hook, self.left_out = self, []

        def pytest_deselected(self, items):
            self.left_out += items

    file = tmp_path / "passed.txt"
    file.write_text("a\nb\n")
    items, config = [Item("b"), Item("c")], Config()
    plugin = EveryCall(file)
    plugin.recorder = Recorder(EVERYTHING)  # it is installed only once
    plugin.pytest_collection_modifyitems(config, items)
    assert [x.nodeid for x in items] == ["c"] and [x.nodeid for x in config.left_out] == ["b"]


def test_waiting_still_waits(recorder):
    function = numhlo.jit(lambda x: x * 7)
    function(X)
    function.wait()
    assert all(isinstance(x.executable, Executable) and x.executable.ready for x in recorder.end())
