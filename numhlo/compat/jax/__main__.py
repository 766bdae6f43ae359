"""``python -m numhlo.compat.jax program.py [args]``: run a program that was written for JAX.

Also ``python -m numhlo.compat.jax -m module [args]``. For this process our modules are in JAX's place.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from numhlo.compat.jax.substitution import install

USAGE = "usage: python -m numhlo.compat.jax [-m module | program.py] [arguments]"


def main(arguments: Sequence[str]) -> int:
    """Run a program, or a module, as Python itself would run it.

    Parameters
    ----------
    arguments : sequence of str
        Those behind ``python -m numhlo.compat.jax``.

    Returns
    -------
    int
        Python's exit status: 2 if there is nothing to run.
    """
    wants_help = list(arguments[:1]) in (["-h"], ["--help"])
    if wants_help or not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        print(USAGE, file=sys.stdout if wants_help else sys.stderr)
        return 0 if wants_help else 2
    install()
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])  # runpy puts the module's file in the first place
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
