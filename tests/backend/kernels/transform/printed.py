"""Kernels for tests of transformations: the body of a kernel as text, before and after."""

from textwrap import dedent, indent

from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.text import text_of
from numhlo.backend.kernels.verify import verify

HEAD = "from numhlo.backend.primitives import *\ndef kernel(ctx, bufs, dims, lo, hi):\n"


def read(body):
    """Return the IR of a kernel whose body is given."""
    return read_kernel("kernel", HEAD + indent(dedent(body), "    "), numba_target())


def printed(module):
    """Return the text of the kernel's body."""
    text = text_of(module)
    return dedent(text[text.index("lo, hi):\n") + len("lo, hi):\n") :])


def after(transformation, body):
    """Return the text of a kernel's body after a transformation, and whether that says that it changed something."""
    module = read(body)
    changed = transformation(module)
    verify(module, numba_target())
    return printed(module), changed
