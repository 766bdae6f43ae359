"""Passes that users add: run after numhlo's own, which run once more over what these have made.

A pass gets a function that belongs to the compilation, in ops of the definitions in `numhlo.lowering.ops` and of users'
dialects, with calls inlined. It changes the function's body, or returns another function that takes and gives the same
types. What it makes is verified, dumped and timed as what numhlo's own passes make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numhlo.lowering.ir import Function, Location, capture_location
from numhlo.lowering.ir.errors import ArgumentError, VerificationError

OWN = ("legalize", "rewrite", "remove_dead_ops")
"""The names of numhlo's own passes, in their order."""

PassFunction = Callable[[Function], Function | None]


class UserPass(NamedTuple):
    """A pass that a user added.

    Attributes
    ----------
    name : str
    run : callable
        ``run(function)`` changes the function's body, or returns another function.
    where : Location
        The user's line that added it.
    """

    name: str
    run: PassFunction
    where: Location

    def __call__(self, function: Function) -> Function:
        """Return what the pass makes of a function."""
        try:
            found = self.run(function) or function
        except Exception as error:
            error.add_note(f"in the pass {self.name!r}, added at {self.where.point()}")
            raise
        for what in ("argument_types", "result_types"):
            given, wanted = [", ".join(map(str, getattr(f, what))) for f in (found, function)]
            if given != wanted:
                shown = what.replace("_", " ")
                raise VerificationError(
                    f"the pass {self.name!r} changed a function's {shown} from ({wanted}) to ({given})",
                    where=self.where,
                    why="others call the function",
                )
        return found


USER_PASSES: list[UserPass] = []
"""In the order in which they were added, which is that in which they run."""


def add_pass(name: str, run: PassFunction) -> None:
    """Add a pass behind those that are there, for programs that are compiled from then on.

    Parameters
    ----------
    name : str
        By which dumps and errors name it.
    run : callable
        ``run(function)`` changes the body of a `numhlo.lowering.ir.Function`, or returns another function that takes
        and gives the same types.

    Raises
    ------
    ArgumentError
        If the name is taken, or is no text.

    Examples
    --------
    >>> add_pass("doctest.count", lambda function: print(len(function.body.ops), "ops"))
    >>> USER_PASSES[-1].name
    'doctest.count'
    >>> remove_pass("doctest.count")
    """
    given: Any = name
    taken = {one.name: one.where.point() for one in USER_PASSES}
    if not isinstance(given, str) or not name or name in OWN or name in taken:
        raise ArgumentError(
            f"add_pass: the name {name!r}",
            where=capture_location(),
            why=f"it is taken at {taken[name]}" if name in taken else f"numhlo's own are {', '.join(OWN)}",
            fix="give a name of your own, such as 'my_library.fuse'",
        )
    USER_PASSES.append(UserPass(name, run, capture_location()))


def remove_pass(name: str) -> None:
    """Take out a pass that was added; what it made stays.

    Parameters
    ----------
    name : str

    Raises
    ------
    ArgumentError
        If there is none of the name.

    Examples
    --------
    >>> add_pass("doctest.nothing", lambda function: None)
    >>> remove_pass("doctest.nothing")
    """
    found = [one for one in USER_PASSES if one.name == name]
    if not found:
        raise ArgumentError(
            f"remove_pass: there is no pass {name!r}",
            where=capture_location(),
            why=f"those that were added: {', '.join(one.name for one in USER_PASSES) or 'none'}",
        )
    USER_PASSES.remove(found[0])
