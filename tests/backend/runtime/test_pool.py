"""The thread pool: same bits for any number of threads, safe after fork, in nested use, and with either way to
sleep.
"""

import os
import sys
import threading

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.primitives import layout
from numhlo.backend.processors import available_processors, cgroup_quota
from numhlo.backend.program import Program
from numhlo.backend.runtime import pool
from numhlo.backend.runtime.native_code.trials import LEAST_PAUSE
from numhlo.backend.runtime.step_table import UNTRIED
from numhlo.lowering.ir.errors import ArgumentError
from tests.backend.child import run_child
from tests.backend.hand_written import F32, elementwise_kernel, first_launch, square_plus

COUNT = 40_000


def heavy(grain: int, count: int = COUNT) -> Program:
    """Division chains: enough work for several chunks."""
    program = square_plus(count, grain=grain)
    first_launch(program).kernel = elementwise_kernel(
        "heavy", F32, 1, "divide(a0, divide(a0 + to_f32(1.0), a0 + to_f32(2.0)))"
    )
    return program


def ready(program: Program) -> Executable:
    executable = Executable(program)
    assert executable.wait(60)
    return executable


@pytest.fixture(params=["futex", "condition"])
def sleeping(request, monkeypatch):
    """Run with each way to sleep, and with the threads of a machine of two processors unless a test asks for more."""
    pool.stop()
    monkeypatch.setattr(pool, "available_processors", lambda: 2)
    pool.reset(futex=0 if request.param == "condition" else None)
    yield request.param
    pool.stop()
    monkeypatch.undo()
    pool.reset()


@pytest.mark.skipif(sys.platform == "win32", reason="launches run serially there")
def test_same_bits_for_any_number_of_threads(sleeping, rng):
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=1000))
    (expected,) = ready(heavy(grain=COUNT))([x])
    for count in (1, 2, 3, 7):
        with pool.threads(count):
            assert pool.thread_count() == count
            for _ in range(50):
                (y,) = executable([x])
                np.testing.assert_array_equal(y, expected)
    assert len(pool._threads) == 6
    assert pool.words[layout.POOL_WORKERS] == 6


@pytest.mark.skipif(sys.platform == "win32", reason="launches run serially there")
def test_same_bits_while_short_launches_are_tried_both_ways(sleeping, rng):
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=COUNT // 8))
    (expected,) = ready(heavy(grain=COUNT))([x])
    (row,) = [row for row in executable.table.words if row[layout.OPCODE] == layout.DO_LAUNCH]
    assert row[layout.LAUNCH_TURN :].tolist() == [UNTRIED, 0, 0, 0]
    generations = set()
    for count in range(1, 9):
        with pool.threads(count):
            for _ in range(30):
                (y,) = executable([x])
                np.testing.assert_array_equal(y, expected)
                generations.add(int(pool.words[layout.POOL_GENERATION]))
        assert row[layout.LAUNCH_SHARED_TIME] > 0 or count == 1
    assert len(generations) >= 3  # some are shared
    assert row[layout.LAUNCH_PAUSE] >= LEAST_PAUSE  # they have begun to settle


def test_threads_are_counted_and_checked():
    before = pool.thread_count()
    with pytest.raises(ArgumentError, match=r"threads\(0\)"), pool.threads(0):
        pass
    with pool.threads(3):
        with pool.threads(2):
            assert pool.thread_count() == 2
        assert pool.thread_count() == 3
        elsewhere = []
        thread = threading.Thread(target=lambda: elsewhere.append(pool.thread_count()))
        thread.start()
        thread.join()
        assert elsewhere == [before]  # the number is this thread's alone
    assert pool.thread_count() == before
    assert pool.words[layout.POOL_OVERRIDES] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="launches run serially there")
def test_a_thread_keeps_to_its_own_number(rng):
    """A worker takes part in a launch if the launching thread may use as many, whatever others may."""
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=1000))
    with pool.threads(4):
        executable([x])
        executable([x])
        generation = int(pool.words[layout.POOL_GENERATION])
        with pool.threads(1):
            executable([x])
        assert pool.words[layout.POOL_GENERATION] == generation  # no launch was shared
        executable([x])
        assert pool.words[layout.POOL_GENERATION] == generation + 1
        assert pool.words[layout.JOB_LIMIT] == 4


IDLE = """
    import os, time
    import numpy as np
    from numhlo.backend.runtime import pool
    from tests.backend.runtime.test_pool import heavy, ready
    executable = ready(heavy(grain=1000))
    x = np.linspace(0, 1, 40_000, dtype=np.float32)
    with pool.threads(4):
        for _ in range(100):
            executable([x])
    def busy():
        begin = time.process_time()
        time.sleep(0.3)
        return time.process_time() - begin
    assert any(busy() < 0.02 for _ in range(10)), "somebody spins"
    if hasattr(os, "sched_setaffinity"):
        pool.stop()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        executable([x])
        pool.ensure_threads()
        assert pool.thread_count() == 1 and not pool._threads
    print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="launches run serially there")
def test_nothing_spins_when_idle_and_affinity_counts():
    assert run_child(IDLE).strip() == "done"


SHUTDOWN = """
    import threading, time
    import numpy as np
    import numhlo
    from numhlo import lax
    from numhlo.backend.runtime import pool
    from tests.backend.runtime.test_pool import heavy, ready
    shared = ready(heavy(grain=1000))
    x = np.linspace(0, 1, 40_000, dtype=np.float32)
    alone = numhlo.jit(lambda x: lax.while_loop(lambda s: s >= 0, lambda s: s * 0.5 + 1, x))
    alone(-1.0)
    alone.wait()
    begun = threading.Barrier(6)

    def work(call):
        begun.wait()
        while True:
            call()

    pool.ensure_threads()
    calls = [lambda: shared([x])] * 3 + [lambda: alone(-1.0), lambda: alone(1.0)]
    for call in calls:
        threading.Thread(target=work, args=(call,), daemon=True).start()
    begun.wait()
    time.sleep(0.05)
    print("done", flush=True)
