"""Ctrl-C inside native loops, of the driver and of a kernel; other listeners are not cut off."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.primitives.layout import CUT_SHORT, FLAG_BEFORE_OBJECT, FLAG_DEPTH
from numhlo.backend.program import Buffer, Kernel, Launch, Place, Program
from numhlo.backend.runtime.interrupt import block
from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.primitive import make_op
from tests.backend.child import run_child
from tests.backend.hand_written import I64
from tests.backend.test_executable import doubling_program

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="native loops can't be interrupted there"),
    pytest.mark.interrupts,
]

ENDLESS = f"""
from numhlo.backend.primitives import address, fail, interrupted, load_i64, store_i64


def endless(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    count = load_i64(x, 0)
    while count != 0:
        count += 1
        if interrupted(ctx):
            fail(ctx, {CUT_SHORT})
            return
    store_i64(y, 0, count)
"""


def endless_kernel_program():
    type = TensorType((), I64)
    x = Region([type]).arguments[0]
    op = make_op(elementwise.NEGATE, [x])
    step = Launch(
        Kernel("endless", ENDLESS, frozenset({"interrupted"})), (0, 1), (), 1, 1, [op], [(x, 0)], [(op.result, 1)]
    )
    return Program([Buffer(type, Place.ARGUMENT, 0), Buffer(type, Place.RESULT, 0)], [step], 0, [1])


def press_ctrl_c(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()


ENDLESS_CALLS = {
    "driver": (doubling_program(np.inf), np.array(0.0)),  # 0 + 0 never gets there
    "kernel": (endless_kernel_program(), np.array(1)),
}


@pytest.mark.parametrize("loop", ENDLESS_CALLS)
def test_ctrl_c_ends_a_native_loop_that_would_not_end(loop):
    program, argument = ENDLESS_CALLS[loop]
    executable = Executable(program)
    assert executable.wait(60)
    for _ in range(2):
        press_ctrl_c(0.1)
        with pytest.raises(KeyboardInterrupt):
            executable([argument])
    last = np.array(np.inf if loop == "driver" else 0)
    assert executable([last])[0] == last
    assert signal.set_wakeup_fd(-1) == -1


def test_a_call_listens_once_its_loop_has_gone_on_for_a_while():
    executable = Executable(doubling_program(1e300))
    assert executable.wait(60)
    if executable.fast is None:
        pytest.skip("calls go through Python")
    listened = []
    for first in (1e299, 1.5):
        block[FLAG_BEFORE_OBJECT] = 0  # what listened before; written where a call begins to listen
        executable([np.array(first)])
        listened.append(bool(block[FLAG_BEFORE_OBJECT]))
    assert listened == [False, True]


@pytest.fixture
def doubling():
    """Return a loop of the driver, called by way of Python."""
    executable = Executable(doubling_program(1e300))
    assert executable.wait(60)
    return executable


def test_signals_that_raise_nothing_let_the_loop_go_on_and_other_listeners_hear_of_them(doubling, monkeypatch):
    run_steps = doubling._run_steps

    def flag_is_up(frame, heard):
        assert heard()
        signal.raise_signal(signal.SIGUSR1)
        run_steps(frame, heard)

    monkeypatch.setattr(doubling, "_run_steps", flag_is_up)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    kept = signal.set_wakeup_fd(writer)
    try:
        assert doubling._call([np.array(1.5)])[0][()] == 1.5 * 2.0 ** np.ceil(np.log2(1e300 / 1.5))
        assert seen == [1]
        assert os.read(reader, 10) == bytes([signal.SIGUSR1])
        assert signal.set_wakeup_fd(writer) == writer
    finally:
        signal.set_wakeup_fd(kept)
        signal.signal(signal.SIGUSR1, before)
        os.close(reader)
        os.close(writer)


def test_ctrl_c_at_the_start_of_any_function_of_a_call_leaves_nothing_behind(doubling):
    raised = 0

    def call(number):
        """Make a call in which Ctrl-C is pressed at the start of one of the Python functions that it calls."""
        starts = iter(range(number + 1))

        def trace(frame, event, argument):
            if next(starts, None) == number:
                raise KeyboardInterrupt

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            doubling._call([np.array(1e299)])
        finally:
            sys.settrace(before)

    for number in range(200):
        try:
            call(number)
        except KeyboardInterrupt:
            raised += 1
        else:
            break
        assert (signal.set_wakeup_fd(-1), block[FLAG_DEPTH]) == (-1, 0), number
    assert 10 < raised < 200
    assert doubling([np.array(1e300)])[0] == 1e300


def test_only_the_main_thread_hears(doubling):
    made = []
    block[FLAG_BEFORE_OBJECT] = 0
    thread = threading.Thread(target=lambda: made.append(doubling._call([np.array(1.5)])))
    thread.start()
    thread.join()
    assert made
    assert block[FLAG_BEFORE_OBJECT] == 0


def test_no_file_is_needed_where_none_can_be_made():
    text = """
        import resource, warnings
        import numpy as np
        warnings.simplefilter("ignore")  # kernels can't be kept on disk either
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        import numhlo
        run = numhlo.jit(lambda n: numhlo.lax.fori_loop(0, n, lambda k, s: s + k, 0))
        print(run(10))
    """
    assert run_child(text) == "45\n"


FIRST_CALL = """
import os, signal, threading, time
import numhlo

signal.signal(signal.SIGINT, signal.default_int_handler)
run = numhlo.jit(lambda limit: numhlo.lax.while_loop(lambda k: k != limit, lambda k: k + 1, 0))
run.lower(0)
timer = threading.Timer({seconds}, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
try:
    run(-1)
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 4.0])
def test_ctrl_c_ends_a_first_call_before_and_after_machine_code_has_arrived(seconds, tmp_path):
    environment = {**os.environ, "NUMHLO_CACHE_DIR": str(tmp_path), "NUMHLO_ENGINE": "compiled"}
    script = FIRST_CALL.format(seconds=seconds)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout == "heard\n", done.stderr
