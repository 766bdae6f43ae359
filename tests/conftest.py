"""One environment for all tests: single-threaded libraries, a private kernel cache, fixed seeds, golden files.

The environment is set before anything else is imported, since BLAS, XLA and numhlo read it only once. Test workers
inherit it, so all of them share one kernel cache and every kernel is compiled once.
"""

import contextlib
import faulthandler
import gc
import importlib
import os
import queue
import random
import re
import shutil
import signal
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from pathlib import Path
from weakref import WeakValueDictionary

ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",  # the oracle's dtypes are NumPy's
    "JAX_PLATFORMS": "cpu",
    "MKL_NUM_THREADS": "1",
    "NUMHLO_VERIFY": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": " ".join(
        [
            "--xla_cpu_multi_thread_eigen=false",
            "--xla_backend_optimization_level=0",  # the oracle compiles thousands of small programs, and runs each once
            "--xla_llvm_disable_expensive_passes=true",
            "--xla_cpu_parallel_codegen_split_count=1",
            "--xla_cpu_use_fusion_emitters=false",  # these take half the time of tracing and compiling together
            *os.environ.pop("XLA_FLAGS", "").split(),
        ]
    ),
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
for _name, _value in ENVIRONMENT.items():
    os.environ.setdefault(_name, _value)

OWN_CACHE: str | None = None
if "NUMHLO_CACHE_DIR" not in os.environ:
    OWN_CACHE = os.environ["NUMHLO_CACHE_DIR"] = tempfile.mkdtemp(prefix="numhlo-test-cache-")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell that runs tests in the background has it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)

import coverage  # noqa: E402 - after the environment
import hypothesis  # noqa: E402 - after the environment
import numpy as np  # noqa: E402 - after the environment
import pytest  # noqa: E402 - after the environment

from tests.every_call.plugin import EveryCall  # noqa: E402 - after the environment
from tests.known_versions import skip_if_older  # noqa: E402 - after the environment

DEFAULT_SEED = 20240607

hypothesis.settings.register_profile("numhlo", derandomize=True, deadline=None, max_examples=25, database=None)
hypothesis.settings.register_profile("many", deadline=None, max_examples=150, database=None)
hypothesis.settings.load_profile("numhlo")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("numhlo")
    group.addoption("--seed", type=int, default=DEFAULT_SEED, help="seed of every test's random numbers")
    group.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")
    group.addoption("--every-call", metavar="FILE", help="compile all that tests call, and check it on every call")
    group.addoption("--whole-tracebacks", action="store_true", help="show this library's own calls in tracebacks, too")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("whole_tracebacks"):
        importlib.import_module("numhlo.tracer.core.short_tracebacks").short_tracebacks.wanted = False
    passed = config.getoption("every_call")
    config.pluginmanager.register(EveryCall(None if passed is None else Path(passed)), "every-call")


MEASURED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the tests in which coverage is measured: quick ones, and of those with many cases the first.

    To measure doubles the time of Python code, and the other cases reach few lines more. The rules of the house read
    the source and run little of it.
    """
    seen: set[str] = set()
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: an address, which is another one in every test worker, is no name")
        function = item.nodeid.partition("[")[0]
        left_out = any(item.get_closest_marker(name) for name in ("slow", "interrupts"))
        quick = not left_out and not function.startswith("tests/architecture")
        item.stash[MEASURED] = quick and function not in seen
        seen.add(function)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("oracle"):
        skip_if_older(*mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Run tests in which coverage is not measured at full speed, and clean up after the last one of a file."""
    stopped: list[coverage.Coverage] = []
    while not item.stash[MEASURED] and (measuring := coverage.Coverage.current()) is not None:
        measuring.stop()  # a test worker has two, one inside the other
        stopped.insert(0, measuring)
    try:
        return (yield)
    finally:
        if nextitem is not None and nextitem.path != item.path:
            keep_what_stays()
        for measuring in stopped:
            measuring.start()


def pytest_collection_finish() -> None:
    keep_what_stays()


def keep_what_stays() -> None:
    """Keep the garbage collector from going through thousands of tests and what caches hold, again and again.

    What one file's tests leave in caches stays for the rest of the run. With millions of such objects a single
    collection takes two seconds, and tests of leaks ask for many.
    """
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    return f"random seed: {config.getoption('--seed')}"


