"""One table of rules per aspect (batching, differentiation, emission, ...), the same class in every room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.primitive import PRIMITIVES, Primitive

Rule = TypeVar("Rule", bound=Callable[..., object])


class _Found(dict[Primitive, Rule | None]):
    """Which rules ops have that were asked for, or None: looked up without a call, as that happens all the time."""

    def __init__(self, rules: dict[Primitive, Rule], families: dict[type[Primitive], Rule]) -> None:
        super().__init__()
        self._rules, self._families = rules, families

    def __missing__(self, definition: Primitive) -> Rule | None:
        rule = self._rules.get(definition)
        found = self._families.get(type(definition)) if rule is None else rule
        if PRIMITIVES.get(definition.name) is definition:  # ops that texts name without a definition are not kept
            self[definition] = found
        return found


class RuleTable(Generic[Rule]):
    """Rules keyed by op, with a default per family.

    Parameters
    ----------
    verb : str
        What a rule does, for messages: ``"batch"``.
    folder : str
        Where a missing rule is to be added: ``"numhlo/tracer/batching"``.

    Attributes
    ----------
    find : callable
        ``find(definition)`` returns the rule, or None where there is none.
    """

    def __init__(self, verb: str, folder: str) -> None:
        self.verb, self.folder = verb, folder
        self._rules: dict[Primitive, Rule] = {}
        self._families: dict[type[Primitive], Rule] = {}
        self._found = _Found(self._rules, self._families)
        self.find: Callable[[Primitive], Rule | None] = self._found.__getitem__

    def register(self, *definitions: Primitive) -> Callable[[Rule], Rule]:
        """Return a decorator that makes a function the rule of ``definitions``; registering twice is an error."""

        def add(rule: Rule) -> Rule:
            for definition in definitions:
                if definition in self._rules:
                    raise ValueError(f"{self.verb} rule of {definition.name} is registered twice")
                self._rules[definition] = rule
            self._found.clear()
            return rule

        return add

    def register_family(self, family: type[Primitive]) -> Callable[[Rule], Rule]:
        """Return a decorator that makes a function the default rule of a family."""

        def add(rule: Rule) -> Rule:
            if family in self._families:
                raise ValueError(f"{self.verb} rule of {family.__name__} is registered twice")
            self._families[family] = rule
            self._found.clear()
            return rule

        return add

    def __getitem__(self, definition: Primitive) -> Rule:
        rule = self._found[definition]
        if rule is None:
            raise UnsupportedError(
                f"{definition.name} has no rule to {self.verb} it",
                fix=f"add one under {self.folder}",
            )
        return rule

    def missing(self, definitions: Iterable[Primitive]) -> list[str]:
        """Return the names of the ops that have no rule."""
        return [d.name for d in definitions if self.find(d) is None]
