"""Where public names come from: a last section of their docstrings, written by the modules that gather them.

What a docstring leaves open is as the cited function has it. Docstrings with references of their own stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

TITLE = "References"


def cite(module: Mapping[str, Any], source: str, names: Iterable[str]) -> None:
    """Say in the docstrings of a module's names that these are another library's.

    Parameters
    ----------
    module : mapping
        The values of the names.
    source : str
        Where a name, put in the place of ``{}``, comes from.
    names : iterable of str

    Examples
    --------
    >>> def cosh(x):
    ...     "Return the hyperbolic cosine."
    >>> cite({"cosh": cosh}, "numpy.{}", ["cosh"])
    >>> cosh.__doc__.splitlines()[-1]
    'numpy.cosh'
    """
    for name in names:
        value = module[name]
        text = getattr(value, "__doc__", None)
        if not callable(value) or not text or f"{TITLE}\n" in text or not _is_ours(value):
            continue
        margin = _margin(text)
        lines = [TITLE, "-" * len(TITLE), source.format(name)]
        value.__doc__ = text.rstrip() + "\n\n" + "\n".join(margin + line for line in lines)


def _margin(text: str) -> str:
    """Return how far a docstring's lines are indented: as its closing quotes, where these have a line of their own."""
    _, newline, last = text.rpartition("\n")
    if newline and not last.strip():
        return last
    inner = [line for line in text.splitlines()[1:] if line.strip()]
    return " " * min((len(line) - len(line.lstrip()) for line in inner), default=0)


def _is_ours(value: Any) -> bool:
    """Return whether a function, class or object is made here: a dtype of NumPy's keeps its text."""
    home = value if isinstance(value, type) or hasattr(value, "__module__") else type(value)
    return str(getattr(home, "__module__", "")).partition(".")[0] == "numhlo"
