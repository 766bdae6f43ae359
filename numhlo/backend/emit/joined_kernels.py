"""Several kernels as statements of one: a round of a loop that launched them one after the other does without launches.

Each kernel's names are given anew, and its pointers and run-time numbers become the joined kernel's. Buffers that
several of them have are one pointer, so that LLVM sees what one stores and the next one loads. Knows kernels as they
are written; `numhlo.backend.planning.joined_loops` says which kernels are joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import lru_cache

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.loop_rounds import POLL_ROUNDS
from numhlo.backend.kernels.draft import Block, KernelDraft
from numhlo.backend.primitives.layout import ROUNDS_LEFT
from numhlo.backend.program import Kernel, Launch
from numhlo.lowering.ir.records import record

NAME = re.compile(r"(?<!\.)\b[A-Za-z_]\w*\b(?!\()")
DEFINED = re.compile(r"(?:for )?(\w+(?:, \w+)*) (?:[-+*]?=|in) ")
LOADED = re.compile(r"\bload_\w+\(\w+")
SEARCH = re.compile(r"\bfirst_(?=(?:maximum|minimum)_[fi](?:32|64)\()")
UNITS = frozenset({"lo", "hi"})
"""What tells a kernel which units to do."""
GIVEN = re.compile(r"\b(?:ctx|bufs|dims)\b")
STOPPING = ("fail(ctx, ", "interrupted(ctx)")
"""What a kernel may do with its context: whoever calls it stops, and so does the joined one."""


class NotJoinedError(Exception):
    """A kernel whose text can't be a part of another one's; the text says why."""


@record(slots=True)
class Part:
    """A kernel as it was written, and what its statements do.

    Attributes
    ----------
    draft : KernelDraft
    names : set of str
        Variables of the body.
    written : set of str
        Pointers that the body does not only load from.
    lines : int
    loops : int
    counts_units : bool
        Whether its statements ask which units to do.
    """

    draft: KernelDraft
    names: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    lines: int = 0
    loops: int = 0
    counts_units: bool = False

    @property
    def polls(self) -> bool:
        """Return whether it counts iterations between looks for an interrupt: all parts count together."""
        return ROUNDS_LEFT in self.draft.counters


@lru_cache(maxsize=256)
def part_of(kernel: Kernel) -> Part:
    """Return a kernel as a part.

    Raises
    ------
    NotJoinedError
        If it does something with its context, returns before its end, or was not written by us.
    """
    if kernel.draft is None:
        raise NotJoinedError("a kernel's text was given")
    part = Part(kernel.draft)
    _see(part, kernel.draft.body)
    return part


def _see(part: Part, block: Block) -> None:
    """Take note of what the statements of a block do."""
    before: str | Block = ""
    for item in block.items:
        _see_line(part, item if isinstance(item, str) else item.header, before)
        if isinstance(item, Block):
            _see(part, item)
            part.lines += not item.items  # where there are none, "pass" is one
        before = item


def _see_line(part: Part, text: str, before: str | Block) -> None:
    rest = text
    for word in STOPPING:
        rest = rest.replace(word, "")
    if GIVEN.search(rest):
        raise NotJoinedError("a kernel needs its context")
    if text == "return" and not (isinstance(before, str) and before.startswith(STOPPING[0])):
        raise NotJoinedError("a kernel returns before its end")
    used = NAME.findall(LOADED.sub("", text))
    part.written.update(part.draft.pointers.keys() & used)
    part.counts_units |= not UNITS.isdisjoint(used)
    part.loops += text.startswith(("for ", "while "))
    if defined := DEFINED.match(text):
        part.names.update(defined[1].split(", "))
    part.lines += 1


def early_elements(launches: Iterable[Launch]) -> list[Launch]:
    """Return launches in an order that gives the same, those that store single elements as early as may be.

    Who loads vectors that a single element was stored into has to wait until the store is in the cache; a round later
    it is, if something else has been done meanwhile.
    """
    found: list[Launch] = []
    for launch in launches:
        place = len(found)
        if not part_of(launch.kernel).loops:
            while place and not _depend(found[place - 1], launch):
                place -= 1
        found.insert(place, launch)
    return found


def _depend(one: Launch, other: Launch) -> bool:
    """Return whether a launch writes what the other one has to do with."""
    return not (_written(one).isdisjoint(other.buffers) and _written(other).isdisjoint(one.buffers))


def _written(launch: Launch) -> set[int]:
    part = part_of(launch.kernel)
    return {launch.buffers[part.draft.pointers[name]] for name in part.written}


class OwnNames:
    """What the parts of a text have for themselves: fresh names, and memory on the stack, which they share in turn.

    Parameters
    ----------
    text : KernelText
    """

    def __init__(self, text: KernelText) -> None:
        self._text = text
        self._arrays: dict[tuple[int, int, int], str] = {}

    def of(self, part: Part) -> dict[str, str]:
        """Return the names that take the place of a part's own."""
        names = {name: self._array(name, (*size, n)) for n, (name, size) in enumerate(part.draft.arrays.items())}
        return names | {name: self._text.fresh(name.rstrip("0123456789")) for name in sorted(part.names)}

    def _array(self, name: str, key: tuple[int, int, int]) -> str:
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = self._text.stack_array(name.rstrip("0123456789"), *key[:2])
        return found

    @property
    def stack_bytes(self) -> int:
        """Return how much memory they have on the stack."""
        return sum(count * size for count, size, _ in self._arrays)


class JoinedWriter:
    """Writes kernels as parts of one text.

    Parameters
    ----------
    text : KernelText
    pointer : callable
        ``pointer(number)`` gives the name of the pointer to a buffer of the program.

    Attributes
    ----------
    lines : int
        How many have been written.
    own : OwnNames
    """

    def __init__(self, text: KernelText, pointer: Callable[[int], str]) -> None:
        self.text, self.pointer = text, pointer
        self.lines = 0
        self.own = OwnNames(text)
        self._keys: dict[Launch, int] = {}

    def launch(self, launch: Launch) -> None:
        """Write what a launch does at the current place.

        Raises
        ------
        NotJoinedError
            If its kernel can't be a part.
        """
        part = part_of(launch.kernel)
        text, key = self.text, self._keys.setdefault(launch, len(self._keys))
        self.lines += part.lines
        names = {name: self.pointer(launch.buffers[k]) for name, k in part.draft.pointers.items()}
        for name, k in part.draft.numbers.items():
            names[name] = text.number((key, k), launch.dims[k], name.rstrip("0123456789"))
        names |= self.own.of(part)
        if part.polls:
            text.counter(ROUNDS_LEFT, POLL_ROUNDS)
            names.pop(ROUNDS_LEFT, None)
        names["lo"] = "0"
        names["hi"] = "1"
        if launch.extent != 1 and part.counts_units:
            names["hi"] = text.number((key, "units"), launch.extent, "n")
        copy_part(part.draft.body, text.open[-1], names)


def copy_part(source: Block, target: Block, names: dict[str, str]) -> None:
    """Append a block's statements to another block, with other names, and quick searches: the next round waits."""

    def renamed(line: str) -> str:
        return SEARCH.sub("quick_first_", NAME.sub(lambda match: names.get(match[0], match[0]), line))

    for item in source.items:
        if isinstance(item, str):
            target.items.append(renamed(item))
        else:
            block = Block(renamed(item.header))
            target.items.append(block)
            copy_part(item, block, names)
