"""Compiler processes: killed, hanging, impossible to start, ended with their owner, blind to the user's modules."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import numhlo
from numhlo.backend import kernel_cache as kernel_cache_module
from numhlo.backend.compiler import address_space
from numhlo.backend.compiler import process as process_module
from numhlo.backend.compiler import service as service_module
from numhlo.backend.compiler.fork_server import can_fork
from numhlo.backend.compiler.process import END_LATER, CompilerProcess, search_path
from numhlo.backend.compiler.service import CompilerService, KernelCompileError, compiler_service
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.kernel_cache import KernelCache
from numhlo.backend.loader import LoadedKernel
from numhlo.backend.program import Kernel
from tests.backend.child import run_child
from tests.backend.hand_written import F32, elementwise_kernel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and process ids")


def kernel(number):
    return elementwise_kernel(f"service{number}", F32, 1, f"a0 + to_f32({number})")


def alive(pid):
    """Return whether a process runs (a zombie does not)."""
    status = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return subprocess.run(["ps", "-p", str(pid)], capture_output=True, check=False).returncode == 0


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def service():
    made = CompilerService(processes=1)
    yield made
    made.close()
    assert not any(driver.is_alive() and driver.process for driver in made.drivers)


def test_kernels_are_compiled_in_another_process(service):
    futures = [service.submit(kernel(k)) for k in range(3)]
    for number, future in enumerate(futures):
        assert LoadedKernel(f"service{number}", future.result(60)).address != 0
    assert len(service.drivers) == 1
    assert service.drivers[0].process.pid != os.getpid()
    assert service.compiled == 3


def test_a_process_starts_after_the_first_answer(service, monkeypatch):
    monkeypatch.setattr(service_module, "HEAD_START", 60.0)
    future = service.submit(kernel(8))
    driver = service.drivers[0]
    assert driver.is_alive() and driver.process is None
    service.answered.set()
    assert LoadedKernel("service8", future.result(60)).address != 0


@pytest.mark.skipif(not can_fork(), reason="compiler processes are no forks here")
def test_as_many_processes_as_kernels_wait_and_cores_are_there():
    service = CompilerService(processes=2)
    futures = [service.submit(kernel(k)) for k in (10, 11, 12)]
    assert len(service.drivers) == 2
    assert all(future.result(60) for future in futures)
    assert service.waiting == 0
    wait_until(lambda: service.working == 0)
    service.close()


def test_compilers_start_while_a_program_is_traced_where_nothing_is_kept(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(compiler_service(), "start_early", lambda: asked.append("asked"))
    for size, (folder, expected) in enumerate([(None, 1), (tmp_path, 2), (tmp_path, 2)], 3):
        cache = KernelCache(DiskCache(folder))
        monkeypatch.setattr(kernel_cache_module, "_cache", cache)
        numhlo.jit(lambda x: x + 1.5).lower(np.ones(size))
        numhlo.jit(lambda x: x + 2.5).lower(np.ones(size))
        assert len(asked) == expected
        cache.disk.write(kernel(9), b"code")


def test_answers_and_waiting_let_processes_start(monkeypatch):
    service, asked = compiler_service(), []
    with monkeypatch.context() as patched:  # no machine code comes before the answer, from the disk or the compiler
        patched.setattr(DiskCache, "read", lambda self, kernel: None)
        patched.setattr(service, "submit", lambda *request: asked.append(request))
        f = numhlo.jit(lambda x: x * 2.5 + 17.25, tier0=True)
        service.answered.clear()
        f(np.ones(3))
        assert service.answered.wait(0.0)
    assert asked
    for request in asked:
        service.submit(*request)
    service.answered.clear()
    f.wait()
    assert service.answered.wait(0.0)


def test_errors_carry_the_source_and_leave_the_process_alive(service):
    wrong = elementwise_kernel("wrong", F32, 1, "a0.no_such_thing")
    with pytest.raises(KernelCompileError, match=r"(?s)kernel wrong can't be compiled.*no_such_thing.*def wrong"):
        service.submit(wrong).result(60)
    pid = service.drivers[0].process.pid
    service.submit(kernel(7)).result(60)
    assert service.drivers[0].process.pid == pid


@pytest.mark.slow
def test_a_killed_process_is_replaced(service):
    service.submit(kernel(1)).result(60)
    first = service.drivers[0].process.pid
    os.kill(first, signal.SIGKILL)
    service.submit(kernel(2)).result(60)
    second = service.drivers[0].process.pid
    assert second != first
    wait_until(lambda: not alive(first))
    with pytest.raises(ChildProcessError):
        os.waitpid(first, os.WNOHANG)  # no zombie is left


@pytest.mark.slow
def test_ctrl_c_does_not_reach_the_process(service):
    service.submit(kernel(1)).result(60)
    pid = service.drivers[0].process.pid
    os.kill(pid, signal.SIGINT)
    time.sleep(0.05)
    service.submit(kernel(2)).result(60)
    assert service.drivers[0].process.pid == pid
    assert os.getpgid(pid) != os.getpgid(0)


def kernel_that(name, text, folder):
    """Return a kernel whose source does something of its own in the compiler, and leaves a line in a file."""
    body = f"import os, time\nwith open({str(folder / name)!r}, 'a') as marks:\n    marks.write('begun\\n')\n{text}\n"
    good = elementwise_kernel(name, F32, 1, "a0 + a0")
    return Kernel(name, body + good.source)


def tries(name, folder):
    path = folder / name
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.slow
def test_killed_hanging_and_greedy_compilations(service, monkeypatch, tmp_path):
    waits_once = f"while len(open({str(tmp_path / 'once')!r}).readlines()) < 2: time.sleep(0.01)"
    killed = service.submit(kernel_that("once", waits_once, tmp_path))
    wait_until(lambda: tries("once", tmp_path) == 1)
    first = service.drivers[0].process.pid
    os.kill(first, signal.SIGKILL)
    assert LoadedKernel("once", killed.result(60)).address != 0  # asked for once more, elsewhere
    assert tries("once", tmp_path) == 2
    with pytest.raises(KernelCompileError, match=r"(?s)kernel deadly can't.*ended with code -9\n.*os.kill.*def deadly"):
        service.submit(kernel_that("deadly", "os.kill(os.getpid(), 9)", tmp_path)).result(60)
    assert tries("deadly", tmp_path) == 2
    with pytest.raises(KernelCompileError, match=r"(?s)kernel greedy can't be compiled.*MemoryError"):
        service.submit(kernel_that("greedy", f"bytearray({5 << 30})", tmp_path)).result(60)
    survivor = service.drivers[0].process.pid  # an error of its own kills no process
    monkeypatch.setattr(process_module, "JOB_SECONDS", 0.5)
    with pytest.raises(KernelCompileError, match=r"was ended: it took more than 0.5 s"):
        service.submit(kernel_that("hanging", "time.sleep(600)", tmp_path)).result(60)
    assert tries("hanging", tmp_path) == 1  # a second time would take as long
    wait_until(lambda: not alive(survivor))


@pytest.mark.slow
def test_a_process_that_has_grown_is_replaced_and_nothing_leaks():
    text = """
        import os
        from numhlo.backend.compiler import service as module
        from tests.backend.compiler.test_service import kernel
        before = set(os.listdir("/proc/self/fd"))
        service = module.CompilerService(processes=1)
        module.MOST_MEMORY = 0
        service.submit(kernel(1)).result(60)
        pids = set()
        service.submit(kernel(2)).result(60)
        assert service.drivers[0].process is None
        module.MOST_MEMORY = 1 << 40
        service.submit(kernel(3)).result(60)
        service.submit(kernel(4)).result(60)
        assert service.drivers[0].process.memory > 1 << 20
        service.close()
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:  # no zombies
            print(set(os.listdir("/proc/self/fd")) == before)
    """
    assert run_child(text).strip() == "True"


PROGRAM = """
import os, sys
import numpy as np
import numhlo
{before}
f = numhlo.jit(lambda x: {expression})
x = np.linspace(0.0, 1.0, 5)
first = f(x)
f.wait()
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.kernel_cache import kernel_cache
states = [compiler_service().in_process, kernel_cache().compiles > 0, bool(np.allclose(first, f(x)))]
states += ["numba" in sys.modules, "from the disk" in f.explain(), "failed" in f.explain()]
with open({report!r}, "a") as out:
    out.write(repr(states) + chr(10))
