"""Records against the standard library's dataclasses, whose methods they have."""

import copy
import dataclasses
import inspect
import itertools
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from numhlo.lowering.ir import records
from numhlo.lowering.ir.records import record

OPTIONS = [
    dict(zip(("frozen", "slots", "eq", "repr"), values, strict=True))
    for values in itertools.product([False, True], repeat=4)
]


def twins(**options):
    """Return a dataclass and a record of the same fields."""
    made = []
    for decorator in (dataclass, record):

        @decorator(**options)
        class Step:
            """Numbers."""

            start: int
            sizes: list[int] = field(default_factory=list)
            note: str = field(default="", compare=False, repr=False)
            made: str = field(init=False, default="here")
            total: int = field(init=False, hash=False, default_factory=int)

            def __post_init__(self):
                object.__setattr__(self, "total", self.start + len(self.sizes))

        made.append(Step)
    return made


def outcome(call, *arguments):
    """Return what a call returns, or the type and text of what it raises."""
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return type(error), str(error).replace("twins.<locals>.", "")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_methods_do_what_those_of_a_dataclass_do(options):
    theirs, ours = twins(**options)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    found = []
    for cls in (theirs, ours):
        first, same, other = cls(1, (2,)), cls(1, (2,), note="else"), cls(2)
        shown = repr(first) if options["repr"] else None
        found.append(
            [
                shown,
                first == same,
                first == other,
                first == 3,
                outcome(lambda: hash(first) == hash(same)),
                cls.__hash__ is None,
                outcome(setattr, first, "start", 5),
                outcome(delattr, first, "start") if options["frozen"] else None,
                None if options["slots"] else outcome(setattr, first, "stranger", 5),
                outcome(cls),
                outcome(cls, 1, [], "", "too many"),
                [(item.name, item.type, item.init) for item in fields(other)],
                [getattr(replace(other, start=7), item.name) for item in fields(other)],
                [getattr(copy.copy(other), item.name) for item in fields(other)],
                cls.__match_args__,
                hasattr(other, "__dict__"),
            ]
        )
    assert found[1] == found[0]


def test_each_object_has_a_list_of_its_own():
    _, ours = twins()
    first, second = ours(1), ours(1)
    first.sizes.append(3)
    assert second.sizes == []


@record(frozen=True, slots=True)
class Place:
    """A place."""

    line: int
    column: int = 0


@record(frozen=True, slots=True)
class Named(Place):
    """A place that has a name."""

    name: str = "somewhere"

    def __hash__(self):
        return 5


def test_a_frozen_record_with_slots_is_pickled():
    made = [pickle.loads(pickle.dumps(Named(1, name="there"), protocol)) for protocol in range(2, 6)]
    assert made == [Named(1, 0, "there")] * 4
    with pytest.raises(FrozenInstanceError):
        made[0].line = 2


def test_a_record_of_a_record_has_its_own_methods():
    assert repr(Named(1)) == "Named(line=1, column=0, name='somewhere')"
    assert repr(Place(1)) == "Place(line=1, column=0)"
    assert Named(1, 0) != Place(1, 0)
    assert hash(Named(1)) == 5
    assert hash(Place(1)) == hash(Place(1, 0)) != 5


def test_a_method_is_written_once_by_whoever_looks_first():
    _, ours = twins(frozen=True)
    assert isinstance(vars(ours)["__init__"], records._Late)
    assert ours.__init__ is ours.__init__ is vars(ours)["__init__"]
    ours(1)
    assert isinstance(vars(ours)["__repr__"], records._Late)
    assert ours.__repr__.__qualname__ == f"{ours.__qualname__}.__repr__"


def test_a_class_keeps_the_methods_that_it_defines():
    @record(slots=True)
    class Odd:  # noqa: PLW1641 - as its hash is None
        """Says no."""

        number: int

        def __eq__(self, other):
            return False

        def __repr__(self):
            return "odd"

    assert Odd(1) != Odd(1)
    assert repr(Odd(1)) == "odd"
    assert Odd.__hash__ is None
    assert dataclasses.is_dataclass(Odd)


def test_a_record_that_contains_itself_is_shown():
    @record
    class Node:
        """Refers to another."""

        next: object = None

    node = Node()
    node.next = node
    assert repr(node).endswith("Node(next=...)")
