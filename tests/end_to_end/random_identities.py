"""Random plain programs in which names are bound, exchanged and chosen, and arrays are written through any of them.

A program is source text of a function of a number of iterations and two arrays. All its arrays have four elements, or
three where they are parts of those. What it computes stays small, so that values of the wrong array are seen.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

HELPERS = """
import numpy as np


def same(x):
    return x


def turned(x):
    return x[::-1]


def made(x):
    return 0.5 * np.sort(x) + 0.1


def touched(x):
    x[1] = 0.5 * x[0] + 0.3
    return x


def picked(x, y):
    if x[0] > 0.4:
        return x
    return y


def replaced(x):
    x[2] = 0.25 * x[1]
    x = x * 0.5
    x[0] = 0.4
    return x

"""

WHOLE, PARTS = ("a", "b", "c", "x", "y"), ("v", "w")


class Writer:
    """Writes one program.

    Parameters
    ----------
    seed : int
    traced : bool
        Branches and loops may hang on what arrays hold.
    """

    def __init__(self, seed: int, *, traced: bool) -> None:
        self.rng, self.traced = random.Random(seed), traced
        self.lines: list[str] = []
        self.loops: list[str] = []
        self.count = 0

    def line(self, depth: int, text: str) -> None:
        """Append a line."""
        self.lines.append("    " * depth + text)

    def pick(self, *choices: str) -> str:
        """Return one of several."""
        return self.rng.choice(choices)

    def whole(self) -> str:
        """Return a name of a whole array."""
        return self.pick(*WHOLE)

    def part(self) -> str:
        """Return a name of a part."""
        return self.pick(*PARTS)

    def any(self) -> str:
        """Return a name of an array."""
        return self.part() if self.rng.random() < 0.3 else self.whole()

    def number(self) -> str:
        """Return an index, sometimes the loop's."""
        if self.loops and self.rng.random() < 0.3:
            return f"{self.pick(*self.loops)} % 3"
        return str(self.rng.randrange(3))

    def condition(self) -> str:
        """Return a condition."""
        if self.loops and (not self.traced or self.rng.random() < 0.3):
            return f"{self.pick(*self.loops)} % {self.rng.choice((2, 3, 7))} == {self.rng.randrange(2)}"
        return f"{self.any()}[{self.number()}] > 0.{self.rng.randrange(2, 6)}" if self.traced else "total is None"

    def whole_value(self) -> str:
        """Return what a whole array's name is bound to."""
        options = ["{0}", "{0}", "{0}[::-1]", "made({0})", "{0}.copy()", "same({0})", "turned({0})", "replaced({0})"]
        options += ["({0} if {2} else {1})", "picked({0}, {1})"] if self.traced else []
        return self.rng.choice(options).format(self.whole(), self.whole(), self.condition())

    def part_value(self) -> str:
        """Return what a part's name is bound to."""
        options = ["{0}[1:]", "{0}[:3]", "{0}[::-1][1:]", "{1}", "{1}[::-1]", "made({1})", "same({0})[1:]"]
        return self.rng.choice(options).format(self.whole(), self.part())

    def bind(self, depth: int) -> None:
        """Bind a name."""
        if self.rng.random() < 0.3:
            self.line(depth, f"{self.part()} = {self.part_value()}")
        else:
            self.line(depth, f"{self.pick('x', 'y', 'x', 'y', *WHOLE)} = {self.whole_value()}")

    def exchange(self, depth: int) -> None:
        """Exchange names."""
        names = list(PARTS) if self.rng.random() < 0.2 else self.rng.sample(WHOLE, self.rng.choice((2, 2, 2, 3)))
        self.line(depth, f"{', '.join(names)} = {', '.join([*names[1:], names[0]])}")

    def write(self, depth: int) -> None:
        """Write into an array."""
        value = f"0.5 * {self.any()}[{self.number()}] + 0.{self.rng.randrange(4)}"
        kind = self.rng.randrange(6)
        if kind < 3:
            self.line(depth, f"{self.any()}[{self.number()}] = {value}")
        elif kind == 3:
            self.line(depth, f"{self.whole()}[1:] = 0.5 * {self.part()} + 0.1")
        elif kind == 4:
            self.line(depth, f"{self.whole()} *= 0.75")
        else:
            self.line(depth, f"touched({self.any()})")

    def read(self, depth: int) -> None:
        """Read an array's element."""
        self.line(depth, f"total = 0.5 * total + {self.any()}[{self.number()}]")

    def branch(self, depth: int) -> None:
        """Write an if."""
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, self.rng.randrange(1, 3))
        if self.rng.random() < 0.4:
            self.line(depth, "else:")
            self.block(depth + 1, self.rng.randrange(1, 3))

    def loop(self, depth: int) -> None:
        """Write a loop."""
        self.count += 1
        index = f"i{self.count}"
        bound = "n" if not self.loops else self.pick("2", "9", "n")
        is_while = self.rng.random() < 0.25
        if is_while:
            self.line(depth, f"{index} = 0")
            also = f" and {self.any()}[{self.number()}] < 0.9" if self.traced and self.rng.random() < 0.5 else ""
            self.line(depth, f"while {index} < {bound}{also}:")
        else:
            self.line(depth, f"for {index} in range({bound}):")
        self.loops.append(index)
        self.block(depth + 1, self.rng.randrange(2, 5))
        if not is_while and self.traced and self.rng.random() < 0.15:
            self.line(depth + 1, f"if {self.condition()}:")
            self.line(depth + 2, "break")
        if is_while:
            self.line(depth + 1, f"{index} += 1")
        self.loops.pop()

    def block(self, depth: int, count: int) -> None:
        """Write some statements."""
        for _ in range(count):
            kinds = [self.bind] * 3 + [self.exchange] * 2 + [self.write] * 4 + [self.read]
            kinds += [self.branch] * (1 + self.traced) if depth < 4 else []
            kinds += [self.loop] if depth < 2 or (depth < 3 and len(self.loops) < 2) else []
            self.rng.choice(kinds)(depth)

    def program(self) -> str:
        """Return the source text."""
        self.line(0, "def program(n, a, b):")
        self.line(1, "total = 0.0")
        self.line(1, f"c = {self.pick('a.copy()', 'made(b)', 'b', 'np.zeros(4)')}")
        self.line(1, f"x, y = {self.pick('a, b', 'b, c', 'c, a', 'made(a), made(b)', 'a[::-1], b')}")
        self.line(1, f"v, w = {self.pick('a[1:]', 'b[:3]', 'x[1:]')}, {self.pick('y[1:]', 'np.ones(3)', 'c[1:]')}")
        self.block(1, self.rng.randrange(0, 3))
        self.loop(1)
        self.block(1, self.rng.randrange(1, 4))
        self.line(1, f"return {', '.join(self.rng.sample((*WHOLE, *PARTS), self.rng.randrange(1, 5)))}, total")
        return "\n".join(self.lines) + "\n"


def source(seed: int, *, traced: bool) -> str:
    """Return a program's text."""
    return HELPERS + Writer(seed, traced=traced).program()


def function_of(text: str, name: str) -> Callable[..., Any]:
    """Return the function of a program's text."""
    path = f"<{name}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    found: dict[str, Any] = {"__name__": "random_identities"}
    exec(compile(text, path, "exec"), found)  # noqa: S102 - the program that is tested
    function: Callable[..., Any] = found["program"]
    return function
