"""Descriptions that the functions of a family share: parameters, results, errors and notes, each written once.

A function's docstring keeps what is its own: the summary, the examples, and parameters that mean something else there.
The names of its parameters say which of the shared descriptions it takes. Docstrings are completed on import: `help`
shows them whole. Functions that differ in a formula alone are rows of a table, which `named` names and documents.
Where a function comes from is added later, by `numhlo.library.citations`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

PARAMETERS = "Parameters"
ORDER = ("", PARAMETERS, "Returns", "Yields", "Raises", "See Also", "Notes", "References", "Examples")
"""The sections of a docstring after its summary, in numpydoc's order."""

_BEFORE_SECTION = re.compile(r"(?:\n\n|\A)(?=[A-Z][\w ]+\n---)")
_BEFORE_ENTRY = re.compile(r"\n(?=\S)")


def described(*families: str) -> Callable[[F], F]:
    r"""Return a decorator that completes a function's docstring by what its family shares.

    It stands next to the ``def``: the function's parameters are those of its code.

    Parameters
    ----------
    *families : str
        Sections as a docstring has them. A parameter, and any other section, is described by the docstring itself or
        else by the first of these that has it; a function takes nothing about parameters that it lacks.

    Returns
    -------
    callable

    Examples
    --------
    >>> shared = "Parameters\n----------\nx, y : float\ndigits : int\n    How many are kept."
    >>> @described(shared)
    ... def double(x):
    ...     "Return twice a number."
    >>> double.__doc__.splitlines()
    ['Return twice a number.', '', 'Parameters', '----------', 'x : float']
    """
    shared = [_sections(text) for text in families]

    def complete(function: F) -> F:
        if function.__doc__:  # Python drops docstrings under -OO
            function.__doc__ = _completed(function.__doc__, _parameters(function), shared)
        return function

    return complete


def named(function: F, name: str, summary: str, example: str, *families: str) -> F:
    r"""Return a function that a row of a table made, with the row's name, and a docstring of summary and example.

    Parameters
    ----------
    function : callable
    name, summary : str
    example : str
        A prompt with what is typed, and below what is printed.
    *families : str
        What `described` completes the docstring by.

    Returns
    -------
    callable

    Examples
    --------
    >>> double = named(lambda x: 2 * x, "double", "Return twice a number.", ">>> double(3)\n6")
    >>> double.__name__, double.__doc__.splitlines()
    ('double', ['Return twice a number.', '', 'Examples', '--------', '>>> double(3)', '6'])
    """
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\nExamples\n--------\n{example}"
    return described(*families)(function)


def _completed(text: str, names: tuple[str, ...], shared: list[Mapping[str, str]]) -> str:
    own = _split(text)
    found = {title: body for family in reversed(shared) for title, body in family.items()} | own
    found.pop(PARAMETERS, None)
    if entries := _entries(names, [family[PARAMETERS] for family in (own, *shared) if PARAMETERS in family]):
        found[PARAMETERS] = "\n".join(entries)
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{found[title]}" if title else found[title] for title in ORDER if title in found
    )


def _entries(names: tuple[str, ...], described_by: list[str]) -> list[str]:
    """Return the descriptions of parameters by that name, in their order; each is taken where it is first."""
    missing, found = set(names), dict[int, str]()
    for section in described_by:
        for entry in _BEFORE_ENTRY.split(section):
            head, newline, about = entry.partition("\n")
            listed, colon, kind = head.partition(" : ")
            plain = [(name.lstrip("*"), name) for name in listed.split(", ")]
            taken = sorted((names.index(name), shown) for name, shown in plain if name in missing)
            if taken:
                found[taken[0][0]] = ", ".join(shown for _, shown in taken) + colon + kind + newline + about
            missing -= {name for name, _ in plain}
    return [found[place] for place in sorted(found)]


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names in the order of the signature, which building a `Signature` for would take ten times as long."""
    if signature := getattr(function, "__signature__", None):
        return tuple(signature.parameters)
    code: Any = function.__code__
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    starred = bool(code.co_flags & inspect.CO_VARARGS)
    last = named + starred + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return (*names[:count], *names[named : named + starred], *names[count:named], *names[named + starred : last])


@functools.cache
def _sections(text: str) -> Mapping[str, str]:
    return {title: body for title, body in _split(text).items() if title}


def _split(text: str) -> dict[str, str]:
    """Return a docstring's sections by title, and its summary by none."""
    summary, *sections = _BEFORE_SECTION.split(inspect.cleandoc(text))
    found = {"": summary}
    for section in sections:
        title, _, body = section.split("\n", 2)
        found[title] = body
    return found
