"""The lock file fits pyproject.toml, and holds what is needed on every platform and every Python."""

import re
from importlib import metadata

import pytest
from packaging.utils import canonicalize_name

from tests.architecture import lock, lowest

RENEW = "run `make lock`"


def versions(place):
    """Return the locked version of every package that a place needs."""
    return {r.name: str(r.specifier).removeprefix("==") for r in lock.locked() if lock.holds(r, "", place)}


def is_locked():
    """Return whether this environment is the lock file's: `make test-lowest` and `make test-newest` make others."""
    everywhere = {r.name: str(r.specifier).removeprefix("==") for r in lock.locked()}
    return all(metadata.version(name) == version for name, version in everywhere.items() if lock.is_installed(name))


def test_each_line_is_a_name_and_one_version_in_order():
    lines = [line for line in lock.LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [line.partition("==")[0] for line in lines]
    assert names == sorted({canonicalize_name(name) for name in names})
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; [a-z_]+ [^;#/]+)?", line) for line in lines)


@pytest.mark.parametrize("place", lock.all_places(), ids="-".join)
def test_it_holds_what_the_project_names(place):
    found = versions(place)
    for group in lock.project_requirements().values():
        for requirement in group:
            if requirement.name != lock.PROJECT and lock.holds(requirement, "", place):
                version = found.get(canonicalize_name(requirement.name))
                assert version is not None and requirement.specifier.contains(version), f"{requirement}: {RENEW}"


@pytest.mark.parametrize("place", lock.all_places(), ids="-".join)
def test_it_holds_what_these_need_and_nothing_else(place):
    if not is_locked():
        pytest.skip("what other versions need is not what the locked ones need")
    found, needed = versions(place), lock.closure(place)
    assert found.keys() == needed.keys(), RENEW
    for name, requirements in needed.items():
        assert all(requirement.specifier.contains(found[name]) for requirement in requirements), f"{name}: {RENEW}"


def test_a_new_requirement_is_missed():
    needed = lock.closure(lock.all_places()[0])
    assert {"numpy", "pluggy", "matplotlib", "pyzmq"} <= needed.keys()
    text = lock.lock_text({name: "1.0" for place in lock.all_places() for name in lock.closure(place)})
    assert text.startswith(lock.HEADING) and "\npluggy==1.0\n" in text
    assert 'colorama==1.0 ; sys_platform == "win32"\n' in text


def test_lowest_versions_are_those_that_the_project_declares():
    found = lowest.lowest_versions()
    assert found["numpy"] == "2.1" and found["mypy"] == "2.4" and "numhlo" not in found
    declared = {r.name for group in lock.project_requirements().values() for r in group}
    assert found.keys() == declared - {lock.PROJECT}
