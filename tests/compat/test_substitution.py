"""Our modules in JAX's place: by a command, and by a function."""

from __future__ import annotations

import subprocess
import sys

import pytest

from numhlo.compat.jax import substitution

PROGRAM = """
import sys
import jax, jax.numpy as jnp, jax.scipy.stats.norm as norm, jaxlib
from jax import lax
from jax.experimental import ode
from jax.example_libraries import optimizers
import jax.extend.core
assert jax.__name__ == "numhlo.compat.jax", jax.__name__
assert sys.modules["jax.numpy"] is sys.modules["numhlo.compat.jax.numpy"] is jax.numpy
assert jnp.__spec__.name == "numhlo.compat.jax.numpy"
assert jaxlib.__version__ == jax.__version__
print(float(jax.jit(lambda x: lax.sin(x) + norm.logpdf(x))(jnp.float32(0.0))), sys.argv, __name__)
"""


def run(*arguments, **options):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


def test_command(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for arguments in ([str(program)], ["-m", "program"]):
        found = run("-m", "numhlo.compat.jax", *arguments, "--flag", cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        value, rest = found.stdout.split(" ", 1)
        assert abs(float(value) + 0.9189385) < 1e-6
        assert rest.strip() == f"{[str(program), '--flag']} __main__"
    program.write_text("import sys; sys.exit(7)")
    assert run("-m", "numhlo.compat.jax", str(program)).returncode == 7
    assert run("-m", "numhlo.compat.jax").returncode == 2
    assert run("-m", "numhlo.compat.jax", "-m").returncode == 2
    assert run("-m", "numhlo.compat.jax", "--help").stdout.startswith("usage: python -m numhlo.compat.jax")


REFUSALS = """
import numhlo.compat.jax as ours
ours.install(); ours.install()
assert ours.is_installed()
for name, why in (("jax.nonsense", ""), ("jax.experimental.pallas", "accelerators"), ("jaxlib.mlir.ir", "lower_fun"),
                  ("jax.experimental.jax2tf", "StableHLO")):
    try:
        __import__(name)
    except ImportError as error:
        assert name.split(".")[1] in error.name and name.startswith(error.name), error.name
        assert f"no module {error.name}" in str(error) and why in str(error), str(error)
    else:
        raise AssertionError(name)
try:
    from jax.numpy import nonsense
except ImportError as error:
    assert "nonsense" in str(error)
import jax
assert jax is ours
ours.uninstall(); ours.uninstall()
import jax
assert jax.__name__ == "jax" and jax is not ours and not ours.is_installed()
try:
    ours.install()
except ImportError as error:
    assert "has been imported before" in str(error)
else:
    raise AssertionError("installed beside JAX")
print("done")
"""


def test_refusals_and_restoring():
    found = run("-c", REFUSALS)
    assert found.stdout == "done\n", found.stderr


def test_not_beside_jax():
    import jax  # noqa: F401, PLC0415 - what is refused

    with pytest.raises(ImportError, match="arrays of both don't mix"):
        substitution.install()
    assert not substitution.is_installed()
