"""Tests beside versions of libraries: lists are those of some version, and behaviour is that of some version on."""

from __future__ import annotations

from importlib import metadata

import pytest
from packaging.requirements import Requirement

KNOWN = {"jax": (0, 10), "numpy": (2, 4), "scipy": (1, 17)}
"""The newest versions whose names and parameters are listed here; what runs is tested with every version."""


def is_newer(library: str) -> bool:
    """Return whether the installed library is newer than the known one."""
    return tuple(map(int, metadata.version(library).split(".")[:2])) > KNOWN[library]


def skip_if_older(requirement: str) -> None:
    """Skip a test whose oracle, the installed library, is older than the behaviour that it is asked about."""
    needed = Requirement(requirement)
    installed = metadata.version(needed.name)
    if not needed.specifier.contains(installed):
        pytest.skip(f"{needed.name} {installed} is older than {needed}, whose behaviour is tested")


def skip_if_newer(library: str) -> None:
    """Skip a test of names where the installed library is newer than the lists."""
    if is_newer(library):
        installed = metadata.version(library)
        pytest.skip(f"{library} {installed} is newer than the lists, which are those of {KNOWN[library]}")
