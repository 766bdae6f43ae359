"""Abstract values of expressions: what is computed from traced values may be traced; shapes and types are known."""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from numhlo.compilation.abstract_values import (
    ARRAY,
    CHOICE,
    CONSTANT,
    CONTAINER,
    KNOWN,
    MASK,
    SELECTED,
    SOMETHING,
    UNSIZED,
    Abstract,
    container,
    join,
    join_all,
    known,
)
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.python.code_references import content_of

MOST_EXPRESSIONS = 3000
"""How many expressions are looked at for one function, at about a microsecond each."""

OF_TYPES = frozenset({"dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides", "weak_type"})
"""Attributes of traced arrays that are known."""

OF_LENGTHS = frozenset({"nbytes", "shape", "size"})

_SIMPLE = (bool, int, float, str, bytes, type(None))
_FOLDED: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class TracedConditionError(Exception):
    """A branch or loop that may depend on a traced value was found."""


class TooLongError(Exception):
    """The interpretation has taken long enough."""


class Frame:
    """A call of a function.

    Parameters
    ----------
    outer : Frame or FunctionType
        Where names that are no variables of the function are looked up.
    variables : dict of str to Abstract
    """

    __slots__ = ("_closure", "outer", "results", "variables")

    def __init__(self, outer: Frame | FunctionType, variables: dict[str, Abstract]) -> None:
        self.outer, self.variables = outer, variables
        self.results: list[Abstract] = []
        self._closure: Mapping[str, Any] | None = None

    def read(self, name: str) -> Abstract:
        """Return the value of a name."""
        found = self.variables.get(name)
        if found is not None:
            return found
        if isinstance(self.outer, Frame):
            return self.outer.read(name)
        if self._closure is None:
            cells = zip(self.outer.__code__.co_freevars, self.outer.__closure__ or (), strict=True)
            self._closure = {free: content_of(cell) for free, cell in cells}
        for scope in (self._closure, self.outer.__globals__, vars(builtins)):
            if name in scope:
                return known(scope[name])
        return CONSTANT


