"""Reduction of a source to a small one with the same verdict: statements go, blocks open, numbers and expressions shrink.

Works on Python's own syntax tree, so it can reduce any source, whoever wrote it.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.every_call.source_programs import Source

Change = Callable[[ast.Module], bool]
"""Makes a tree smaller in place; returns whether there was anything to change."""

BLOCKS = ("body", "orelse")


def shrink(source: Source, fails: Callable[[Source], bool], seconds: float) -> Source:
    """Return a source that still fails, smaller where one was found in time.

    Parameters
    ----------
    source : Source
    fails : callable
        Says whether a source fails in the same way.
    seconds : float
        When to be content with what there is.
    """
    end = time.monotonic() + seconds
    best, seen = source, {source.text}
    found = True
    while found:
        found = False
        for candidate in candidates(best):
            if time.monotonic() > end:
                return best
            if candidate.text in seen:
                continue
            seen.add(candidate.text)
            if is_sound(candidate.text) and fails(candidate):
                best, found = candidate, True
                break
    return best


def candidates(source: Source) -> Iterator[Source]:
    """Give smaller sources, the greatest steps first."""
    tree = ast.parse(source.text)
    for change in changes(tree):
        changed = copy.deepcopy(tree)
        if not change(changed):
            continue
        try:
            text = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
            compile(text, "candidate", "exec")
        except (SyntaxError, ValueError, TypeError):
            continue
        yield without_unused(replace(source, text=text))


def changes(tree: ast.Module) -> Iterator[Change]:
    """Give all changes that are tried on a tree, runs of statements first."""
    blocks = [(k, name) for k, node in enumerate(ast.walk(tree)) for name in BLOCKS if block_of(node, name)]
    for size in (8, 4, 2, 1):
        for number, name in blocks:
            length = len(block_of(list(ast.walk(tree))[number], name))
            for start in reversed(range(0, length, max(1, size // 2)) if size <= length else range(0)):
                yield lambda t, a=number, b=name, c=start, d=size: removed(t, a, b, c, d)
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        if isinstance(node, (ast.For, ast.While, ast.If)):
            yield lambda t, a=number: opened(t, a)
    for number, node in enumerate(nodes):
        for choice in range(len(smaller(node))):
            yield lambda t, a=number, b=choice: put_smaller(t, a, b)


def block_of(node: ast.AST, name: str) -> list[ast.stmt]:
    """Return the statements of a node's block; an empty list where it has none, or only the imports of the module."""
    found = getattr(node, name, None)
    return found if isinstance(found, list) and not isinstance(node, ast.Module) else []


def removed(tree: ast.Module, number: int, name: str, start: int, size: int) -> bool:
    """Take a run of statements out of a block, and leave a `pass` where the block needs one."""
    block = block_of(list(ast.walk(tree))[number], name)
    gone = block[start : start + size]
    if not gone or (len(gone) == 1 and isinstance(gone[0], ast.Pass)):
        return False
    block[start : start + size] = []
    if not block and name == "body":
        block.append(ast.Pass())
    return True


def opened(tree: ast.Module, number: int) -> bool:
    """Put a block's statements in the place of the loop or branch that they are in."""
    inner = list(ast.walk(tree))[number]
    for node in ast.walk(tree):
        for name in BLOCKS:
            block = block_of(node, name)
            if inner in block:
                place = block.index(inner)  # type: ignore[arg-type]
                block[place : place + 1] = block_of(inner, "body")
                return True
    return False


def smaller(node: ast.AST) -> list[ast.expr]:
    """Return what may stand in an expression's place: its operands and arguments, smaller numbers, fewer elements."""
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return [node.left, *([node.right] if isinstance(node, ast.BinOp) else [])]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*inner, *node.args] if not isinstance(node.func, ast.Name) or node.func.id != "range" else []
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Tuple) and len(node.elts) > 1:
        fewer = [node.elts[:k] + node.elts[k + 1 :] for k in range(len(node.elts))]
        return [ast.Tuple(e, node.ctx) if len(e) > 1 else e[0] for e in fewer]
    if isinstance(node, ast.Constant):
        return [ast.Constant(x) for x in smaller_constants(node.value)]
    return []


def smaller_constants(value: object) -> list[object]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    if isinstance(value, int):
        return [x for x in (1, 2, value // 2, value - 1) if 0 < x < value]
    return [0.5] if value not in (0.5, 0.0) else []


def put_smaller(tree: ast.Module, number: int, choice: int) -> bool:
    """Replace one expression by one of its smaller forms."""
    old = list(ast.walk(tree))[number]
    new = smaller(old)[choice]
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
                return True
            if isinstance(value, list) and any(x is old for x in value):
                value[next(k for k, x in enumerate(value) if x is old)] = new
                return True
    return False


def without_unused(source: Source) -> Source:
    """Take parameters away that nothing names, and functions that nobody calls."""
    tree = ast.parse(source.text)
    program = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    used = {node.id for node in ast.walk(program) if isinstance(node, ast.Name)}
    program.body = [x for x in program.body if not (isinstance(x, ast.FunctionDef) and x.name not in used)] or [
        ast.Pass()
    ]
    used = {node.id for node in ast.walk(program) if isinstance(node, ast.Name)}
    kept = [p for p in source.parameters if p.name in used]
    if not kept:
        return source
    program.args.args = [a for a in program.args.args if a.arg in used]
    return replace(source, text=ast.unparse(tree) + "\n", parameters=tuple(kept))


def is_sound(text: str) -> bool:
    """Return whether a source reads no memory that nobody wrote: an `empty_like` is filled by the next statement."""
    for node in ast.walk(ast.parse(text)):
        for name in BLOCKS:
            block = block_of(node, name)
            for number, statement in enumerate(block):
                if not isinstance(statement, ast.Assign) or "np.empty_like" not in ast.unparse(statement):
                    continue
                target = ast.unparse(statement.targets[0])
                after = ast.unparse(block[number + 1]) if number + 1 < len(block) else ""
                if not after.startswith((f"{target}[...] =", f"{target}[:] =", f"{target}.fill(")):
                    return False
    return True
