"""Sizes as a kernel's writer sees them: unknowns, which it may reckon with and ask about, and all of that is noted.

A text that was written for some sizes is right for others if these give the same answers to all questions: the writer
would have gone the same way. So a writer can't forget to say what its text depends on; it has no other way to find out.
-1, 0 and 1 stay plain numbers, as do equal sizes one unknown: who keeps texts has these among what tells them apart.
Next: `draft` keeps them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from numhlo.lowering.ir.errors import InternalError

PLAIN = (-1, 0, 1)
"""Numbers that are part of a structure: strides of repeated and of adjacent elements, extents that need no loop."""

NO_ARRAY = -1
"""The number of what is computed instead of loaded: iotas."""

Reckoning = Callable[[Any, Any], Any]


class Sizes(dict[Any, int]):
    """What stands for numbers: places, or unknowns.

    Where accesses to an array begin are the array's own numbers: they may happen to be an extent, or where accesses to
    another array begin, and would have a text for every such accident.

    Parameters
    ----------
    items : iterable
        Of numbers, or of arrays' numbers with numbers; and what stands for them.
    arrays : mapping to int, optional
        Numbers of arrays: those that share memory have the same.
    """

    def __init__(self, items: Iterable[tuple[Any, int]], arrays: Mapping[Any, int] | None = None) -> None:
        super().__init__(items)
        self.arrays = arrays or {}

    def offset(self, array: Any, number: int) -> int:
        """Return what stands for where an access to an array begins."""
        return self[number] if number in PLAIN else self[self.arrays.get(array, NO_ARRAY), number]


class Slots(Sizes):
    """Places of numbers in the order in which they are first met; plain ones, consecutive from -1, are their own.

    Parameters
    ----------
    plain : sequence of int
    arrays : mapping to int, optional
        As for `Sizes`.

    Attributes
    ----------
    numbers : list of int
        Those that have a place.
    questions : Questions or None
        Whose unknowns are among the numbers.

    Examples
    --------
    >>> slots = Slots()
    >>> [slots[n] for n in (30, 1, 7, 30)], slots.numbers
    ([2, 1, 3, 2], [30, 7])
    """

    def __init__(self, plain: Sequence[int] = PLAIN, arrays: Mapping[Any, int] | None = None) -> None:
        super().__init__(zip(plain, plain, strict=True), arrays)
        self.numbers: list[int] = []
        self.questions: Questions | None = None

    def __missing__(self, key: Any) -> int:
        number = key[1] if key.__class__ is tuple else key
        if isinstance(number, Size):
            self.questions = number.questions
        if self.questions is not None and number is key:
            for known, place in self.items():  # unknowns are told apart from numbers by asking, not by their hashes
                if isinstance(known, Size) is not isinstance(number, Size) and known == number:
                    return place
        place = self[key] = len(self) - 1
        self.numbers.append(number)
        return place

    @property
    def names(self) -> list[Any]:
        """Return what has a place: numbers, and arrays' numbers with numbers."""
        return list(self)[len(self) - len(self.numbers) :]


class Answers(NamedTuple):
    """What was reckoned and asked, to be done again for other sizes.

    Attributes
    ----------
    steps : sequence of (Reckoning, int, int, bool or None)
        A function, the places of its two operands, and the answer; None where the result is a number with a place.
    results : int
        How many results there are; their places come after those of the sizes.
    constants : sequence of int
        Numbers that are no sizes, at negative places.
    """

    steps: Sequence[tuple[Reckoning, int, int, bool | None]]
    results: int
    constants: Sequence[int]

    def values(self, sizes: Sequence[int]) -> list[Any] | None:
        """Return the number at every place for other sizes; None if these give another answer to some question."""
        values = [*sizes, *[0] * self.results, *self.constants]
        place = len(sizes)
        for reckon, first, second, answer in self.steps:
            found = reckon(values[first], values[second])
            if answer is None:
                values[place] = found
                place += 1
            elif found is not answer:
                return None
        return values

    def unknown_values(self, sizes: Sequence[int], questions: Questions) -> list[Any] | None:
        """Return the same for sizes that are unknown themselves: what is reckoned and asked is noted there."""
        values = [*sizes, *[0] * self.results, *self.constants]
        place = len(sizes)
        for reckon, first, second, answer in self.steps:
            if answer is None:
                values[place] = questions.reckon(reckon, values[first], values[second])
                place += 1
            elif questions.ask(reckon, values[first], values[second]) is not answer:
                return None
        return values


