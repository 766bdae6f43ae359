"""Small programs in the style of JAX's documentation: only their imports are changed, and they give the same results."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import numpy as np
import pytest

from numhlo.compat.jax.arrays import Array

pytestmark = pytest.mark.slow

jax.config.update("jax_enable_x64", True)
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
IMPORTS = (
    (r"^import jax$", "import numhlo.compat.jax as jax"),
    (r"^import jax\.", "import numhlo.compat.jax."),
    (r"^from jax\b", "from numhlo.compat.jax"),
)
"""What is changed: lines that import jax."""


def main_of(text, path):
    names = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)  # noqa: S102 - the program beside this file
    return names["main"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path):
    text = path.read_text(encoding="utf-8")
    changed = text
    for before, after in IMPORTS:
        changed = re.sub(before, after, changed, flags=re.MULTILINE)
    assert not re.search(r"^(import|from) jax\b", changed, flags=re.MULTILINE)
    theirs = main_of(text, path)
    if "callback" not in text:  # one may wait for its arguments for ever, on the only thread that could bring them
        theirs = jax.jit(theirs)  # one compilation instead of one for each operation
    wanted = theirs()
    found = main_of(changed, path)()
    wanted, found = jax.tree.leaves(wanted), jax.tree.leaves(found)
    assert len(wanted) == len(found) > 0
    for mine, other in zip(found, wanted, strict=True):
        assert isinstance(mine, Array | int | float) or type(mine) is np.ndarray
        assert np.shape(mine) == np.shape(other) and np.asarray(mine).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(np.asarray(mine), np.asarray(other), rtol=1e-10, atol=1e-12)


def test_there_are_twenty():
    assert len(PROGRAMS) >= 20
