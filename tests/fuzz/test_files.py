"""The short form of the fuzzer of files; ``python -m tests.fuzz.files`` is the long form, `test_array_file` the other."""

import pytest

from tests.fuzz.files import bytecode, bytecode_outcome


@pytest.mark.specifies("bytecode")
def test_mutants_of_bytecode_are_read_or_refused():
    outcomes = [bytecode_outcome(data) for data in bytecode(1, 2000)]
    assert outcomes.count("read") > 100 and outcomes.count("refused") > 1000
