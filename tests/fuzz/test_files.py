"""The short form of the fuzzer of files; ``python -m tests.fuzz.files`` is the long form, `test_array_file` the other."""

import os
import signal
import subprocess

import jaxlib
import pytest

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.text import bytecode
from numhlo.lowering.text.bytecode import read_bytecode
from tests.fuzz.files import artifacts, bytecode_outcome
from tests.fuzz.files import bytecode as mutants

CRASHING = bytes.fromhex(
    "4d4cef520d537461626c65484c4f5f76312e31372e300001190501050901030b03070f1317034723150105070b031f0f2f0b"
    "0f0f4f0b0b0b0b0f4f2f131303150707131f1f1f1b1713070222021f050d13010d1f05110100000000000000030113010913"
    "01011f0521010000000000000002000000000000001701230d1d0f1d1113030b060301050100bb130f0b0001000000000000"
    "001f0f110000000000000000030511111f1103001d09290309012909091511090329090d090511032909090d0d1103110507"
    "09030b29050909012903091301044f050150010107043f0301050350010307042b03070b050d110005460105030b05010307"
    "04010305060301050100a9130f0b13151f110f0b116275696c74696e0076686c6f006d6f64756c650066756e635f76310063"
    "6f6e766f6c7574696f6e5f76310072657475726e5f7631006a69745f74657374006d61696e007075626c6963000839070507"
    "010b091309151723190b0d050f0b051b070d050f1d1f072107"
)
"""A portable artifact with a changed byte, on which the reader of jaxlib 0.10.2 aborts."""


@pytest.mark.slow
@pytest.mark.specifies("bytecode")
def test_mutants_of_bytecode_are_read_or_refused():
    outcomes = [bytecode_outcome(data) for data in mutants(1, 12)]
    assert all(o == "read" or "jaxlib can't read this bytecode" in o or "<bytecode>" in o for o in outcomes)


def test_a_reader_that_crashes_ends_its_own_process():
    with pytest.raises(UnsupportedError, match="jaxlib can't read this bytecode") as caught:
        read_bytecode(CRASHING)
    if jaxlib.__version__ == "0.10.2":
        assert caught.value.why == "it ended by signal SIGABRT"


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        (subprocess.CompletedProcess([], -signal.SIGSEGV, b""), "it ended by signal SIGSEGV"),
        (subprocess.CompletedProcess([], 3, b""), "it ended with exit code 3"),
        (subprocess.CompletedProcess([], 0, b""), "it ended with exit code 0"),
        (subprocess.TimeoutExpired([], 30), "it takes more than 30 s"),
        (OSError("no processes left"), "it runs in a process of its own, which can't be started: no processes left"),
    ],
)
def test_how_a_reader_can_end(ending, why, monkeypatch):
    def run(*_, **options):
        assert options["timeout"] == 30 and options["cwd"] == os.sep
        if isinstance(ending, Exception):
            raise ending
        return ending

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(UnsupportedError) as caught:
        read_bytecode(b"ML\xefR")
    assert caught.value.why == why


def test_a_reader_has_limits_of_memory_and_time(monkeypatch):
    monkeypatch.setattr(bytecode, "LEAST_MEMORY", 64 << 20)
    with pytest.raises(UnsupportedError) as caught:
        read_bytecode(artifacts()[0])
    assert "can't be imported" in str(caught.value) or "jaxlib can't read this bytecode" in str(caught.value)
