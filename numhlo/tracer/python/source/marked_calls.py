"""A function's code with every call marked: ``f(x)`` becomes ``(callees @ f)(x)``, ``a[i]`` ``(holders @ a)[i]``.

So the code that is traced can call something else in a callee's place, however it came by it: a method, an item of a
dict, a parameter; and a constant array can be asked for an element whose index is traced. What Python calls by itself
is marked, too: ``x + y`` becomes a call, ``x.a`` ``(owners @ x).a``, and what is iterated over or entered by `with` is
exchanged likewise. Variables, names and positions stay the same, so errors show the user's lines. `rewritten_code`
compiles it; what is put in the marks' places is decided in `plain_numpy` and `special_methods`.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

CALLEE, HOLDER, OWNER, UPDATED, ITERATED, MANAGER = (
    f"\0numhlo: {what}"
    for what in ("a callee", "what is indexed", "an owner", "an owner updated", "an iterable", "a manager")
)
"""The constants that stand for the exchanges until the code is compiled."""

RUNTIME = "\0numhlo: what branches and loops call"
"""The constant that stands for the module `autograph.staging`."""

GENERATED = "_numhlo_"
"""Ends the names of functions and variables that rewriting makes."""

SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.UAdd: "+", ast.USub: "-", ast.Invert: "~",
}  # fmt: skip
OPERATION = "\0numhlo: "
"""What stands before an operation, as ``x + y``, in the constant that stands for what has its function, ``apply``."""

INDEXED = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""NumPy's objects that are used by indexing: they are exchanged, too."""

MODULES = frozenset({"np", "numpy", "math"})
"""Names that stand for modules: their attributes need no mark."""

FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Builtins that look at their caller's variables."""

