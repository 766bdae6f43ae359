"""What every program may need can be compiled before: it is found, gives the same code, and is never another's."""

import llvmlite.binding as llvm
import numpy as np
import pytest

from numhlo.__main__ import main
from numhlo.backend import disk_cache, preparing
from numhlo.backend.compiler import stored_functions
from numhlo.backend.compiler.kernel_compiler import compile_source
from numhlo.backend.compiler.numba_target import NumbaTarget
from numhlo.backend.compiler.process import CompilerProcess
from numhlo.backend.compiler.stored_functions import functions_of_kernels
from numhlo.backend.disk_cache import DiskCache
from numhlo.backend.loader import LoadedKernel
from numhlo.backend.runtime.native_functions import FILES, native_kernel
from numhlo.backend.vector_math import exp_f64, pow_f64
from numhlo.backend.vector_math.jitable import JITABLE

SOURCE = """
from numhlo.backend.primitives import address, load_f64, store_f64
from numhlo.backend.vector_math import log1p_f64

def kernel(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    for i in range(lo, hi):
        store_f64(x, i, log1p_f64(load_f64(x, i)))
"""


@pytest.fixture(autouse=True)
def unprepared(monkeypatch, tmp_path):
    """Whatever this installation has been prepared with."""
    monkeypatch.setattr(disk_cache, "PREPARED", tmp_path / "nothing")


@pytest.fixture
def target(monkeypatch):
    made = NumbaTarget()
    monkeypatch.setattr("numhlo.backend.compiler.kernel_compiler.numba_target", lambda: made)
    return made


def text_of(code):
    return [section.data() for section in llvm.ObjectFileRef.from_data(code).sections() if section.is_text()]


def test_a_function_is_kept_and_read(tmp_path, target, monkeypatch):
    target.functions.look_in(str(tmp_path))
    first = compile_source("kernel", SOURCE)
    assert len(DiskCache(tmp_path).files()) == 1
    again = NumbaTarget()
    again.functions.look_in(str(tmp_path))
    monkeypatch.setattr("numhlo.backend.compiler.kernel_compiler.numba_target", lambda: again)
    with monkeypatch.context() as patched:
        patched.setattr(again, "_signature", None)  # nothing asks Numba for it
        resolved = again._resolve(*next(pair for pair in functions_of_kernels() if pair[0].__name__ == "log1p_f64"))
    assert str(resolved.signature) == "(float64,) -> float64"
    assert text_of(compile_source("kernel", SOURCE)) == text_of(first)


def test_what_is_damaged_or_of_another_text_is_made_anew(tmp_path, target, monkeypatch):
    target.functions.look_in(str(tmp_path))
    compile_source("kernel", SOURCE)
    ((_, path),) = DiskCache(tmp_path).files()
    path.write_bytes(path.read_bytes()[:-1])
    callee, given = next(pair for pair in functions_of_kernels() if pair[0].__name__ == "log1p_f64")
    assert target.functions.read(target.context, callee, given) is None
    with monkeypatch.context() as patched:
        patched.setattr(disk_cache, "fingerprint", lambda: b"other")
        target.functions.write(callee, given, given[0](*given))
        assert target.functions.read(target.context, callee, given) is not None
    assert target.functions.read(target.context, callee, given) is None


def test_only_functions_of_vector_math_are_kept(tmp_path, target):
    target.functions.look_in(str(tmp_path))
    assert target.functions.read(target.context, np.add, ()) is None
    assert stored_functions._key(min, ()) is None and stored_functions._key(lambda x: x, ()) is None
    assert stored_functions._key(exp_f64, ()) != stored_functions._key(pow_f64, ())


def test_functions_take_what_their_names_say():
    found = {function.__name__: [str(type) for type in types] for function, types in functions_of_kernels()}
    assert found["exp_f32"] == ["float32"] and found["pow_f64"] == ["float64"] * 2
    assert found["tanh_c128"] == ["complex128"] and len(found) > 60
    assert all(function in JITABLE for function, _ in functions_of_kernels())


@pytest.mark.slow
def test_an_installation_is_prepared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("numhlo.__main__.PREPARED", tmp_path / "prepared")
    assert DiskCache(None).read(native_kernel("call")) is None
    (tmp_path / "prepared").mkdir(mode=0o700)
    old = DiskCache(tmp_path / "prepared")
    old.write(native_kernel("attend"), b"old")
    assert main(["cache", "prepare", "--package"]) == 0
    functions = len(functions_of_kernels())
    assert capsys.readouterr().out == f"6 kernels and {functions} functions are in {tmp_path / 'prepared'}\n"
    assert len(DiskCache(tmp_path / "prepared").files()) == functions + len(FILES)
    monkeypatch.setattr(disk_cache, "PREPARED", tmp_path / "prepared")
    for name in FILES:
        assert LoadedKernel(name, DiskCache(None).read(native_kernel(name))).address


def test_what_cannot_be_compiled_is_said(tmp_path, monkeypatch):
    class Failing(CompilerProcess):
        def prepare(self, folder):
            reply = super().compile("kernel", "def kernel(ctx, bufs, dims, lo, hi):\n    return lo.no_such\n")
            assert "error" in reply.header
            return reply

    monkeypatch.setattr(preparing, "CompilerProcess", Failing)
    with pytest.raises(Exception, match=r"(?s)functions of vector math can't be compiled.*no_such"):
        preparing.prepare(tmp_path)
