"""Libraries written for JAX, unmodified: their programs print the same under JAX and with our modules in its place."""

from __future__ import annotations

import pytest

from tests.compat.libraries.running import LIBRARIES, differences, run


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.program)
def test_program(library):
    if not library.is_installed:
        pytest.skip(
            f"{library.name} is not installed: python -m pip install -r tests/compat/libraries/requirements.txt"
        )
    theirs = run(library, under_jax=True)
    if theirs.error:
        pytest.skip(f"{library.name} {library.version} does not run under JAX itself: {theirs.error}")
    ours = run(library, under_jax=False)
    assert ours.error == "" and differences(ours.output, theirs.output) == []


def test_comparison():
    assert differences("1.0 2.0 a", "1.00001 2.0 a") == []
    assert differences("1.0 nan", "1.1 nan") == [("1.0", "1.1")]
    assert differences("1.0", "1.0 2.0") == [("1 words", "2 words")]
