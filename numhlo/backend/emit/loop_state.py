"""A loop's state in scalar code: local variables, arrays in memory that are updated in place, and what is too many.

What does not fit into registers is kept in two arrays on the stack: a round reads one and writes the other. Variables
that are treated alike are then neighbours in memory, and LLVM makes SIMD code of what is done to them; among so many
local variables it finds none, and spills. With one array instead of two it would see local variables again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.scalar_code import Content, InMemory, NotScalarError, ScalarWriter, Update, current
from numhlo.lowering.ir import TensorType

MOST_IN_REGISTERS = 32
"""Floats of a loop's state that LLVM handles well as local variables."""

LARGE_BYTES = 1032
"""Stack arrays of this size are not split into local variables."""


class LoopState:
    """The state of one loop that is being written.

    Parameters
    ----------
    writer : ScalarWriter
    contents : sequence of Content
        The state's values; variables are fresh ones, with their first values.
    types : sequence of TensorType or None
        None for what no round changes.
    """

    def __init__(self, writer: ScalarWriter, contents: Sequence[Content], types: Sequence[TensorType | None]) -> None:
        self.writer, self.contents = writer, contents
        floats: dict[Register, list[str]] = {}
        for content, type in zip(contents, types, strict=True):
            if type is None or isinstance(content, InMemory):
                continue
            register = REGISTERS[type.dtype]
            if register.kind == "f" and not register.narrow:
                floats.setdefault(register, []).extend(map(str, content.reshape(-1)))
        many = {register: names for register, names in floats.items() if len(names) > MOST_IN_REGISTERS}
        self.arrays = [StackArrays(writer, names, register) for register, names in many.items()]

    def is_stored(self, asked: Iterable[bool]) -> bool:
        """Return whether any of the values that are asked for is not in local variables."""
        names = {name for array in self.arrays for name in array.names}
        wanted = [content for content, flag in zip(self.contents, asked, strict=True) if flag]
        return any(not isinstance(c, InMemory) and not names.isdisjoint(map(str, c.reshape(-1))) for c in wanted)

    def read(self) -> Sequence[Content]:
        """Write the loads of what is not in local variables, at the start of a round or behind the loop."""
        loaded: dict[str, str] = {}
        for array in self.arrays:
            loaded |= array.read()
        if loaded:
            self.contents = [_renamed(content, loaded) for content in self.contents]
        return self.contents

    def assign(self, results: Sequence[Content]) -> None:
        """Write the assignments of a round's results."""
        pairs = assignments(self.contents, results)
        for array in self.arrays:
            array.write(pairs)
            pairs = {target: source for target, source in pairs.items() if target not in array.names}
        write_assignments(self.writer, pairs)


class StackArrays:
    """Two arrays on the stack for variables of one type, read and written in turn.

    Parameters
    ----------
    writer : ScalarWriter
    names : sequence of str
        The variables, whose values become those of the first array.
    register : Register
    """

    def __init__(self, writer: ScalarWriter, names: Sequence[str], register: Register) -> None:
        self.itemsize = size = register.dtype.itemsize
        self.writer, self.names, self.storage = writer, list(names), register.storage
        self.distance = -(-len(names) * size // 64) * 64 // size  # both begin with a cache line
        self.pointer = writer.text.stack_array("carried", max(2 * self.distance, LARGE_BYTES // size), size)
        self.here = writer.text.fresh("here")
        writer.text.line(f"{self.here} = 0")
        for place, name in enumerate(self.names):
            writer.text.line(f"store_{self.storage}({self.pointer}, 0 + {place}, {name})")

    def read(self) -> dict[str, str]:
        """Write the loads of all variables, and return their new names by those that they had before."""
        text, before = self.writer.text, self.names
        self.names = [text.fresh("state") for _ in before]
        for place, name in enumerate(self.names):
            text.line(f"{name} = load_{self.storage}({self.pointer}, {self.here} + {place})")
        return dict(zip(before, self.names, strict=True))

    def write(self, changed: Mapping[str, str]) -> None:
        """Write the stores of all variables, those that changed with their new values, into the other array."""
        there = self.writer.fresh(f"{self.distance} - {self.here}", "there")
        for _ in changed.keys() & self.names:
            self.writer.count()
        for place, name in enumerate(self.names):
            stored = changed.get(name, name)
            self.writer.text.line(f"store_{self.storage}({self.pointer}, {there} + {place}, {stored})")
        self.writer.text.line(f"{self.here} = {there}")


def _renamed(content: Content, names: Mapping[str, str]) -> Content:
    """Return a content with other names of variables."""
    if isinstance(content, InMemory):
        return content
    found = np.empty(content.shape, object)
    for index in np.ndindex(content.shape):
        found[index] = names.get(str(content[index]), content[index])
    return found


def variables(writer: ScalarWriter, content: Content) -> Content:
    """Return fresh variables with a content's values; arrays in memory stay where they are."""
    if isinstance(content, InMemory):
        content.check()
        if not content.memory.writable:
            raise NotScalarError("an array from outside becomes part of a loop's state")
        return content
    names = np.empty(content.shape, object)
    for index in np.ndindex(content.shape):
        names[index] = writer.fresh(str(content[index]), "state")
    return names


def begun(content: Content, update: Update) -> Content:
    """Return a content as a loop's state: from the second round on, its memory is no longer what it was outside."""
    if not isinstance(content, InMemory):
        return content
    content.memory.written(update)
    return current(content)


def assign(writer: ScalarWriter, state: Sequence[Content], results: Sequence[Content]) -> None:
    """Write the assignments of results to variables, those that need old values first."""
    write_assignments(writer, assignments(state, results))


def assignments(state: Sequence[Content], results: Sequence[Content]) -> dict[str, str]:
    """Return the new value of each variable that changes; arrays in memory must be where they were."""
    changed: dict[str, str] = {}
    for old, new in zip(state, results, strict=True):
        if isinstance(old, InMemory) or isinstance(new, InMemory):
            _check_same_memory(old, new)
            continue
        changed.update((str(a), str(b)) for a, b in zip(old.reshape(-1), new.reshape(-1), strict=True) if a != b)
    return changed


def write_assignments(writer: ScalarWriter, changed: Mapping[str, str]) -> None:
    """Write assignments, as if all were made at once."""
    needed = dict.fromkeys(source for source in changed.values() if source in changed)
    saved = {source: writer.fresh(source, "old") for source in needed}
    for target, source in changed.items():
        writer.count()
        writer.text.line(f"{target} = {saved.get(source, source)}")


def _check_same_memory(old: Content, new: Content) -> None:
    if not isinstance(old, InMemory) or not isinstance(new, InMemory):
        raise NotScalarError("a loop's state changes between memory and variables")
    new.check()
    if (old.memory, old.access, old.offset) != (new.memory, new.access, new.offset):
        raise NotScalarError("arrays of a loop's state change places")
