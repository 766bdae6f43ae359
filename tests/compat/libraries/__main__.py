"""``python -m tests.compat.libraries [names]``: run the libraries' programs, and write the table of the docs."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from tests.compat.libraries.running import LIBRARIES, Library, differences, run

PAGE = Path(__file__).parents[3] / "docs" / "jax_libraries.md"

HEAD = """# Libraries written for JAX

Each of these libraries is taken from PyPI as it is and imported with our modules in JAX's place
(`python -m numhlo.compat.jax program.py`); its program (`tests/compat/libraries/programs`) does what the library's
README shows, at small sizes. *Equal* means: what the program prints equals what it prints under JAX {jax} in another
process, numbers within 2e-4 relative (float32). Else the page says what stopped it, or how much differs.

    python -m pip install -r tests/compat/libraries/requirements.txt
    python -m tests.compat.libraries       run all of them, and write this page
    python -m pytest tests/compat/test_libraries.py
    python -m tests.compat.libraries.times   three programs from end to end, beside JAX's time

| library | version | program | result |
| --- | --- | --- | --- |
"""


def row(library: Library) -> str:
    """Return a library's line of the table."""
    if not library.is_installed:
        return f"| {library.name} | not installed | {library.program} | not run |"
    theirs, ours = run(library, under_jax=True), run(library, under_jax=False)
    if theirs.error:
        result = f"JAX itself stops: {theirs.error}"
    elif ours.error:
        result = f"stops: {ours.error}"
    else:
        apart = differences(ours.output, theirs.output)
        result = f"{len(apart)} of {len(theirs.output.split())} numbers differ" if apart else "equal"
    return f"| {library.name} | {library.version} | {library.program} | {result.replace('|', '/')} |"


def main(names: list[str]) -> None:
    """Run the programs of all libraries, or of those named; the page is written of all."""
    chosen = [library for library in LIBRARIES if not names or library.program in names]
    rows = []
    for library in chosen:
        rows.append(row(library))
        print(rows[-1], flush=True)  # noqa: T201 - a command's answer
    if not names:
        PAGE.write_text(HEAD.format(jax=metadata.version("jax")) + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
