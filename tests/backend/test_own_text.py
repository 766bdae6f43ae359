"""Kernels are made of numhlo's own source: from a folder, an archive, or a frozen application that keeps it."""

import os
import runpy
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from numhlo.backend import own_text
from numhlo.lowering.ir.errors import UnsupportedError

ROOT = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
import numhlo
from numhlo.backend import disk_cache, own_text

f = numhlo.jit(lambda x: np.sin(x) + x)
print(numhlo.__file__, f(np.ones(3)) == np.sin(1.0) + 1.0)
print([path for path, _ in own_text.own_files("primitives")])
try:
    numhlo.jit(lambda x: x + np.ones(4))(np.ones(3))  # the user's line
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_from_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "numhlo.zip", "w") as archive:
        for path in sorted((ROOT / "numhlo").rglob("*.py")):
            archive.write(path, path.relative_to(ROOT))
    (tmp_path / "script.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "numhlo.zip")}
    command = [sys.executable, "-P", "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    first, files, *error = done.stdout.splitlines()
    assert first == f"{tmp_path / 'numhlo.zip' / 'numhlo' / '__init__.py'} [ True  True  True]"
    assert files == str([path for path, _ in own_text.own_files("primitives")])
    assert any("script.py:10" in line for line in error), error


def test_without_sources(monkeypatch, tmp_path):
    monkeypatch.setattr(own_text, "FOLDER", tmp_path)
    monkeypatch.setattr(own_text, "_archived", lambda: tmp_path)
    with pytest.raises(UnsupportedError, match="source files are not in this application"):
        own_text.own_text("runtime/native_code/driver.py")
    with pytest.raises(UnsupportedError, match="--collect-all numhlo"):
        list(own_text.own_files("primitives"))


def test_what_pyinstaller_is_told():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pyinstaller40"]
    module, _, name = points["hook-dirs"].partition(":")
    (folder,) = getattr(import_module(module), name)()
    told = runpy.run_path(str(Path(folder) / "hook-numhlo.py"))
    assert told["module_collection_mode"] == "pyz+py"
    assert {"numba", "numhlo.backend.compiler.kernel_compiler", "numhlo.compat.jax.numpy"} <= {*told["hiddenimports"]}
