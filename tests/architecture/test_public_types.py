"""The stubs say what signatures and docstrings say."""

import pytest

from tests.architecture.public_types import stubs

STUBS = stubs()


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.parent.name + path.stem.strip("_"))
def test_stubs_are_up_to_date(path):
    assert path.read_text(encoding="utf-8") == STUBS[path], "run python -m tests.architecture.public_types"