"""


@pytest.mark.slow
def test_the_interpreter_ends_while_daemon_threads_are_in_native_code():
    """One of them never returns; at exit all memory that they use stays."""
    for _ in range(3):
        assert run_child(SHUTDOWN).strip() == "done"


@pytest.mark.skipif(sys.platform == "win32", reason="launches run serially there")
def test_calls_from_several_threads_share_one_pool(sleeping, rng):
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=1000))
    (expected,) = ready(heavy(grain=COUNT))([x])
    wrong: list[np.ndarray] = []

    def work():
        for _ in range(60):
            wrong.extend(y for y in executable([x]) if not np.array_equal(y, expected))

    with pool.threads(3):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)


def test_workers_end_and_start_again(rng):
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=1000))
    with pool.threads(3):
        (expected,) = executable([x])
        for _ in range(5):
            workers = list(pool._threads.values())
            pool.stop()
            assert not any(worker.is_alive() for worker in workers)
            np.testing.assert_array_equal(executable([x])[0], expected)


FORK = """
    import os, sys
    import numpy as np
    from numhlo.backend.runtime import pool
    from tests.backend.runtime.test_pool import heavy, ready
    pool.available_processors = lambda: 2  # a machine of more would make more threads than the block asks for
    executable = ready(heavy(grain=1000))
    x = np.linspace(0, 1, 40_000, dtype=np.float32)
    with pool.threads(3):
        (expected,) = executable([x])
        (expected,) = executable([x])
        assert len(pool._threads) == 2
        child = os.fork()
        if child == 0:
            same = all(np.array_equal(executable([x])[0], expected) for _ in range(20))
            fresh = ready(heavy(grain=2000))
            same = same and np.array_equal(fresh([x])[0], expected)
            grandchild = os.fork()
            if grandchild == 0:
                os._exit(0 if np.array_equal(executable([x])[0], expected) else 1)
            _, status = os.waitpid(grandchild, 0)
            os._exit(0 if same and len(pool._threads) == 2 and status == 0 else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        assert np.array_equal(executable([x])[0], expected)
    print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_children_of_fork_have_their_own_pool():
    assert run_child(FORK).strip() == "done"


def test_fork_while_another_thread_runs():
    text = """
        import os, threading
        import numpy as np
        from numhlo.backend.runtime import pool
        from tests.backend.runtime.test_pool import heavy, ready
        executable = ready(heavy(grain=1000))
        x = np.linspace(0, 1, 40_000, dtype=np.float32)
        with pool.threads(2):
            (expected,) = executable([x])
            stop = False
            def work():
                while not stop:
                    executable([x])
            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    os._exit(0 if np.array_equal(executable([x])[0], expected) else 1)
                assert os.waitpid(child, 0)[1] == 0
            stop = True
            thread.join()
        print("done")
    """
    assert run_child(text).strip() == "done"


def test_quota_of_a_control_group(tmp_path):
    assert cgroup_quota(tmp_path) is None
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert cgroup_quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cgroup_quota(tmp_path) is None
    (tmp_path / "cpu.max").unlink()
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cgroup_quota(tmp_path) == 2.0
    assert available_processors() >= 1


def test_threads_that_cannot_be_started_are_done_without(monkeypatch, rng):
    x = rng.normal(size=COUNT).astype(F32)
    executable = ready(heavy(grain=1000))
    (expected,) = ready(heavy(grain=COUNT))([x])
    pool.stop()
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "numhlo-2":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pool.threads(4):
        for _ in range(3):
            np.testing.assert_array_equal(executable([x])[0], expected)
        assert list(pool._threads) == [1]
    pool.stop()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_handler_that_forks_in_the_middle_of_a_call():
    """The child's call goes on alone or, where other threads were at work, says so; then all is as ever on both sides."""
    text = """
        import os, signal, time
        import numpy as np
        import numhlo
        from tests.backend.child import status_of

        def work(x):
            for _ in range(6):
                x = np.sin(x) + np.cos(x) * np.exp(-x * x)
            return x

        children = []
        signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
        x = np.linspace(0.0, 1.0, 400_000)
        rounds = lambda x: numhlo.lax.fori_loop(0, 30, lambda _, y: np.sin(y) + np.cos(x) * 0.5, x)
        with numhlo.threads(2):
            for function, x in ((numhlo.jit(work), x), (numhlo.jit(rounds), x[:100_000])):
                function(x)
                function.wait()
                start = time.perf_counter()
                expected = function(x)
                seconds = time.perf_counter() - start
                for part in (0.1, 0.3, 0.6):
                    signal.setitimer(signal.ITIMER_REAL, seconds * part)
                    try:
                        fine = np.array_equal(function(x), expected)
                    except NotImplementedError as error:
                        fine = "can't go on in the child of a fork" in str(error) and 0 in children
                    while not children:
                        time.sleep(0.001)
                    fine = fine and all(np.array_equal(function(x), expected) for _ in range(3))
                    child = children.pop()
                    if child == 0:
                        os._exit(0 if fine else 1)
                    assert fine and status_of(child, 20) == 0
        print("done")
    """
    assert run_child(text) == "done\n"
