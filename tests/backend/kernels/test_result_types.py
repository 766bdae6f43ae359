"""Types of calls without Numba are those that Numba's registry has for the same calls."""

import operator
import subprocess
import sys

import pytest

from numhlo.backend import primitives
from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.identity import identity
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.result_types import OPERATORS, DefinedTypes
from numhlo.backend.kernels.verify import verify
from numhlo.backend.runtime.native_functions import FILES, native_kernel
from tests.backend.kernels.families import PROGRAMS, kernels_of
from tests.backend.kernels.kernels import KERNELS, source_of

NUMBERS = [ir.BOOL, *[ir.Number(k, b) for k in ("int", "uint") for b in (8, 16, 32, 64)]]
NUMBERS += [*[ir.Number("float", b) for b in (32, 64)], *[ir.Number("complex", b) for b in (64, 128)]]
BINARY = sorted((OPERATORS - {operator.neg, operator.pos, operator.invert, abs}), key=lambda f: f.__name__)
OF_ONE_TYPE = [primitives.add, primitives.divide, primitives.maximum, primitives.absolute, primitives.select]


def assert_known(name, source):
    module = read_kernel(name, source, DefinedTypes())
    verify(module, numba_target())
    assert identity(module) == identity(read_kernel(name, source, numba_target()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_of_programs(name):
    for kernel in kernels_of(name):
        assert_known(kernel.name, kernel.source)


@pytest.mark.parametrize("name", KERNELS)
def test_forms_of_kernels(name):
    assert_known("kernel", source_of(name))


@pytest.mark.parametrize("name", FILES)
def test_the_runtimes_own_kernels(name):
    kernel = native_kernel(name)
    assert_known(kernel.name, kernel.source)


def values(*types):
    return [ir.Read(ir.Variable("x", type)) for type in types]


@pytest.mark.parametrize("callee", BINARY, ids=lambda f: f.__name__)
def test_operators_of_all_types(callee):
    known = 0
    for one in NUMBERS:
        for other in NUMBERS:
            operands = values(one, other)
            try:
                expected = numba_target().result(callee, operands)
            except (UnreadableError, NotImplementedError):  # there is no such operation
                continue
            try:
                found = DefinedTypes().result(callee, operands)
            except UnreadableError:
                assert one != other or one == ir.BOOL  # nobody writes such kernels
                continue
            assert found == expected, (str(one), str(other))
            known += 1
    assert known >= 3


def test_nothing_is_said_of_pointers_that_no_definition_tells():
    with pytest.raises(UnreadableError):
        DefinedTypes().result(primitives.maximum, values(ir.ANYWHERE, ir.ANYWHERE))
    with pytest.raises(UnreadableError):
        DefinedTypes().result(operator.add, values(ir.ANYWHERE, ir.INT64))


def test_numba_is_not_imported():
    program = (
        "import sys\n"
        "from tests.backend.kernels.kernels import source_of\n"
        "from numhlo.backend.kernels.transform.pipeline import transformed_text\n"
        "text, names = transformed_text('kernel', source_of('elementwise'))\n"
        "assert 'exp_f64' in text and names == ['eliminate_dead_code']\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
