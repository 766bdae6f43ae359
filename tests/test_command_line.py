"""The command line: what it says, what it refuses, and that it carries kernels from one folder to another."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from numhlo.__main__ import main
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.program import Kernel

KERNELS = [Kernel("one", f"source {k}") for k in range(3)]


@pytest.fixture
def cache(tmp_path):
    made = DiskCache(tmp_path / "kernels")
    for number, kernel in enumerate(KERNELS):
        made.write(kernel, bytes([number]) * 5000)
    return made


@pytest.fixture
def run(cache, capsys):
    """Run a command on a folder, and return its status and what it wrote."""

    def run(*arguments, folder=cache.folder):
        status = main(["cache", *map(str, arguments), "--folder", str(folder)])
        return status, "".join(capsys.readouterr())

    return run


def test_info_and_clear(run, cache, tmp_path):
    assert run("info") == (0, f"3 kernels in {cache.folder}, 0.0 of 256 MiB\n")
    cache.folder.chmod(0o777)
    assert run("info")[1].splitlines()[1] == "not used: other users may write it"
    cache.folder.chmod(0o700)
    assert run("clear") == (0, "3 kernels removed\n")
    assert run("info")[1].startswith("0 kernels in ")
    assert run("info", folder=tmp_path / "none")[0] == 0
    assert not (tmp_path / "none").exists()


def test_kernels_are_carried(run, tmp_path):
    archive, elsewhere = tmp_path / "kernels.zip", tmp_path / "elsewhere"
    assert run("export", archive) == (0, f"3 kernels written to {archive}\n")
    status, text = run("import", archive, folder=elsewhere)
    assert (status, elsewhere.exists()) == (1, False)
    assert text == (
        "numhlo: kernels are machine code, which numhlo runs without asking again: "
        f"if you trust whoever made {archive}, repeat this with --trust\n"
    )
    assert run("import", archive, "--trust", folder=elsewhere) == (0, f"3 kernels added to {elsewhere}\n")
    arrived = DiskCache(elsewhere)
    for number, kernel in enumerate(KERNELS):
        assert arrived.read(kernel) == bytes([number]) * 5000
    assert run("export", archive)[0] == 1  # it exists
    assert run("export", tmp_path / "a.zip", folder=tmp_path / "typo")[1].startswith("numhlo: there is no folder ")


@pytest.mark.parametrize("bad", ["name", "path", "content", "text", "missing"])
def test_bad_files_add_nothing(run, cache, tmp_path, bad):
    archive, elsewhere = tmp_path / "bad.zip", tmp_path / "elsewhere"
    good = cache.files()[0][1]
    with zipfile.ZipFile(archive, "w") as target:
        target.write(good, good.name)
        another = ("1" if good.name[0] == "0" else "0") + good.name[1:]
        name = {"name": "evil.py", "path": f"../{good.name}"}.get(bad, another)
        target.writestr(name, good.read_bytes()[:-1] if bad == "content" else good.read_bytes())
    if bad == "text":
        archive.write_text("no archive")
    elif bad == "missing":
        archive.unlink()
    status, text = run("import", archive, "--trust", folder=elsewhere)
    assert status == 1
    assert text.startswith("numhlo: ")
    assert not list(elsewhere.iterdir())
    assert not list(tmp_path.glob("*.kernel"))


def test_it_runs_as_a_module(cache):
    environment = {**os.environ, "NUMHLO_CACHE_DIR": str(cache.folder)}
    command = [sys.executable, "-m", "numhlo", "cache", "info"]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=root, timeout=200)
    assert done.stdout.startswith("3 kernels in ")
    environment["NUMHLO_CACHE_DIR"] = ""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=root, timeout=200)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "numhlo: nothing is kept: NUMHLO_CACHE_DIR is empty, or there is no home\n"
