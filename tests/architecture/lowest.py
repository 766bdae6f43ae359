"""The lowest versions that pyproject.toml declares, as constraints for pip: ``python -m tests.architecture.lowest``.

Needs the standard library alone, as it runs before any environment exists. What the project does not name itself is
left to pip.
"""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
DECLARED = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(?P<relation>>=|==)(?P<version>[0-9.]+)(; sys_platform != '[a-z0-9]+')?"
)
EXTRAS = re.compile(r"numhlo\[[a-z,]+\]")


def lowest_versions() -> dict[str, str]:
    """Return the lowest version of every package that pyproject.toml names; of several, the highest of them.

    Raises
    ------
    ValueError
        If a requirement has no lowest version.
    """
    with PROJECT.open("rb") as file:
        table = tomllib.load(file)["project"]
    found: dict[str, str] = {}
    for text in itertools.chain(table["dependencies"], *table["optional-dependencies"].values()):
        if EXTRAS.fullmatch(text):
            continue
        declared = DECLARED.fullmatch(text)
        if declared is None:
            raise ValueError(f"{text}: what pyproject.toml requires has a lowest version, NAME>=VERSION")
        name, version = declared["name"], declared["version"]
        found[name] = max(found.get(name, "0"), version, key=lambda v: tuple(map(int, v.split("."))))
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in sorted(lowest_versions().items()))
