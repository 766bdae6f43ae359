"""What a new process loads, and when: modules are counted, since times depend on the machine."""

import os
import re
import subprocess
import sys

import pytest

from tests.architecture.source_tree import ROOT

HEAVY = ("numba", "llvmlite", "scipy", "jax", "numhlo.backend", "numhlo.tracer", "numhlo.lowering.ops")
"""What names alone never need."""


def modules_after(statements):
    """Return the modules that a new process has loaded after some statements."""
    command = [sys.executable, "-c", f"{statements}\nimport sys\nprint(*sys.modules)"]
    usual = {k: v for k, v in os.environ.items() if not k.startswith("NUMHLO_") or k == "NUMHLO_CACHE_DIR"}
    return set(subprocess.run(command, env=usual, capture_output=True, text=True, check=True).stdout.split())


def of_packages(modules, packages):
    return sorted(m for m in modules if m.startswith(tuple(f"{package}." for package in packages)) or m in packages)


@pytest.fixture(scope="module")
def numpys_own():
    return modules_after("import numpy, ml_dtypes")


def test_names_alone_load_little(numpys_own):
    found = modules_after("import numhlo.numpy as np\nfrom numhlo import jit") - numpys_own
    assert not of_packages(found, HEAVY)
    assert len(of_packages(found, ["numhlo"])) < 40
    assert len(found) < 70


def test_a_jitted_function_needs_no_text_and_no_compiler():
    found = modules_after(
        "import numpy, numhlo\nf = numhlo.jit(lambda x: numpy.exp(x) + x.sum())\nf(numpy.ones((3, 2)))"
    )
    never = ("numba", "scipy", "numhlo.backend.compiler.kernel_compiler", "numhlo.lowering.verifier", "numhlo.display")
    assert not of_packages(found, [*never, "numhlo.lowering.text", "numhlo.lowering.hlo", "numhlo.compilation.stages"])
    files = [ROOT / name.replace(".", "/") for name in of_packages(found, ["numhlo"])]
    texts = {file.name: file.with_suffix(".py").read_text(encoding="utf-8") for file in files if not file.is_dir()}
    makers = [
        name for name, text in texts.items() if re.search(r"^from dataclasses import .*\bdataclass\b", text, re.M)
    ]
    assert makers == ["records"]  # a dataclass takes a quarter of a millisecond of every start


def test_a_face_lists_its_names_before_they_are_loaded():
    modules_after(
        "import sys, numhlo.numpy as np\n"
        "assert not hasattr(np, '__wrapped__') and 'histogram' in dir(np) and 'fft' in dir(np)\n"
        "assert 'numhlo.tracer' not in sys.modules\n"
        "from numhlo.numpy import *\n"
        "assert tanh is np.tanh and fft.fft and linalg.norm and e == np.e and Array"
    )


def test_control_flow_knows_methods_of_traced_arrays_though_the_namespace_is_not_used():
    scanned = "lax.scan(lambda c, x: (c + x.sum(), x.mean()), 0.0, numpy.ones((3, 2)))"
    modules_after(f"import numpy\nimport numhlo.numpy\nfrom numhlo import lax\n{scanned}")
