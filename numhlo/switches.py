"""Every switch that changes how numhlo runs, or makes it say what it does: name, legal values, and one line of help.

The only file of the face that reads the environment. A variable is read once, when its switch is first asked for;
`debugging` and `using` set switches for a block. Rooms get what concerns them as arguments.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.late_modules import late
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.scoped_values import ScopedValue

difflib = late("difflib")

OFF_ON = ("0", "1")
ALL = "all"


@record(frozen=True, slots=True)
class Switch:
    """One switch.

    Attributes
    ----------
    variable : str
        The environment variable.
    values : tuple of str
        Legal values, the default first; empty where any text will do.
    help : str
    several : bool
        Any number of values at once, with commas between them, or ``all``; the default is none.
    """

    variable: str
    values: tuple[str, ...]
    help: str
    several: bool = False

    @property
    def legal(self) -> str:
        """Return the legal values as text."""
        if not self.values:
            return "a folder"
        return ", ".join([*self.values, *([ALL] if self.several else [])])

    def read(self, given: Any, argument: str = "") -> Any:
        """Return a value as the program asks for it: a bool, a set of names, or a string.

        Parameters
        ----------
        given : object
            The value, as text or as Python has it.
        argument : str, optional
            What it was given as, unless by the environment.

        Raises
        ------
        ArgumentError
            If it is not legal; the message lists the legal ones.

        Examples
        --------
        >>> sorted(SWITCHES["dump"].read("passes, kernels"))
        ['kernels', 'passes']
        >>> SWITCHES["time"].read("1")
        True
        """
        text: Any = str(int(given)) if isinstance(given, bool) else given
        if not self.values:
            return str(text)
        if self.several:
            names = text.split(",") if isinstance(text, str) else text
            self._require(isinstance(names, Iterable) and all(isinstance(n, str) for n in names), given, argument)
            found = frozenset(n.strip() for n in names if n.strip())
            self._require(found <= {*self.values, ALL}, given, argument)
            return frozenset(self.values) if ALL in found else found
        self._require(text in self.values, given, argument)
        return text == "1" if set(self.values) == set(OFF_ON) else text

    def _require(self, is_legal: bool, given: Any, argument: str) -> None:
        if not is_legal:
            what = f"{argument}={given!r}" if argument else f"{self.variable} is {given!r}"
            raise ArgumentError(what, where=capture_location(), why=self.help, fix=f"use one of {self.legal}")


SWITCHES: Mapping[str, Switch] = {
    "engine": Switch(
        "NUMHLO_ENGINE",
        ("compiled", "interpreter"),
        "what runs jitted functions: compiled kernels, or the reference interpreter, op by op, for debugging",
    ),
    "tier0": Switch(
        "NUMHLO_TIER0",
        ("1", "0"),
        "answer first calls on NumPy while kernels compile, or wait for machine code",
    ),
    "check": Switch(
        "NUMHLO_CHECK",
        ("nan", "inf", "bounds", "overflow"),
        "stop at the first op that makes one of these, op by op on NumPy",
        several=True,
    ),
    "guard_pages": Switch(
        "NUMHLO_GUARD_PAGES",
        ("no", "after", "before"),
        "end the process where machine code reads or writes beyond a buffer on this side, or writes what it must not",
    ),
    "dump": Switch(
        "NUMHLO_DUMP",
        ("trace", "stablehlo", "passes", "kernels"),
        "what to write of every compilation: ops beside the user's lines, StableHLO, each pass's result, kernel source",
        several=True,
    ),
    "dump_to": Switch(
        "NUMHLO_DUMP_TO",
        (),
        "where dumps go: numbered files, one folder for each compilation, instead of standard error",
    ),
    "explain_cache": Switch(
        "NUMHLO_EXPLAIN_CACHE",
        OFF_ON,
        "say why a function is traced: which argument changed, and from what to what",
    ),
    "time": Switch(
        "NUMHLO_TIME",
        OFF_ON,
        "say how many seconds tracing, passes, code generation and each run take",
    ),
    "verify": Switch(
        "NUMHLO_VERIFY",
        OFF_ON,
        "check the program after tracing and after each pass, prove its plan, and check kernels' IR",
    ),
}
"""Every switch by the name that `using` takes."""


_chosen: ScopedValue[dict[str, Any]] = ScopedValue({})

OF_ENTRIES = ("check", "engine")
"""Switches that decide what runs a call: calls in a block that sets them have entries of their own."""


_PREFIX = "NUMHLO_"


@cache
def _warn_of_unknown_variables() -> None:
    """Say once which variables look like switches and are none: misspelled ones would do nothing without a word."""
    variables = ["NUMHLO_CACHE_DIR", "NUMHLO_FRONT_END", *[switch.variable for switch in SWITCHES.values()]]
    known = {variable.removeprefix(_PREFIX): variable for variable in variables}
    for name in sorted(os.environ):
        if name.startswith(_PREFIX) and name not in known.values():
            near = difflib.get_close_matches(name.removeprefix(_PREFIX), known, 1)
            meant = f"did you mean {known[near[0]]}?" if near else f"there are {', '.join(known.values())}"
            warnings.warn(f"the environment variable {name} does nothing; {meant}", stacklevel=2)


@cache
def _from_environment(name: str) -> Any:
    _warn_of_unknown_variables()
    switch = SWITCHES[name]
    given = os.environ.get(switch.variable, "")
    if given or switch.several or not switch.values:
        return switch.read(given)
    return switch.read(switch.values[0])


@cache
def jax_enables_x64() -> bool:
    """Return whether the environment asks for dtypes of 64 bits under JAX's names, as JAX's own variable says.

    Raises
    ------
    ArgumentError
        If it says neither yes nor no.
    """
    given = os.environ.get("JAX_ENABLE_X64", "0").lower()
    yes, no = ("1", "true", "t", "yes", "y", "on"), ("", "0", "false", "f", "no", "n", "off")
    if given not in (*yes, *no):
        raise ArgumentError(f"JAX_ENABLE_X64 is {given!r}", where=capture_location(), fix="use 0 or 1")
    return given in yes


def chosen(name: str) -> Any:
    """Return what `using` set a switch to in this thread; None where that is nothing, or what the environment says."""
    found = _chosen.get().get(name)
    return None if found is None or found == _from_environment(name) else found


def value_of(name: str) -> Any:
    """Return a switch's value: as `using` set it in this thread, as the environment says, or the default.

    Returns
    -------
    str, bool or frozenset of str

    Raises
    ------
    ArgumentError
        If the environment has another value than the legal ones, which the message lists.
    """
    found = _chosen.get().get(name)
    return _from_environment(name) if found is None else found


@contextmanager
def using(**values: Any) -> Iterator[None]:
    """Set switches, by name, for a block, in this thread.

    Raises
    ------
    ArgumentError
        If there is no such switch, or no such value.

    Examples
    --------
    >>> with using(engine="interpreter"):
    ...     value_of("engine")
    'interpreter'
    """
    for name in values:
        if name not in SWITCHES:
            raise ArgumentError(
                f"no switch {name!r}", where=capture_location(), fix=f"use one of {', '.join(SWITCHES)}"
            )
    read = {name: SWITCHES[name].read(value, name) for name, value in values.items()}
    asked = any(name in read and read[name] != _from_environment(name) for name in OF_ENTRIES)  # which entry it is
    with _chosen.bound({**_chosen.get(), **read}, marks=asked):
        yield


@contextmanager
def debugging(
    *,
    dump: str | Iterable[str] | None = None,
    dump_to: str | os.PathLike[str] | None = None,
    explain_cache: bool | None = None,
    time: bool | None = None,
    verify: bool | None = None,
    engine: str | None = None,
    check: str | Iterable[str] | None = None,
    tier0: bool | None = None,
    guard_pages: str | None = None,
) -> Iterator[None]:
    """Look at what is compiled in a block: the environment's switches, for this thread.

    Parameters
    ----------
    dump : str or iterable of str, optional
        ``"trace"``, ``"stablehlo"``, ``"passes"``, ``"kernels"``, several of them, or ``"all"``.
    dump_to : path_like, optional
        A folder; without it dumps go to standard error.
    explain_cache, time, verify : bool, optional
    engine : str, optional
        ``"compiled"`` or ``"interpreter"``.
    check : str or iterable of str, optional
        As for `jit`.
    tier0 : bool, optional
        As for `jit`.
    guard_pages : str, optional
        ``"after"`` or ``"before"``: on which side of every buffer of what is compiled in the block a page lies that
        nobody may touch. Accesses beyond a buffer end the process then (`faulthandler` says where).

    Raises
    ------
    ArgumentError
        If a value is not legal.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> with numhlo.debugging(verify=True):
    ...     numhlo.jit(lambda x: x + 1)(np.arange(3))
    Array([1, 2, 3])
    """
    given = {
        "dump": dump,
        "dump_to": None if dump_to is None else os.fspath(dump_to),
        "explain_cache": explain_cache,
        "time": time,
        "verify": verify,
        "engine": engine,
        "check": check,
        "tier0": tier0,
        "guard_pages": guard_pages,
    }
    with using(**{name: value for name, value in given.items() if value is not None}):
        yield


DEVICE_COUNT = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


def jax_device_count() -> int:
    """Return how many devices the environment asks for under JAX's names, by JAX's variable or XLA's; 1 by default.

    Raises
    ------
    ArgumentError
        If it asks for none.
    """
    flag = DEVICE_COUNT.search(os.environ.get("XLA_FLAGS", ""))
    given = os.environ.get("JAX_NUM_CPU_DEVICES") or (flag[1] if flag else "1")
    if given == "-1":
        return 1
    if not given.isdecimal() or int(given) < 1:
        raise ArgumentError(f"JAX_NUM_CPU_DEVICES is {given!r}", where=capture_location(), fix="use a positive number")
    return int(given)