"""
"""A script without a guard around its main part: whoever imports or runs it again leaves a second line."""


def program(report, before=""):
    """Return the script, with a kernel that nobody has compiled before."""
    chosen = random.Random(os.urandom(8))
    expression = "x"
    for _ in range(12):
        wrapper = chosen.choice(["np.sin({})", "np.cos({})", "np.tanh({})", "({} + x)", "({} * x)", "({} - x)"])
        expression = wrapper.format(expression)
    return PROGRAM.format(before=before, expression=expression, report=str(report))


@pytest.mark.slow
def test_scripts_of_all_kinds(tmp_path):
    """No home, no standard streams, a folder that hides Numba; text on standard input, in a folder that goes away."""
    root = str(Path(__file__).parents[3])
    (tmp_path / "numba.py").write_text("raise SystemExit('the user module was imported')\n")
    (tmp_path / "script.py").write_text(program(tmp_path / "report"))
    away = tmp_path / "away"
    away.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMHLO_", "XDG_"))}
    homeless = {**kept, "HOME": "/proc/no/such/home", "PYTHONPATH": root}
    command = f"exec {sys.executable} script.py 0<&- 1>&-"
    shell = subprocess.Popen(command, shell=True, cwd=tmp_path, env=homeless, stderr=subprocess.PIPE, text=True)
    before = f"os.chdir({str(away)!r}); os.rmdir({str(away)!r}); del os.environ['HOME']"
    subprocess.run(
        [sys.executable, "-"],
        input=program(tmp_path / "second", before),
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=200,
    )
    errors = shell.communicate(timeout=100)[1]
    assert shell.returncode == 0, errors
    assert errors.count("numhlo keeps no compiled kernels in /proc/no/such/home/.cache/numhlo/kernels") == 1
    for report in ("report", "second"):
        (line,) = (tmp_path / report).read_text().splitlines()
        assert line == "['', True, True, False, False, False]"


def test_calls_while_the_interpreter_ends_say_nothing():
    text = """
        import atexit, warnings
        import numpy as np

        def late():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                print(f(np.ones(2)), numhlo.jit(lambda x: x * 3.0)(np.ones(2)), len(caught))

        atexit.register(late)  # before numhlo's own, so called after them
        import numhlo
        f = numhlo.jit(lambda x: x + 1.0)
        f(np.ones(2))
    """
    assert run_child(text, NUMHLO_CACHE_DIR="") == "[2. 2.] [3. 3.] 0\n"


def test_without_any_compiler_programs_run_on_numpy():
    text = """
        import warnings
        import numpy as np
        import numhlo
        from numhlo.backend.compiler import service
        def refuse(*_):
            raise OSError("no more processes")
        def break_down(kernel):
            raise service.compile_error(kernel, "Numba is broken", service.BUG)
        service.CompilerProcess, service.compile_in_process = refuse, break_down
        f = numhlo.jit(lambda x: np.sin(x) + 1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = [f(np.arange(3.0))]
            f.wait()
            results += [f(np.arange(3.0)), f(np.arange(3.0))]
        assert all(np.array_equal(y, np.sin(np.arange(3.0)) + 1) for y in results)
        for warning in caught:
            print(str(warning.message).partition(chr(10))[0])
        print(f.explain())
        print(*[w.message for w in caught if "a kernel of" in str(w.message)])
    """
    lines = run_child(text, NUMHLO_CACHE_DIR="").splitlines()
    slow = (
        "numhlo compiles in this process, which slows it down: no compiler process can be started (no more processes)"
    )
    assert lines.count(slow) == 1
    assert lines.count("NumPy does what a kernel of lambda should do") == 2  # once warned, once printed below
    assert lines.count("numhlo's own driver has no machine code") == 1
    assert "  kernels: 1 failed" in lines and "  NumPy does what the failed kernels should do" in lines
    assert any("Numba is broken" in line for line in lines)
    assert "def " in "".join(lines) and "this is a bug of numhlo, please report it with this message" in "".join(lines)


@pytest.mark.parametrize(("name", "value"), [("executable", "/nonexistent/python"), ("frozen", True)])
def test_where_no_process_starts_kernels_are_compiled_here(monkeypatch, name, value):
    """Such as in a frozen application, whose executable is no Python: started again, it would be the application."""
    monkeypatch.setattr(sys, name, value, raising=False)
    if name == "frozen":
        monkeypatch.setattr(subprocess, "Popen", None)
    service = CompilerService(processes=1)
    with pytest.warns(RuntimeWarning, match="numhlo compiles in this process"):
        code = service.submit(kernel(4)).result(60)
    assert service.in_process
    assert LoadedKernel("service4", code).address != 0
    service.close()


@pytest.mark.slow
def test_with_little_address_space_nothing_waits_for_ever(monkeypatch):
    """Libraries that Numba loads would; where even this process has too little, NumPy does the kernels' work."""
    limits = [(400 << 20, resource.RLIM_INFINITY)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    service = CompilerService(processes=1)
    with pytest.warns(RuntimeWarning, match="480 MB of address space are needed, and the limit leaves 400"):
        failed = service.submit(kernel(5)).exception(60)
    assert isinstance(failed, KernelCompileError)
    assert "320 MB of address space are needed, and the limit leaves " in str(failed)
    assert str(failed).rstrip().endswith("allow more address space (ulimit -v, resource.RLIMIT_AS)")
    service.close()
    limits.append((address_space.NEEDED, resource.RLIM_INFINITY))
    assert not address_space.shortage_there()


def test_a_process_that_is_never_ready_ends_without_its_owner():
    program = f"{END_LATER.format(seconds=0.05)}; import time; time.sleep(60)"
    done = subprocess.run([sys.executable, "-S", "-c", program], check=False, timeout=200)
    assert done.returncode == -signal.SIGALRM


@pytest.mark.slow
def test_a_process_starts_with_the_address_space_that_it_needs():
    text = """
        import resource
        from numhlo.backend.compiler import address_space, process
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({address_space.NEEDED},) * 2)"
        process.START = f"{limit}; {process.START}"
        compiler = process.CompilerProcess()
        print(len(compiler.compile("f", "def f(ctx, bufs, dims, lo, hi):\\n    return lo\\n").payload) > 0)
        compiler.close()
    """
    assert run_child(text) == "True\n"


def test_processes_end_with_their_owner():
    text = """
        import os, signal
        from numhlo.backend.compiler.service import compiler_service
        from tests.backend.compiler.test_service import kernel
        service = compiler_service()
        service.submit(kernel(1)).result(60)
        print(service.drivers[0].process.pid, flush=True)
        {ending}
    """
    for ending in ("pass", "os.kill(os.getpid(), signal.SIGKILL)"):
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(line.strip() for line in text.format(ending=ending).splitlines())],
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            cwd=Path(__file__).parents[3],
        )
        pid = int(done.stdout)
        wait_until(lambda pid=pid: not alive(pid))


