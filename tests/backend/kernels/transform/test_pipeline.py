"""The transformations run in order; each that changed a kernel is followed by a check where that is asked for."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.transform import pipeline
from numhlo.backend.kernels.verify import MalformedKernelError
from numhlo.backend.plan_checking import check_kernels
from numhlo.backend.program import Kernel
from numhlo.switches import debugging
from tests.backend.kernels.kernels import source_of
from tests.backend.kernels.transform.printed import read

SOURCE = "x = address(bufs, 0)\nn = load_i64(x, 1)\nm = to_f64(n)\nstore_i64(x, 0, hi)"


def test_each_change_is_checked():
    seen = []
    module = read(SOURCE)
    assert pipeline.transform(module, lambda module: seen.append(len(module.entry.body))) == ["eliminate_dead_code"]
    assert seen == [4, 2]
    assert [callee.__name__ for callee in module.callees] == ["address"]
    seen.clear()
    assert pipeline.transform(module, lambda module: seen.append(len(module.entry.body))) == []
    assert seen == [2]


def test_a_transformation_that_breaks_rules_is_found(monkeypatch):
    def forgetful(module):
        module.entry.body[:] = [s for s in module.entry.body if not isinstance(s, ir.Let)]
        return True

    monkeypatch.setattr(pipeline, "TRANSFORMATIONS", [forgetful])
    with pytest.raises(MalformedKernelError):
        check_kernels([Kernel("kernel", source_of("elementwise"))])
    with debugging(verify=True, tier0=False), pytest.raises(MalformedKernelError):
        numhlo.jit(lambda x: x * 2 + 1)(np.ones(3))
