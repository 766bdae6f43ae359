"""Which processor code is generated for: this one, or the one that Numba's variables name."""

import llvmlite.binding as llvm
import pytest

from tests.backend.child import run_child

PROGRAM = """
from numhlo.backend import disk_cache, target
from numhlo.backend.compiler.process import environment
from numhlo.backend.program import Kernel

{change}
names = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT")
print(*target.processor(), sep="|")
print([environment().get(name, "") for name in names])
print(target.has_feature("avx2"), disk_cache.fingerprint().hex())
"""

COMPILED = """
from numhlo.backend.compiler.process import CompilerProcess

source = '''
from numhlo.backend.primitives import address, load_f64, store_f64

def kernel(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    for i in range(lo, hi):
        store_f64(y, i, load_f64(x, i) * 3.0)
'''
process = CompilerProcess()
print(bytes(process.compile("kernel", source).payload).hex())
process.close()
"""


def run(text, name="", features="", **environment):
    return run_child(text, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features, **environment).splitlines()


def asked(change="", **environment):
    return run(PROGRAM.format(change=change), **environment)


def test_nothing_set_is_this_processor():
    machine, handed, _ = asked()
    assert machine == f"{llvm.get_host_cpu_name()}|{llvm.get_host_cpu_features().flatten()}"
    assert handed == "['', '', '']"


@pytest.mark.parametrize(
    ("given", "found", "has_avx2"),
    [
        ({"name": "generic"}, "generic|", False),
        ({"name": "generic", "features": "+sse3,+avx2"}, "generic|+sse3,+avx2", True),
        ({"name": "haswell", "features": "+avx2,-avx512f"}, "haswell|+avx2,-avx512f", True),
        ({"features": "-avx2"}, f"{llvm.get_host_cpu_name()}|-avx2", False),
        ({"name": "haswell"}, f"haswell|{llvm.get_host_cpu_features().flatten()}", None),
    ],
)
def test_numbas_variables_choose_one_for_every_process_and_for_the_cache(given, found, has_avx2):
    machine, handed, last = asked(**given, NUMBA_DISABLE_JIT="1")
    assert machine == found
    assert handed == str([given.get("name", ""), given.get("features", ""), ""])
    if has_avx2 is not None:
        assert last.startswith(str(has_avx2))
    assert last.split()[1] != asked()[2].split()[1]


def test_what_was_chosen_first_stays():
    change = "target.chosen(); import os; os.environ['NUMBA_CPU_NAME'] = 'haswell'"
    machine, handed, _ = asked(change, name="generic")
    assert machine == "generic|" and handed == "['generic', '', '']"


@pytest.mark.slow
@pytest.mark.skipif(not llvm.get_host_cpu_features().get("avx"), reason="looks for code of processors with AVX")
def test_compiler_processes_generate_code_for_it():
    codes = [bytes.fromhex(run(COMPILED, name=name)[0]) for name in ("", "generic")]
    assert codes[0] != codes[1] and all(code.startswith(b"\x7fELF") for code in codes)
