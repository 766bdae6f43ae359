"""Which front end kernels go through, and that what one made is not taken for the other's."""

import pytest

from numhlo.backend import disk_cache
from numhlo.backend.front_ends import DIRECT, FRONT_ENDS, NUMBA, VARIABLE, front_end
from numhlo.backend.program import Kernel
from numhlo.lowering.ir.errors import ArgumentError


@pytest.fixture
def chosen(monkeypatch):
    """What sets the variable, as if the process began with it."""

    def choose(value):
        monkeypatch.setenv(VARIABLE, value)
        front_end.cache_clear()
        disk_cache.fingerprint.cache_clear()

    yield choose
    monkeypatch.undo()
    front_end.cache_clear()
    disk_cache.fingerprint.cache_clear()


def test_direct_lowering_is_the_default(chosen):
    chosen("")
    assert front_end() == FRONT_ENDS[0] == DIRECT


def test_the_front_end_is_part_of_the_caches_key(chosen):
    kernel, keys = Kernel("kernel", "text"), {}
    for name in (DIRECT, NUMBA, DIRECT):
        chosen(name)
        assert front_end() == name
        keys.setdefault(name, set()).add(disk_cache.cache_key(kernel))
    assert [len(found) for found in keys.values()] == [1, 1]
    assert keys[DIRECT] != keys[NUMBA]


def test_another_name_is_refused(chosen):
    chosen("python")
    with pytest.raises(ArgumentError) as caught:
        front_end()
    assert str(caught.value) == (
        "NUMHLO_FRONT_END is 'python'\n  it names what makes LLVM's code of kernels; use one of direct, numba"
    )
