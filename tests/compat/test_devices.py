"""Meshes of four devices: JAX's programs run with JAX's results, gradients and refusals."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import numhlo.compat.jax as compat
from tests.compat import programs_of_devices as programs

pytestmark = pytest.mark.oracle("jax>=0.10")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    file = tmp_path_factory.mktemp("oracle") / "results"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={programs.DEVICES}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_ENABLE_X64": "1"}
    subprocess.run([sys.executable, programs.__file__, file], env=environment, check=True, timeout=600)
    return pickle.loads(file.read_bytes())


@pytest.fixture(autouse=True)
def devices():
    compat.config.update("jax_num_cpu_devices", programs.DEVICES)
    yield
    compat.config.update("jax_num_cpu_devices", -1)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program, oracle):
    found, wanted = programs.results_of(compat, program), oracle[0][program.__name__]
    assert len(found) == len(wanted)
    for number, (mine, other) in enumerate(zip(found, wanted, strict=True)):
        assert mine.dtype.kind == other.dtype.kind, number
        if mine.dtype.kind == "U":
            assert mine == other, number
        else:
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14, err_msg=str(number), strict=True)


def test_refusals(oracle):
    assert programs.refused(compat) == ["ValueError" if "Spec" in name else name for name in oracle[1]]