_NAMES = (ast.Name, ast.Attribute, ast.Tuple, ast.expr_context)
_LEAVES = frozenset(
    [
        ast.Name,
        ast.Constant,
        ast.Pass,
        *[
            c
            for kind in (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
            for c in kind.__subclasses__()
        ],
    ]
)
"""Classes of nodes that nothing is in."""

_EXCHANGE, _LOAD = ast.MatMult(), ast.Load()
_CONSTANT = (ast.Constant, ast.Tuple, ast.Slice, ast.UnaryOp, ast.unaryop, ast.expr_context)


class Marker(ast.NodeTransformer):
    """Marks what is called and indexed, and what Python calls by itself: operators, properties, iterators, managers."""

    def visit(self, node: ast.AST) -> Any:
        """Return what stands for a node."""
        return _VISITS.get(type(node), Marker.generic_visit)(self, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit what is in a node; in half of the base class's time, since every visit returns a node."""
        for name in node._fields:
            found = getattr(node, name, None)
            if type(found) is list:
                found[:] = [x if type(x) in _LEAVES or not isinstance(x, ast.AST) else self.visit(x) for x in found]
            elif type(found) not in _LEAVES and isinstance(found, ast.AST):
                setattr(node, name, self.visit(found))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Mark a callee."""
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "value", None) == RUNTIME:
            node.func.end_lineno = node.func.lineno  # else CPython places the call in the statement's last line
            node.args = [self.visit(x) for x in node.args]
            return node
        self.generic_visit(node)
        is_reader = isinstance(node.func, ast.Name) and node.func.id in FRAME_READERS
        if not is_reader:
            node.func = _marked(CALLEE, node.func)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Mark what is indexed: ``np.r_`` and its like as callees."""
        self.generic_visit(node)
        name = getattr(node.value, "attr", getattr(node.value, "id", None))
        if isinstance(node.ctx, ast.Load) and name in INDEXED:
            node.value = _marked(CALLEE, node.value)
        elif isinstance(node.ctx, ast.Load) and not all(isinstance(part, _CONSTANT) for part in ast.walk(node.slice)):
            node.value = _marked(HOLDER, node.value)
        else:
            node.value = _marked(OWNER, node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Mark whose attribute is read, written or deleted."""
        self.generic_visit(node)
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return _operation(node, "x.__class__", node.value)
        is_module = isinstance(node.value, ast.Name) and node.value.id in MODULES
        if not is_module:
            node.value = _marked(OWNER, node.value)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Mark what is matched with class patterns."""
        self.generic_visit(node)
        node.subject = _matched(node.subject, [case.pattern for case in node.cases])
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Mark what is asserted."""
        self.generic_visit(node)
        node.test = _operation(node, "assert x", node.test)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Let the body begin with a look at what it caught."""
        named = node.type is not None and all(isinstance(part, _NAMES) for part in ast.walk(node.type))
        classes = [copy.deepcopy(node.type)] if named and node.type is not None else []
        self.generic_visit(node)
        look = ast.Expr(_operation(node, "except x", *classes))
        node.body.insert(0, ast.copy_location(look, node))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Make an operation a call."""
        self.generic_visit(node)
        return _operation(node, f"x {SIGNS[type(node.op)]} y", node.left, node.right)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Make an f-string a call."""
        self.generic_visit(node)
        return _operation(node, "f'{x}'", *map(_part_of_text, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Make an operation a call."""
        self.generic_visit(node)
        return node if isinstance(node.op, ast.Not) else _operation(node, f"{SIGNS[type(node.op)]}x", node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Make a comparison a call."""
        self.generic_visit(node)
        if len(node.ops) > 1 or type(node.ops[0]) not in SIGNS:
            return node
        return _operation(node, f"x {SIGNS[type(node.ops[0])]} y", node.left, *node.comparators)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Make the update of a variable a call; mark whose attribute or item is updated."""
        target = node.target
        if isinstance(target, ast.Name):
            self.generic_visit(node)
            old = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            new = _operation(node, f"x {SIGNS[type(node.op)]}= y", old, node.value)
            return ast.copy_location(ast.Assign([target], new), node)
        self.generic_visit(target)
        target.value = _marked(UPDATED, target.value)
        node.value = self.visit(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Mark what is unpacked."""
        self.generic_visit(node)
        if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            node.value = _iterated(node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Mark what is iterated over."""
        self.generic_visit(node)
        node.iter = _iterated(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Mark what is iterated over, and the conditions."""
        self.generic_visit(node)
        node.iter = node.iter if node.is_async else _iterated(node.iter)
        node.ifs = [_operation(test, "for if x", test) for test in node.ifs]
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        """Mark what is unpacked."""
        self.generic_visit(node)
        node.value = _iterated(node.value) if isinstance(node.ctx, ast.Load) else node.value
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Mark what is iterated over."""
        self.generic_visit(node)
        node.value = _iterated(node.value)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        """Mark the context managers."""
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = _marked(MANAGER, item.context_expr)
        return node


_VISITS: dict[type[ast.AST], Any] = {
    getattr(ast, name.removeprefix("visit_")): rule for name, rule in vars(Marker).items() if name.startswith("visit_")
}


def runtime_call(name: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function of `autograph.staging`."""
    return ast.Call(ast.Attribute(ast.Constant(RUNTIME), name, ast.Load()), list(arguments), [])


def _position(node: Any) -> dict[str, Any]:
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _marked(mark: str, value: ast.expr) -> ast.expr:
    at = _position(value)
    return ast.BinOp(ast.Constant(mark, **at), _EXCHANGE, value, **at)


def _operation(node: ast.expr | ast.stmt | ast.excepthandler, sign: str, *operands: ast.expr) -> ast.expr:
    """Return an operation as a call of a constant; itself where Python folds it."""
    if isinstance(node, ast.expr) and all(isinstance(x, ast.Constant) for x in operands):
        return node
    at = _position(node)
    function = ast.Attribute(ast.Constant(OPERATION + sign, **at), "apply", _LOAD, **at)
    return ast.Call(function, [*operands], [], **at)


def _part_of_text(part: ast.expr) -> ast.expr:
    """Return a part of an f-string as an argument: text, or a tuple of a value, a conversion and a specification."""
    if not isinstance(part, ast.FormattedValue):
        return part
    spec = part.format_spec or ast.Constant("")
    parts = [part.value, ast.Constant(part.conversion), spec]
    return ast.fix_missing_locations(ast.copy_location(ast.Tuple(parts, ast.Load()), part))


def _matched(subject: ast.expr, patterns: list[ast.pattern]) -> ast.expr:
    """Return a subject that looks at the class patterns for it, and for its parts where it is written as a tuple."""
    alternatives = [p for pattern in patterns for p in _alternatives(pattern)]
    if isinstance(subject, ast.Tuple):
        tuples = [p.patterns for p in alternatives if isinstance(p, ast.MatchSequence)]
        fitting = [parts for parts in tuples if len(parts) == len(subject.elts)]
        subject.elts = [_matched(x, [parts[k] for parts in fitting]) for k, x in enumerate(subject.elts)]
        return subject
    classes = [copy.deepcopy(p.cls) for p in alternatives if isinstance(p, ast.MatchClass)]
    return _operation(subject, "match x", subject, *classes) if classes else subject


def _alternatives(pattern: ast.pattern) -> list[ast.pattern]:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _alternatives(pattern.pattern)
    if isinstance(pattern, ast.MatchOr):
        return [inner for part in pattern.patterns for inner in _alternatives(part)]
    return [pattern]


def _iterated(value: ast.expr) -> ast.expr:
    is_own = isinstance(value, ast.Tuple | ast.List)
    return value if is_own else _marked(ITERATED, value)
