"""The lock file: the exact version of everything that the project's environments install.

``make lock`` renews it, from a fresh environment of the oldest Python that numhlo runs on: newer releases of NumPy and
SciPy leave old Pythons behind, while those that run on the oldest one run on all. pip takes the file as constraints, so
that each environment installs what its extras ask for, in these versions.

It holds no hashes: they would be those of the files of one index, and tie every clone to it.
"""

from __future__ import annotations

import importlib
import itertools
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source_tree import ROOT

LOCK = ROOT / "requirements.lock"
PROJECT = "numhlo"
HEADING = """\
# The versions of all that `make demo`, `make test` and `make bench` install. Renewed by `make lock`; not edited by hand.
"""
PLATFORMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "darwin": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "win32": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
}
WHEELS = {"linux": "manylinux2014_x86_64", "darwin": "macosx_11_0_arm64", "win32": "win_amd64"}
"""What wheels are called that run on a platform, for packages that no other one needs."""


class Place(NamedTuple):
    """A Python on a platform."""

    python: str
    platform: str


def project() -> dict[str, object]:
    """Return the table ``project`` of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, object] = tomllib.load(file)["project"]
    return table


def pythons() -> list[str]:
    """Return the versions of Python that the project names, oldest first."""
    names = project()["classifiers"]
    assert isinstance(names, list)
    found = [match[1] for name in names if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", name))]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def project_requirements() -> dict[str, list[Requirement]]:
    """Return what pyproject.toml requires: always, under an empty name, and for each extra."""
    table = project()
    always, extras = table["dependencies"], table["optional-dependencies"]
    assert isinstance(always, list) and isinstance(extras, dict)
    return {name: [Requirement(text) for text in texts] for name, texts in {"": always, **extras}.items()}


def is_installed(name: str) -> bool:
    """Return whether a package is installed here."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def requirements_of(name: str) -> list[Requirement]:
    """Return what an installed package requires, under whatever conditions."""
    return [Requirement(text) for text in metadata.requires(name) or ()]


def holds(requirement: Requirement, extra: str, place: Place) -> bool:
    """Return whether a requirement counts in a place for who asked for an extra, empty for none."""
    if requirement.marker is None:
        return True
    version = {"python_version": place.python, "python_full_version": f"{place.python}.0"}
    here = {name: str(value) for name, value in default_environment().items()}
    return requirement.marker.evaluate({**here, **PLATFORMS[place.platform], **version, "extra": extra})


def closure(place: Place) -> dict[str, list[Requirement]]:
    """Return all packages that the project needs in a place, with what is required of each.

    What those need that are not installed here is not known, and left out.
    """
    needed: dict[str, list[Requirement]] = {}
    waiting = [r for group in project_requirements().values() for r in group if holds(r, "", place)]
    seen = set[tuple[str, str]]()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name == PROJECT:
            continue  # an extra that names others, all of which are here
        needed.setdefault(name, []).append(requirement)
        for extra in {"", *requirement.extras}:
            if (name, extra) not in seen and is_installed(name):
                waiting += [inner for inner in requirements_of(name) if holds(inner, extra, place)]
            seen.add((name, extra))
    return needed


def all_places() -> list[Place]:
    """Return every place where the tests are meant to pass."""
    return [Place(*pair) for pair in itertools.product(pythons(), PLATFORMS)]


def marker_of(places: Iterable[Place]) -> str:
    """Return the condition that holds in some places and in no others, empty where they are all.

    Examples
    --------
    >>> marker_of(place for place in all_places() if place.platform == "win32")
    'sys_platform == "win32"'
    >>> marker_of([Place("3.11", "linux"), Place("3.12", "linux"), Place("3.11", "darwin")])
    'sys_platform == "linux" and python_version in "3.11 3.12" or sys_platform == "darwin" and python_version in "3.11"'
    """
    found = set(places)
    if found == set(all_places()):
        return ""
    conditions = []
    for platform in PLATFORMS:
        versions = [version for version in pythons() if (version, platform) in found]
        if not versions:
            continue
        condition = f'sys_platform == "{platform}"'
        everywhere = versions == pythons()
        conditions.append(condition if everywhere else f'{condition} and python_version in "{" ".join(versions)}"')
    return " or ".join(conditions)


def lock_text(versions: Mapping[str, str]) -> str:
    """Return the lock file's text, given the version of every package."""
    needing: dict[str, list[Place]] = {}
    for place in all_places():
        for name in closure(place):
            needing.setdefault(name, []).append(place)
    lines = []
    for name in sorted(needing):
        marker = marker_of(needing[name])
        lines.append(f"{name}=={versions[name]}{f' ; {marker}' if marker else ''}\n")
    return HEADING + "".join(lines)


def locked() -> list[Requirement]:
    """Return what the lock file says."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def install_missing() -> None:
    """Install what only other places need, so that it tells its version and what it needs itself."""
    while missing := {
        requirements[0].name: (place, requirements)
        for place in all_places()
        for name, requirements in closure(place).items()
        if not is_installed(name)
    }:
        for place, requirements in missing.values():
            install_elsewhere(requirements, place)


def install_elsewhere(requirements: list[Requirement], place: Place) -> None:
    """Install a package of another place into this environment; its code need not run here."""
    there = ["--platform", WHEELS[place.platform], "--python-version", place.python, "--only-binary=:all:"]
    where = ["--target", sysconfig.get_path("purelib"), "--no-deps"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *there, *where]
    wanted = ",".join(str(requirement.specifier) for requirement in requirements if requirement.specifier)
    subprocess.run([*command, f"{requirements[0].name}{wanted}"], check=True)
    importlib.invalidate_caches()


def main() -> None:
    """Write the lock file, from what is installed in the environment that runs this."""
    version, oldest = "{}.{}".format(*sys.version_info), pythons()[0]
    if version != oldest:
        sys.exit(
            f"the lock is made with Python {oldest}, since newer ones get versions that {oldest} can't; not {version}"
        )
    install_missing()
    names = {name for place in all_places() for name in closure(place)}
    LOCK.write_text(lock_text({name: metadata.version(name) for name in names}), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