class Questions:
    """Notes what a writer reckons and asks.

    Parameters
    ----------
    sizes : sequence of int
        None of them plain, all different but for arrays' own; unknowns of other questions are given for their numbers.
    plain : sequence of int
        Numbers that stay what they are.
    slots : Slots, optional
        Which of the sizes are arrays' own.

    Attributes
    ----------
    unknowns : Sizes
        What stands for each size and, for ease, each plain number as itself.
    """

    def __init__(self, sizes: Sequence[int], plain: Sequence[int] = PLAIN, slots: Slots | None = None) -> None:
        self.given = len(sizes)
        self.plain = plain
        self._count = self.given
        self._steps: list[tuple[Reckoning, int, int, bool | None]] = []
        self._constants: dict[int, int] = {}
        self._known: dict[tuple[Reckoning, int, int], Size | bool] = {}
        self.is_open = True
        unknowns = [cast("int", Size(self, place, _value(size))) for place, size in enumerate(sizes)]  # to a writer
        names, arrays = (sizes, None) if slots is None else (slots.names, slots.arrays)
        self.unknowns = Sizes(zip((*plain, *names), (*plain, *unknowns), strict=True), arrays)

    def place(self, number: int | Size) -> int:
        """Return the place of a number."""
        if not self.is_open:
            raise InternalError("a size is used after its kernel was finished")
        if isinstance(number, Size):
            if number.questions is not self:
                raise InternalError("a kernel was given another kernel's size")
            return number.place
        return self._constants.setdefault(operator.index(number), -1 - len(self._constants))

    def reckon(self, reckoning: Reckoning, first: Any, second: Any) -> Any:
        """Return the result of a calculation, as a number with a place."""
        key = reckoning, self.place(first), self.place(second)
        found = self._known.get(key)
        if found is None:
            self._steps.append((*key, None))
            found = self._known[key] = Size(self, self._count, reckoning(_value(first), _value(second)))
            self._count += 1
        return found

    def ask(self, question: Reckoning, first: Any, second: Any) -> bool:
        """Return whether a comparison holds."""
        key = question, self.place(first), self.place(second)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = bool(question(_value(first), _value(second)))
            self._steps.append((*key, found))
        return found is True

    def close(self) -> Answers:
        """Return all that was noted; the sizes can't be used any more."""
        found = Answers(self._steps, self._count - self.given, list(self._constants)[::-1])
        self.is_open = False
        self._steps, self._constants, self._known = [], {}, {}  # caches may hold sizes, and they hold this
        return found


def _value(number: Any) -> Any:
    return number.value if isinstance(number, Size) else number


class Size:
    """One unknown: a size, or what was reckoned from sizes.

    Whatever needs to know the number itself (text, a range, an index) fixes it: that is a question, too.
    """

    __slots__ = ("place", "questions", "value")

    def __init__(self, questions: Questions, place: int, value: Any) -> None:
        self.questions, self.place, self.value = questions, place, value

    def __add__(self, other: Any) -> Any:
        if other.__class__ is int and not other:
            return self
        return self.questions.reckon(operator.add, self, other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is int and 0 <= other <= 1:
            return self if other else 0
        return self.questions.reckon(operator.mul, self, other)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self.questions.reckon(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.questions.reckon(operator.sub, other, self)

    def __neg__(self) -> Any:
        return self.questions.reckon(operator.sub, 0, self)

    def __abs__(self) -> Any:
        return self.questions.reckon(_distance, self, 0)

    def __mod__(self, other: Any) -> Any:
        return self.questions.reckon(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return self.questions.reckon(operator.mod, other, self)

    def __truediv__(self, other: Any) -> Any:
        return operator.index(self) / other

    def __floordiv__(self, other: Any) -> Any:
        return self.questions.reckon(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.questions.reckon(operator.floordiv, other, self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (Size, int)):
            return NotImplemented
        if not self.questions.is_open or (isinstance(other, Size) and other.questions is not self.questions):
            return False  # in a key that outlived its questions
        if self.place < self.questions.given:  # sizes count as different from each other, and are from plain numbers
            if isinstance(other, Size):
                if other.place < self.questions.given:
                    return False
            elif other in self.questions.plain:
                return False
        return self.questions.ask(operator.eq, self, other)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other: Any) -> bool:
        return self.questions.ask(operator.lt, self, other)

    def __le__(self, other: Any) -> bool:
        return self.questions.ask(operator.le, self, other)

    def __gt__(self, other: Any) -> bool:
        return self.questions.ask(operator.gt, self, other)

    def __ge__(self, other: Any) -> bool:
        return self.questions.ask(operator.ge, self, other)

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return 0  # any other would tell sizes apart without a question

    def __index__(self) -> int:
        self.questions.ask(operator.eq, self, self.value)
        return cast("int", self.value)

    def __repr__(self) -> str:
        return str(operator.index(self))

    def __format__(self, spec: str) -> str:
        return format(operator.index(self), spec)


class UnknownScalar:
    """A constant of one element that a kernel gets as a number. Who looks at the element fixes it.

    Attributes
    ----------
    number : int
        The unknown.
    dtype : np.dtype
    shape : tuple of int
    size : int
    """

    size = 1

    def __init__(self, array: np.ndarray, number: int) -> None:
        self.number, self.dtype, self.shape = number, array.dtype, array.shape
        self._array = array

    def fixed(self) -> np.ndarray:
        """Return the array."""
        self.number.__index__()
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.fixed(), dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy's other protocols, which don't know all element types
            raise AttributeError(name)
        return getattr(self.fixed(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.fixed()[index]

    def __int__(self) -> int:
        return int(self.fixed())

    def __eq__(self, other: object) -> Any:
        return self.fixed() == other

    __hash__ = None  # type: ignore[assignment]


def settled(number: Any) -> Any:
    """Return a number that was reckoned from sizes, as itself if it is a plain one.

    Examples
    --------
    >>> settled(40)
    40
    """
    plain = PLAIN if isinstance(number, Size) else ()
    return next((known for known in plain if number == known), number)


def _distance(first: int, second: int) -> int:
    return abs(first - second)


def reckoned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function of two numbers that unknowns go through whole: what it looks at inside, no text depends on.

    Examples
    --------
    >>> reckoned(max)(3, 4)
    4
    """

    def call(first: Any, second: Any) -> Any:
        for number in (first, second):
            if isinstance(number, Size):
                return number.questions.reckon(function, first, second)
        return function(first, second)

    return call
