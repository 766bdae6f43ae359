"""In a notebook's process: compiler processes start, a redefined cell is another function, errors name cells, Ctrl-C ends native loops."""

import os
from pathlib import Path

import nbclient
import nbformat
import pytest

CELLS = [
    """
import os, signal, threading, time
import numpy as np
import numhlo
from numhlo import lax
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.kernel_cache import kernel_cache

def scale(x):
    return np.sin(x) * 2

f = numhlo.jit(lambda x: scale(x) + 1)
f(np.ones(3)); f.wait()
print(kernel_cache().compiles > 0, compiler_service().in_process == "", float(f(0.0)))
""",
    """
def scale(x):
    return np.cos(x)

print(float(f(0.0)))
""",
    """
def add(x):
    return x + np.ones(4)

try:
    numhlo.jit(add)(np.ones(3))
except ValueError as error:
    print(str(error).splitlines()[1].strip())
print("(Cell In[3]:2)" in numhlo.jit(add).lower(np.ones(4)).compile().explain())
""",
    """
g = numhlo.jit(lambda x: lax.while_loop(lambda s: s >= 0, lambda s: s * 0.999 + 1, x))
g(-1.0); g.wait(); g(-1.0)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    g(1.0)
except KeyboardInterrupt:
    print("interrupted")
""",
]


@pytest.mark.slow
def test_cells_of_a_notebook():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nothing_is_kept = {"NUMHLO_CACHE_DIR": "", "PYTHONPATH": str(Path(__file__).parents[2])}
    environment = {**os.environ, **nothing_is_kept, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    nbclient.NotebookClient(notebook, timeout=60).execute(env=environment)
    assert ["".join(o["text"] for o in c.outputs if o.get("name") == "stdout").strip() for c in notebook.cells] == [
        "True True 1.0",
        "2.0",
        "at Cell In[3]:2 in add:  return x + np.ones(4)\nTrue",
        "interrupted",
    ]