MOST_SECONDS_TO_END = 900
"""For reports and the interpreter's end: what hangs there, in no test, is shown with its stacks and ended."""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    faulthandler.dump_traceback_later(MOST_SECONDS_TO_END, exit=True, file=sys.__stderr__ or 2)


def pytest_unconfigure() -> None:
    service = sys.modules.get("numhlo.backend.compiler.service")
    if service is not None:  # kernels that arrive from now on would be written into a folder that is gone
        service.compiler_service().close()
    # Only the process that made the cache removes it: workers found it in their environment.
    if OWN_CACHE is not None:
        shutil.rmtree(OWN_CACHE, ignore_errors=True)


@pytest.fixture(autouse=True)
def _fixed_seed(request: pytest.FixtureRequest) -> None:
    """Start every test from the same state of the global generators, whatever ran before it."""
    seed = request.config.getoption("--seed")
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - for code under test that uses the global generator


@pytest.fixture(autouse=True, scope="session")
def _common_cache() -> Iterator[None]:
    """Choose kernels as on a common processor: the cache of this one would decide which arrays are read by tiles."""
    processors = importlib.import_module("numhlo.backend.processors")  # not above: coverage would start later
    tiles = importlib.import_module("numhlo.backend.emit.tiles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "first_cache", lambda: processors.COMMON_CACHE)
        yield


@pytest.fixture(autouse=True)
def _kernels_for_nobody() -> Iterator[None]:
    """Drop kernels that still wait for a compiler when a test is done: NumPy gave its answers, nobody would run them.

    Who needs one of them later asks for it again, as after a fork.
    """
    yield
    module = sys.modules.get("numhlo.backend.kernel_cache")
    if module is None:
        return
    service, cache = module.compiler_service(), module.kernel_cache()
    kept = []
    with contextlib.suppress(queue.Empty):
        while True:
            job = service.jobs.get_nowait()
            handle = None if job is None else cache._handles.get(job.kernel)
            if (
                handle is None
            ):  # a compiler process is to end, or a test has cleared the cache and others hold the handle
                kept.append(job)
                continue
            with service.lock.own:
                service.waiting -= 1
            handle.orphan()
    for job in kept:
        service.jobs.put(job)


@pytest.fixture
def loops_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan loops over small arrays as those over large ones: their launches are not joined."""
    monkeypatch.setattr(importlib.import_module("numhlo.backend.planning.joined_loops"), "MOST_NANOSECONDS", -1)


@pytest.fixture
def first_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile nothing, for tests that call each function once: all answers come before kernels could.

    Kernels that other tests have compiled, in this process or another one, are not there either.
    """
    backend = importlib.import_module("numhlo.backend.kernel_cache")  # not above: coverage would start later
    cache = backend.kernel_cache()
    monkeypatch.setattr(backend.compiler_service(), "submit", lambda kernel, then, folder: Future())
    monkeypatch.setattr(type(cache.disk), "read", lambda disk, kernel: None)
    monkeypatch.setattr(cache, "_handles", WeakValueDictionary())
    monkeypatch.setattr(cache, "_recent", {})
    yield
    cache.orphan_unfinished()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by ``--seed`` and the test's name."""
    return np.random.default_rng([request.config.getoption("--seed"), zlib.crc32(request.node.name.encode())])


class Golden:
    """Compares text with ``golden/<test name>.txt`` beside the test's file, or rewrites that file."""

    def __init__(self, folder: Path, name: str, update: bool) -> None:
        self.folder, self.name, self.update = folder, name, update

    def __call__(self, text: str, part: str = "") -> None:
        """Check ``text``; a test with several texts tells them apart by ``part``."""
        stem = f"{self.name}-{part}" if part else self.name
        path = self.folder / f"{stem}.txt"
        text = text if text.endswith("\n") else f"{text}\n"
        if self.update:
            self.folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        assert path.exists(), f"no golden file {path}; run this test once with --update-golden and read the result"
        expected = path.read_text(encoding="utf-8")
        assert text == expected, f"{path.name} differs; if the change is meant, run with --update-golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare text with the golden file named after the test."""
    name = re.sub(r"[^\w.=-]+", "_", request.node.name).strip("_")
    return Golden(request.path.parent / "golden", name, request.config.getoption("--update-golden"))
