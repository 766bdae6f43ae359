"""The disk cache: right by content, a bad file is a miss, an unusable folder one warning, races are harmless."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import Future
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from weakref import WeakValueDictionary

import pytest

from numhlo.backend import disk_cache, kernel_cache, own_text
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.disk_cache import SUFFIX, DiskCache, cache_key, default_folder
from numhlo.backend.kernel_cache import KernelCache
from numhlo.backend.program import Kernel
from tests.backend.hand_written import F32, elementwise_kernel

KERNEL = elementwise_kernel("kept", F32, 1, "a0 + a0")
CODE = bytes(range(256)) * 20
posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are POSIX's")


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "kernels")


def only_file(cache):
    (path,) = cache.folder.iterdir()
    return path


def test_what_is_written_is_read(cache):
    assert cache.read(KERNEL) is None
    cache.write(KERNEL, CODE)
    assert cache.read(KERNEL) == CODE
    assert DiskCache(cache.folder).read(KERNEL) == CODE
    assert only_file(cache).name == cache_key(KERNEL) + SUFFIX


def test_the_key_holds_everything_that_decides_the_code(monkeypatch):
    key = cache_key(KERNEL)
    assert cache_key(Kernel(KERNEL.name, KERNEL.source + " ")) != key
    assert cache_key(Kernel(KERNEL.name + "x", KERNEL.source)) != key
    changes = [
        (disk_cache, "ABI", disk_cache.ABI + 1),
        (disk_cache.llvm, "llvm_version_info", (1, 2, 3)),
        (disk_cache.llvmlite, "__version__", "0.0.0"),
        (disk_cache, "processor", lambda: ("another", "+features")),
        (disk_cache, "numba_version", lambda: b"0.0"),
        (sys, "version_info", (3, 99, 0)),
        (disk_cache, "INLINED", ("primitives", "compiler")),
    ]
    seen = {key}
    for place, name, value in changes:
        with monkeypatch.context() as patch:
            patch.setattr(place, name, value)
            disk_cache.fingerprint.cache_clear()
            seen.add(cache_key(KERNEL))
    disk_cache.fingerprint.cache_clear()
    assert len(seen) == len(changes) + 1
    assert cache_key(KERNEL) == key


def test_the_version_of_numba_is_known_without_importing_it(monkeypatch):
    version = metadata.version("numba").encode()
    assert version in disk_cache.numba_version()
    monkeypatch.setattr(disk_cache.importlib.util, "find_spec", lambda name: None)
    assert disk_cache.numba_version() == version


def test_an_edit_of_what_kernels_inline_is_noticed(tmp_path, monkeypatch):
    for package in disk_cache.INLINED:
        (tmp_path / package).mkdir()
        (tmp_path / package / "words.py").write_text("one = 1\n")
    monkeypatch.setattr(own_text, "FOLDER", tmp_path)
    disk_cache.fingerprint.cache_clear()
    before = cache_key(KERNEL)
    (tmp_path / "vector_math" / "words.py").write_text("one = 2\n")
    disk_cache.fingerprint.cache_clear()
    assert cache_key(KERNEL) != before
    disk_cache.fingerprint.cache_clear()


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "mark", "longer"])
def test_a_bad_file_is_a_miss_and_goes(cache, damage):
    cache.write(KERNEL, CODE)
    path = only_file(cache)
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 1
    elif damage == "mark":
        data[0] ^= 1
    changed = {"truncated": data[: len(data) // 2], "empty": b"", "longer": data + b"x"}.get(damage, data)
    path.write_bytes(bytes(changed))
    assert cache.read(KERNEL) is None
    assert not path.exists()
    cache.write(KERNEL, CODE)
    assert cache.read(KERNEL) == CODE


@posix
def test_files_that_others_could_have_written_are_not_read(cache, tmp_path):
    cache.write(KERNEL, CODE)
    path = only_file(cache)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    path.chmod(0o666)
    assert cache.read(KERNEL) is None
    path.chmod(0o600)
    assert cache.read(KERNEL) == CODE
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert cache.read(KERNEL) is None


def test_a_file_under_another_kernels_name_is_a_miss_and_goes(cache):
    other = elementwise_kernel("other", F32, 1, "a0 * a0")
    cache.write(KERNEL, CODE)
    path = cache.folder / (cache_key(other) + SUFFIX)
    shutil.copy(only_file(cache), path)
    assert cache.read(other) is None
    assert not path.exists()
    assert cache.read(KERNEL) == CODE


def test_files_that_are_too_large_are_neither_read_nor_written(cache, monkeypatch):
    cache.write(KERNEL, CODE)
    monkeypatch.setattr(disk_cache, "MOST_ENTRY_BYTES", len(CODE))
    other = elementwise_kernel("other", F32, 1, "a0 * a0")
    cache.write(other, CODE)
    assert cache.read(other) is None
    with only_file(cache).open("r+b") as file:
        file.truncate((64 << 20) + 1)  # without taking the room
    assert cache.read(KERNEL) is None


@posix
def test_a_folder_that_is_a_link_is_not_used(cache, tmp_path):
    cache.write(KERNEL, CODE)
    link = tmp_path / "link"
    link.symlink_to(cache.folder)
    with pytest.warns(RuntimeWarning, match="it is a symbolic link"):
        assert DiskCache(link).read(KERNEL) is None


@posix
def test_what_belongs_to_another_user_is_not_read(cache, monkeypatch):
    cache.write(KERNEL, CODE)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.read(KERNEL) is None
    with pytest.warns(RuntimeWarning, match="it belongs to another user"):
        assert DiskCache(cache.folder).read(KERNEL) is None
    monkeypatch.undo()
    assert cache.read(KERNEL) == CODE


@posix
def test_things_in_the_way_are_misses(cache):
    cache.write(KERNEL, CODE)
    path = only_file(cache)
    before = len(os.listdir("/dev/fd"))
    for make in (os.mkfifo, os.mkdir):
        path.unlink()
        make(path)
        assert cache.read(KERNEL) is None
    assert len(os.listdir("/dev/fd")) == before
    with pytest.warns(RuntimeWarning, match="keeps no compiled kernels"):
        cache.write(KERNEL, CODE)


def test_a_folder_that_is_removed_comes_back(cache):
    cache.write(KERNEL, CODE)
    shutil.rmtree(cache.folder)
    cache.sweep()
    assert cache.read(KERNEL) is None
    cache.write(KERNEL, CODE)
    assert cache.read(KERNEL) == CODE


@posix
def test_a_folder_that_others_may_write_is_not_used(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    cache = DiskCache(folder)
    with pytest.warns(RuntimeWarning, match=r"keeps no compiled kernels in .*open: other users may write it"):
        assert cache.read(KERNEL) is None
    cache.write(KERNEL, CODE)
    assert not list(folder.iterdir())


def test_an_unusable_folder_is_one_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "kernels")
    with pytest.warns(RuntimeWarning, match="set NUMHLO_CACHE_DIR"):
        cache.write(KERNEL, CODE)
    cache.write(KERNEL, CODE)  # warnings are errors
    assert cache.read(KERNEL) is None


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_one_warning(cache):
    cache.write(KERNEL, CODE)
    cache.folder.chmod(0o500)
    other = Kernel("other", KERNEL.source)
    with pytest.warns(RuntimeWarning, match="keeps no compiled kernels"):
        cache.write(other, CODE)
    cache.write(other, CODE)  # warnings are errors
    cache.folder.chmod(0o700)


def test_a_full_disk_is_one_warning(cache, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    folder = cache.folder
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(RuntimeWarning, match="No space left"):
        cache.write(KERNEL, CODE)
    assert not list(folder.iterdir())


def test_nothing_is_kept_where_no_folder_is():
    cache = DiskCache(None)
    cache.write(KERNEL, CODE)
    assert cache.read(KERNEL) is None


def test_the_oldest_go_when_there_is_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "SWEEP_EVERY", 1)
    folder = tmp_path / "kernels"
    cache = DiskCache(folder, most_bytes=10 * len(CODE))
    kernels = [Kernel("old", f"source {k}") for k in range(12)]
    for age, kernel in enumerate(kernels[:9]):
        cache.write(kernel, CODE)
        used = time.time() - 10_000 + age
        os.utime(folder / (cache_key(kernel) + SUFFIX), (used, used))
    assert cache.read(kernels[0]) == CODE  # now it is the last used
    for kernel in kernels[9:]:
        cache.write(kernel, CODE)
    kept = [k for k, kernel in enumerate(kernels) if cache.read(kernel) is not None]
    assert kept[0] == 0
    assert 1 not in kept
    assert sum(path.stat().st_size for path in folder.iterdir()) <= cache.most_bytes
    cache.most_bytes //= 2  # several have to go at once
    cache.sweep()
    kept = sum(path.stat().st_size for path in folder.iterdir())
    assert 0 < kept <= disk_cache.KEPT_SHARE * cache.most_bytes


def test_unfinished_files_are_swept(cache):
    cache.write(KERNEL, CODE)
    leftover = cache.folder / f"unfinished-abandoned{SUFFIX}"
    leftover.write_bytes(b"half")
    long_ago = time.time() - 2 * disk_cache.TOUCH_SECONDS
    os.utime(leftover, (long_ago, long_ago))
    fresh = cache.folder / f"unfinished-justnow{SUFFIX}"
    fresh.write_bytes(b"half")
    others = [cache.folder / name for name in ("unfinished-novel.txt", f"notes{SUFFIX}")]
    for other in others:
        other.write_bytes(b"the user's")
        os.utime(other, (long_ago, long_ago))
    cache.sweep()
    assert not leftover.exists()
    assert fresh.exists()
    cache.most_bytes = 0
    cache.sweep()
    assert cache.read(KERNEL) is None
    cache.write(KERNEL, CODE)
    assert cache.clear() == 1
    assert sorted(cache.folder.iterdir()) == sorted(others)


def test_racing_writers_and_readers(cache):
    codes = {k: bytes([k]) * 50_000 for k in range(4)}
    kernels = {k: Kernel("race", f"source {k}") for k in codes}
    wrong = []

    def work():
        own = DiskCache(cache.folder)
        for _ in range(30):
            for k, kernel in kernels.items():
                own.write(kernel, codes[k])
                found = own.read(kernel)
                if found not in (codes[k], None):
                    wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not list(cache.folder.glob("unfinished-*"))


def test_object_code_that_does_not_load_is_compiled_again(cache):
    cache.write(KERNEL, b"not machine code")
    kernels = KernelCache(cache)
    handle = kernels.request(KERNEL)
    assert handle.wait(60)
    assert handle.origin == "compiled"
    assert handle.address != 0
    again = KernelCache(cache).request(KERNEL)
    assert (again.origin, again.done) == ("disk", True)


def test_what_is_compiled_in_this_process_is_not_kept(cache, monkeypatch):
    """The user's settings of Numba may have gone into it."""
    code = compiler_service().submit(KERNEL).result(60)
    future = Future()
    future.set_result(code)
    here = SimpleNamespace(
        in_process="for a test", lowered={}, fallbacks={}, submit=lambda _, then, folder: future.add_done_callback(then)
    )
    monkeypatch.setattr(kernel_cache, "compiler_service", lambda: here)
    handle = KernelCache(cache).request(KERNEL)
    assert handle.address != 0
    assert handle.origin == "compiled in this process"
    assert cache.read(KERNEL) is None


