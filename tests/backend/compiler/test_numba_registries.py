"""A compiler process loads few of Numba's registries: the code that comes out is the same, and all come when needed."""

import json
import subprocess
import sys

import pytest

CHILD = """
import json, sys
import llvmlite.binding as llvm
from numhlo.backend.compiler import numba_registries
from numhlo.backend.compiler.kernel_compiler import compile_source
from numhlo.backend.runtime.native_functions import native_kernel

SOURCE = '''
from numhlo.backend.primitives import address, load_f64, store_f64
from numhlo.backend.vector_math import exp_f64, pow_f64

def kernel(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    for i in range(lo, hi):
        a = load_f64(x, i)
        store_f64(y, i, exp_f64(a) + pow_f64(min(a, 2.0), 0.5))
'''

def code(name, source, through):
    made = llvm.ObjectFileRef.from_data(compile_source(name, source, through=through))
    return "".join(section.data().hex() for section in made.sections() if section.is_text())

if sys.argv[1] == "few":
    numba_registries.load_few()
    numba_registries.load_few()
found = {name: code(name, native_kernel(name).source, "direct") for name in ("driver", "pool_worker")}
found["kernel"] = code("kernel", SOURCE, "direct")
loaded = ["numba.cpython.heapq" in sys.modules]
numba_registries.load_all() if sys.argv[2:] else code("kernel", SOURCE, "numba")
loaded.append("numba.cpython.heapq" in sys.modules)
found["whole"] = code("kernel", SOURCE, "numba")
print(json.dumps([found, loaded]))
"""


def run(*arguments):
    done = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_code_is_the_same():
    few, loaded = run("few")
    whole, always = run("all")
    assert few == whole and all(few.values())
    assert loaded == [False, True] and always == [True, True]


@pytest.mark.slow
def test_all_may_be_asked_for():
    assert run("few", "first")[1] == [False, True]
