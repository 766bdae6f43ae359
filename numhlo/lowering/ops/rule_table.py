"""One table of rules per aspect (batching, differentiation, emission, ...), the same class in every room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.primitive import Primitive

Rule = TypeVar("Rule", bound=Callable[..., object])


class RuleTable(Generic[Rule]):
    """Rules keyed by op, with a default per family.

    Parameters
    ----------
    verb : str
        What a rule does, for messages: ``"batch"``.
    folder : str
        Where a missing rule is to be added: ``"numhlo/tracer/batching"``.
    """

    def __init__(self, verb: str, folder: str) -> None:
        self.verb, self.folder = verb, folder
        self._rules: dict[Primitive, Rule] = {}
        self._families: dict[type[Primitive], Rule] = {}
        self._found: dict[Primitive, Rule | None] = {}

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

    def find(self, definition: Primitive) -> Rule | None:
        """Return the rule, or None where there is none."""
        try:
            return self._found[definition]
        except KeyError:
            rule = self._rules.get(definition)
            found = self._found[definition] = self._families.get(type(definition)) if rule is None else rule
            return found

    def __getitem__(self, definition: Primitive) -> Rule:
        try:
            rule = self._found[definition]
        except KeyError:
            rule = self.find(definition)
        if rule is None:
            raise UnsupportedError(
                f"{definition.name} has no rule to {self.verb} it",
                fix=f"add one under {self.folder}",
            )
        return rule

    def missing(self, definitions: Iterable[Primitive]) -> list[str]:
        """Return the names of the ops that have no rule."""
        return [d.name for d in definitions if self.find(d) is None]
