"""The wheel holds the package once, no links, and nothing else."""

import subprocess
import sys
import zipfile

import pytest

from tests.architecture.source_tree import ROOT, python_files

SIZE_LIMIT = 3_000_000
"""The package is 2 MB; what is in it twice, or does not belong there, would make more of it."""


@pytest.mark.slow
def test_wheel_content(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=200)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < SIZE_LIMIT
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name for name in names if name.endswith(".py")} == {path.as_posix() for path in python_files("numhlo")}
    assert "numhlo/py.typed" in names and "numhlo/numpy/__init__.pyi" in names
    assert all(name.startswith("numhlo/") for name in names)