@pytest.mark.slow
def test_children_of_fork_start_their_own():
    text = """
        import os, signal, threading
        from numhlo.backend.compiler.service import compiler_service
        from tests.backend.compiler.test_service import kernel
        service = compiler_service()
        service.submit(kernel(1)).result(60)
        pid = service.drivers[0].process.pid
        os.kill(pid, signal.SIGSTOP)
        asked = service.submit(kernel(4))
        threading.Event().wait(0.2)  # a thread waits for the answer: a lock that it holds is held for good in the child
        child = os.fork()
        if child == 0:
            own = compiler_service()
            own.submit(kernel(2)).result(60)
            fine = own is not service and own.drivers[0].process.pid != pid
            own.close()
            os._exit(0 if fine else 1)
        late = threading.Timer(60, os.kill, (child, signal.SIGKILL))
        late.start()
        assert os.waitpid(child, 0)[1] == 0
        late.cancel()
        os.kill(pid, signal.SIGCONT)
        asked.result(60)
        service.submit(kernel(3)).result(60)
        assert service.drivers[0].process.pid == pid
        print("done")
    """
    assert run_child(text).strip() == "done"


@pytest.mark.slow
def test_modules_of_the_user_are_not_seen(tmp_path, monkeypatch):
    """A script's folder, the current one and PYTHONPATH may hold files called like Numba or the standard library."""
    for name in ("numba", "random", "llvmlite", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the user module was imported')\n")
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise SystemExit('the user package was imported')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert str(tmp_path) not in search_path()
    monkeypatch.setattr(process_module, "search_path", lambda: [str(tmp_path / "elsewhere"), *search_path()])
    process = CompilerProcess()
    assert "error" not in process.compile("service5", kernel(5).source).header
    process.close()


def test_the_search_path_holds_what_the_compiler_needs():
    folders = search_path()
    assert str(Path(__file__).parents[3]) in folders
    assert len(folders) == len(set(folders))
    assert any(Path(folder, "numba", "__init__.py").exists() for folder in folders)


@pytest.mark.slow
def test_numba_stays_out_of_the_user_process():
    text = """
        import sys
        import numpy as np
        from numhlo.backend.executable import Executable
        from tests.backend.hand_written import square_plus
        executable = Executable(square_plus(4))
        executable.wait(60)
        executable([np.zeros(4, np.float32)])
        print([name for name in ("numba", "scipy.linalg", "jax") if name in sys.modules])
    """
    assert run_child(text).strip() == "[]"