def test_an_interrupted_request_is_made_again(cache, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    kernel = elementwise_kernel("interrupted", F32, 1, "a0 * a0")
    kernels = KernelCache(cache)
    for name in ("_use", "_provide"):
        with monkeypatch.context() as patch:
            patch.setattr(KernelCache, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                kernels.request(kernel)
    handle = kernels.request(kernel)
    assert handle.wait(60)
    assert handle.address != 0


def test_kernels_are_shared_and_the_oldest_forgotten(cache):
    kernels = KernelCache(cache, kept=2)
    handle = kernels.request(KERNEL)
    assert handle.wait(60)
    assert kernels.request(Kernel(KERNEL.name, KERNEL.source + "")) is handle
    assert (kernels.compiles, kernels.hits) == (1, 1)
    weak = WeakValueDictionary(handle=handle)
    del handle
    others = [elementwise_kernel("kept", F32, 1, f"a0 + to_f32({k})") for k in range(2)]
    held = [kernels.request(other) for other in others]
    assert all(other.wait(60) for other in held)
    assert "handle" not in weak
    kernels.clear()
    assert kernels.request(others[0]) is not held[0]


RACING = """
import sys
from pathlib import Path
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.program import Kernel
cache = DiskCache(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
for turn in range(int(sys.argv[2])):
    for k in range(4):
        kernel, code = Kernel("race", f"source {k}"), bytes([k]) * 200_000
        cache.write(kernel, code)
        assert cache.read(kernel) == code
"""


@pytest.mark.slow
def test_eight_processes_race_and_some_are_killed_while_they_write(tmp_path):
    folder = tmp_path / "cold"
    arguments = [sys.executable, "-c", RACING, str(folder)]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": Path(__file__).parents[2]}
    processes = [subprocess.Popen([*arguments, "20" if k < 4 else "100000"], **pipe) for k in range(8)]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        process.stdin.close()
    assert [process.wait(60) for process in processes[:4]] == [0] * 4
    for process in processes[4:]:
        process.kill()
        assert process.wait(60) == -signal.SIGKILL  # it was at work, and is shot at any point of it
    for process in processes:
        process.stdout.close()
    cache = DiskCache(folder)
    for k in range(4):
        assert cache.read(Kernel("race", f"source {k}")) == bytes([k]) * 200_000
    assert len(cache.files()) == 4
    leftovers = list(folder.glob("unfinished-*"))
    assert len(leftovers) <= 4
    for leftover in leftovers:
        os.utime(leftover, (0, 0))
    cache.sweep()
    assert len(list(folder.iterdir())) == 4


EDITED = """
import sys
import numpy as np
import numhlo
sys.path.insert(0, sys.argv[1])
import edited
def with_factor(factor):
    return numhlo.jit(lambda x: edited.help_out(x) * factor)
space = {"np": np, "numhlo": numhlo}
exec(sys.argv[3], space)
x = np.linspace(0.5, 1.5, 7)
for f in (with_factor(float(sys.argv[2])), space["f"]):
    f(x)
    f.wait()
    np.testing.assert_allclose(f(x), f.__wrapped__(x), rtol=1e-15)
from numhlo.backend.kernel_cache import kernel_cache
print(kernel_cache().compiles)
"""


@pytest.mark.slow
def test_programs_that_are_edited_between_runs_are_never_stale(tmp_path):
    texts = {"one": "f = numhlo.jit(lambda x: np.cos(x) - 1)", "other": "f = numhlo.jit(lambda x: np.cos(x) + 1)"}
    module = tmp_path / "edited.py"
    salt = int.from_bytes(os.urandom(4), "big")  # so that nobody has compiled it before

    def run(helper, factor, text):
        module.write_text(f"import numpy as np\n{helper}\n")
        arguments = ["-c", EDITED, str(tmp_path), str(factor), f"{texts[text]}\n# {salt}"]
        return int(
            subprocess.check_output([sys.executable, "-B", *arguments], timeout=200, cwd=Path(__file__).parents[2])
        )

    helper = f"def help_out(x): return (np.sin(x) + {salt}) / {salt}"
    run(helper, 2, "one")
    assert run(helper, 2, "one") == 0  # compiled nothing
    run(f"SCALE = 3.0\ndef help_out(x): return (np.tan(x) + {salt}) / {salt} * SCALE", 3, "other")  # checks itself


def test_the_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMHLO_CACHE_DIR", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.setenv("NUMHLO_CACHE_DIR", "")
    assert default_folder() is None
    monkeypatch.delenv("NUMHLO_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "numhlo" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_folder() == Path(tmp_path, "home", ".cache", "numhlo", "kernels")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # nobody knows where home is
    with warnings.catch_warnings():
        assert default_folder() is None


def test_whether_it_is_empty(tmp_path):
    cache = DiskCache(tmp_path / "kernels")
    assert cache.is_empty() and DiskCache(None).is_empty()
    (tmp_path / "kernels" / "something else").touch()
    assert cache.is_empty()
    cache.write(KERNEL, b"code")
    assert not cache.is_empty()
