"""`record`: a dataclass whose methods are written when they are first used.

`dataclasses.dataclass` compiles up to six methods for each class while its module loads, a quarter of a millisecond; a
program needs those of a few classes. Type checkers, `dataclasses.fields` and `dataclasses.replace` see a dataclass, and
its methods do what the standard library's would do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from reprlib import recursive_repr
from sys import modules
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

Source = tuple[str, list[str], dict[str, Any]]
"""A method's parameters, the lines of its body, and what these name."""


class _Absent:
    """In the place of an argument that is made anew for each object, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


class _Late:
    """A method that is written when it is first looked up, and then stands in its class itself."""

    __slots__ = ("cls", "name", "write")

    def __init__(self, cls: type, name: str, write: Callable[[type], Source]) -> None:
        self.cls, self.name, self.write = cls, name, write

    def __get__(self, instance: object, owner: type) -> Any:
        parameters, lines, names = self.write(self.cls)
        body = "".join(f"  {line}\n" for line in lines)
        text = f"def write({', '.join(names)}):\n def {self.name}({parameters}):\n{body} return {self.name}"
        scope: dict[str, Any] = {}
        exec(text, vars(modules[self.cls.__module__]), scope)  # noqa: S102 - of the names of fields
        method = scope["write"](**names)
        method.__qualname__ = f"{self.cls.__qualname__}.{self.name}"
        if self.name == "__init__":
            method.__annotations__ = {f.name: f.type for f in fields(self.cls) if f.init} | {"return": None}
        elif self.name == "__repr__":
            method = recursive_repr()(method)
        setattr(self.cls, self.name, method)
        return method.__get__(instance, owner)


def _init(cls: type) -> Source:
    return _constructor(cls, "self.{0} = {1}")


def _frozen_init(cls: type) -> Source:
    return _constructor(cls, "_assign(self, {0!r}, {1})")


def _constructor(cls: type, assignment: str) -> Source:
    parameters, lines = ["self"], []
    names: dict[str, Any] = {"_absent": _ABSENT, "_assign": object.__setattr__}
    for item in fields(cls):
        name = value = item.name
        default = _ABSENT if item.default_factory is not MISSING else item.default
        names |= {f"_default_{name}": default, f"_make_{name}": item.default_factory}
        if item.init:
            parameters.append(name if default is MISSING else f"{name}=_default_{name}")
        elif default is MISSING:
            continue
        if default is _ABSENT:
            value = f"_make_{name}() if {name} is _absent else {name}" if item.init else f"_make_{name}()"
        elif not item.init:
            value = f"_default_{name}"
        lines.append(assignment.format(name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return ", ".join(parameters), lines or ["pass"], names


def _repr(cls: type) -> Source:
    shown = ", ".join(f"{item.name}={{self.{item.name}!r}}" for item in fields(cls) if item.repr)
    return "self", [f"return self.__class__.__qualname__ + f'({shown})'"], {}


def _eq(cls: type) -> Source:
    compared: list[Field[Any]] = [item for item in fields(cls) if item.compare]
    own, others = _values("self", compared), _values("other", compared)
    lines = ["if other.__class__ is self.__class__:", f" return {own} == {others}", "return NotImplemented"]
    return "self, other", lines, {}


def _hash(cls: type) -> Source:
    hashed = [item for item in fields(cls) if (item.compare if item.hash is None else item.hash)]
    return "self", [f"return hash({_values('self', hashed)})"], {}


def _values(owner: str, items: Sequence[Field[Any]]) -> str:
    return "(" + "".join(f"{owner}.{item.name}," for item in items) + ")"


def _freeze(cls: type) -> None:
    """Let assignments to fields, and any to the class's own objects, raise what a frozen dataclass's would."""
    names = frozenset([item.name for item in fields(cls)])

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__  # type: ignore[assignment]


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, item.name) for item in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for item, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, item.name, value)


def _record(
    plain: type | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    unsafe_hash: bool = False,
    frozen: bool = False,
    slots: bool = False,
) -> Any:
    """Make a class a record; without one, return a decorator. Options mean what they mean to a dataclass.

    Parameters
    ----------
    plain : type, optional
        Its fields are arguments of the constructor by position, too.
    init, repr, eq, unsafe_hash, frozen, slots : bool, optional

    Examples
    --------
    >>> @record(frozen=True, slots=True)
    ... class Step:
    ...     "Some numbers."
    ...     start: int
    ...     size: int = 1
    >>> Step(2)
    Step(start=2, size=1)
    >>> Step(2) == Step(2, 1), {Step(2): "two"}[Step(2)]
    (True, 'two')
    """

    def decorate(plain: type) -> type:
        given = vars(plain)
        own_hash = "__hash__" in given and not (given["__hash__"] is None and "__eq__" in given)
        cls: type[Any] = dataclass(init=False, repr=False, eq=False, slots=slots)(plain)
        construct = _frozen_init if frozen else _init
        methods = [("__init__", init, construct), ("__repr__", repr, _repr), ("__eq__", eq, _eq)]
        for name, wanted, write in methods:
            if wanted and name not in given:
                setattr(cls, name, _Late(cls, name, write))
        if not own_hash and (unsafe_hash or (eq and frozen)):
            cls.__hash__ = _Late(cls, "__hash__", _hash)  # type: ignore[assignment]
        elif not own_hash and eq:
            cls.__hash__ = None  # type: ignore[assignment]
        if frozen:
            _freeze(cls)
            if slots:  # pickle would assign to fields
                cls.__getstate__, cls.__setstate__ = _getstate, _setstate  # type: ignore[assignment]
        return cls

    return decorate if plain is None else decorate(plain)


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    record = _record