class Expressions:
    """Computes abstract values of expressions in the current frame."""

    def __init__(self) -> None:
        self.frame: Frame
        self.attributes: dict[str, Abstract] = {}
        self._left = MOST_EXPRESSIONS

    def value(self, node: ast.AST | None) -> Abstract:
        """Return the value of an expression."""
        if node is None:
            return CONSTANT
        self._left -= 1
        if self._left < 0:
            raise TooLongError
        rule = getattr(self, f"_value_{type(node).__name__.lower()}", None)
        if rule is not None:
            found: Abstract = rule(node)
            return found
        return computed(*[self.value(x) for x in ast.iter_child_nodes(node) if isinstance(x, ast.expr)])

    def test(self, node: ast.expr) -> bool | None:
        """Return what a condition is where it is a simple constant; raise where it may be traced."""
        found = self.value(node)
        if found.is_traced:
            raise TracedConditionError
        return bool(found.object) if found.kind == KNOWN and isinstance(found.object, _SIMPLE) else None

    def _value_constant(self, node: ast.Constant) -> Abstract:
        return known(node.value)

    def _value_name(self, node: ast.Name) -> Abstract:
        return self.frame.read(node.id)

    def _value_joinedstr(self, node: ast.JoinedStr) -> Abstract:
        return CONSTANT

    def _value_namedexpr(self, node: ast.NamedExpr) -> Abstract:
        self.frame.variables[node.target.id] = found = self.value(node.value)
        return found

    def _value_lambda(self, node: ast.Lambda) -> Abstract:
        return Abstract(KNOWN, node, frame=self.frame)

    def _value_starred(self, node: ast.Starred) -> Abstract:
        return self.value(node.value).inside

    def _value_tuple(self, node: ast.Tuple) -> Abstract:
        if any(isinstance(x, ast.Starred) for x in node.elts):
            return self._value_list(node)
        return Abstract(CONTAINER, tuple, items=tuple(map(self.value, node.elts)))

    def _value_list(self, node: ast.List | ast.Tuple | ast.Set) -> Abstract:
        return container(join_all(map(self.value, node.elts)), list)

    _value_set = _value_list

    def _value_dict(self, node: ast.Dict) -> Abstract:
        return container(join_all([self.value(x) for x in node.values]), dict)

    def _value_boolop(self, node: ast.BoolOp) -> Abstract:
        ends = isinstance(node.op, ast.Or)
        for part in node.values[:-1]:
            if self.test(part) is ends:
                return self.value(part)
        return self.value(node.values[-1])

    def _value_unaryop(self, node: ast.UnaryOp) -> Abstract:
        if not isinstance(node.op, ast.Not):
            found = self.value(node.operand)
            is_number = isinstance(node.op, ast.USub) and isinstance(found.object, int | float)
            return known(-found.object) if is_number else found if found.is_traced else CONSTANT
        holds = self.test(node.operand)
        return CONSTANT if holds is None else known(not holds)

    def _value_ifexp(self, node: ast.IfExp) -> Abstract:
        holds = self.test(node.test)
        if holds is not None:
            return self.value(node.body if holds else node.orelse)
        return join(self.value(node.body), self.value(node.orelse))

    def _value_compare(self, node: ast.Compare) -> Abstract:
        left, found = self.value(node.left), CONSTANT
        for sign, side in zip(node.ops, node.comparators, strict=True):
            if found.is_traced:
                raise TracedConditionError
            right = self.value(side)
            found = compared(sign, left, right)
            left = right
        return found

    def _value_binop(self, node: ast.BinOp) -> Abstract:
        return self.operation(node.op, self.value(node.left), self.value(node.right))

    def operation(self, sign: ast.operator, left: Abstract, right: Abstract) -> Abstract:
        """Return what an operator gives."""
        if left.is_traced or right.is_traced:
            if left.object is MASK and right.object is MASK:
                return CHOICE
            return SELECTED if max(left.kind, right.kind) == UNSIZED else ARRAY
        if CONTAINER in (left.kind, right.kind):
            return join(left, right)
        return folded(sign, left, right)

    def _value_subscript(self, node: ast.Subscript) -> Abstract:
        held, index = self.value(node.value), self.value(node.slice)
        if index.object is MASK or (isinstance(node.slice, ast.Slice) and index.is_traced):
            return SELECTED
        if held.is_traced or index.holds_traced:
            return join(ARRAY, held)
        if held.kind == KNOWN and type(held.object) in (list, tuple, dict) and isinstance(index.object, _SIMPLE):
            try:
                return known(held.object[index.object])
            except (LookupError, TypeError):
                return CONSTANT
        if held.items and isinstance(index.object, int) and -len(held.items) <= index.object < len(held.items):
            return held.items[index.object]
        return held.inside if held.kind == CONTAINER else CONSTANT

    def _value_attribute(self, node: ast.Attribute) -> Abstract:
        return self.attribute(self.value(node.value), node.attr)

    def attribute(self, owner: Abstract, name: str) -> Abstract:
        """Return an attribute, as far as that can be found without running code of the user's."""
        if owner.is_traced:
            if name in OF_TYPES:
                return ARRAY if owner.kind == UNSIZED and name in OF_LENGTHS else CONSTANT
            return ARRAY
        assigned = self.attributes.get(name)
        found = self._attribute_of_class(owner, name) if owner.kind == CONTAINER else self._known_attribute(owner, name)
        return found if assigned is None else assigned if found is CONSTANT else join(found, assigned)

    def _known_attribute(self, owner: Abstract, name: str) -> Abstract:
        x = owner.object
        if x is SOMETHING or isinstance(x, ast.AST):
            return CONSTANT
        held = getattr(x, "__dict__", None) if isinstance(x, ModuleType) else _instance_dict(x)
        if held is not None and name in held and not isinstance(x, type):
            return known(held[name])
        if isinstance(x, type):
            found = inspect.getattr_static(x, name, SOMETHING)
            return known(getattr(found, "__func__", found))
        return self._of_class(type(x), owner, name)

    def _attribute_of_class(self, owner: Abstract, name: str) -> Abstract:
        cls = owner.object
        if not isinstance(cls, type) or cls.__module__ in {"builtins", "collections"}:
            return CONSTANT if isinstance(cls, type) else owner.inside
        found = self._of_class(cls, owner, name)
        if found is CONSTANT:
            return found if name in self.attributes else owner.inside
        return join(found, owner.inside) if isinstance(found.object, _SIMPLE) else found

    def _of_class(self, cls: type, owner: Abstract, name: str) -> Abstract:
        if is_library(cls.__module__):
            return CONSTANT
        found = inspect.getattr_static(cls, name, SOMETHING)
        if isinstance(found, FunctionType):
            return Abstract(KNOWN, found, owner=owner)
        if isinstance(found, staticmethod):
            return known(found.__func__)
        if isinstance(found, classmethod):
            return Abstract(KNOWN, found.__func__, owner=known(cls))
        if isinstance(found, property) and isinstance(found.fget, FunctionType):
            return self.called(Abstract(KNOWN, found.fget, owner=owner), [], {})
        return known(found) if isinstance(found, _SIMPLE) else CONSTANT

    def called(self, function: Abstract, given: Sequence[Abstract], named: Mapping[str, Abstract]) -> Abstract:
        """Return what a call gives."""
        raise NotImplementedError


def _instance_dict(x: Any) -> Mapping[str, Any] | None:
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, Mapping) else None


def computed(*operands: Abstract) -> Abstract:
    """Return what is computed of some values."""
    if not any(x.holds_traced for x in operands):
        return CONSTANT
    return SELECTED if any(x.kind == UNSIZED for x in operands) else ARRAY


def compared(sign: ast.cmpop, left: Abstract, right: Abstract) -> Abstract:
    """Return what a comparison gives."""
    if isinstance(sign, ast.Is | ast.IsNot):
        sides = [x for x in (left, right) if x.kind != KNOWN or x.object is not None]
        if len(sides) == 1 and (sides[0].kind != KNOWN or sides[0].object is not SOMETHING):
            return known(isinstance(sign, ast.IsNot))
        return CONSTANT
    if isinstance(sign, ast.In | ast.NotIn):
        is_key = left.kind == KNOWN and right.kind == CONTAINER and right.object not in (list, tuple)
        return CHOICE if not is_key and (left.holds_traced or right.holds_traced) else CONSTANT
    if left.holds_traced or right.holds_traced:
        return CHOICE
    return folded(sign, left, right)


def folded(sign: ast.AST, left: Abstract, right: Abstract) -> Abstract:
    """Return what an operator gives of known values."""
    fold = _FOLDED.get(type(sign))
    if fold is None or not (isinstance(left.object, _SIMPLE) and isinstance(right.object, _SIMPLE)):
        return CONSTANT
    is_number = isinstance(left.object, int | float) and isinstance(right.object, int | float)
    if not (is_number or isinstance(sign, ast.Eq | ast.NotEq)):
        return CONSTANT
    try:
        return known(fold(left.object, right.object))
    except (ArithmeticError, ValueError):
        return CONSTANT
