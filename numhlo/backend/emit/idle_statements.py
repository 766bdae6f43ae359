"""Statements of kernel text that nothing needs, once others are written in another way: they are not compiled.

Only what gives the same whenever it runs, and has no effect, is dropped. Knows kernel text, and no op.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from numhlo.backend.emit.kernel_text import Block

NAME = re.compile(r"[A-Za-z_]\w*")
DEFINITION = re.compile(r"(\w+) = (.+)")
CALLED = re.compile(r"(\w+)\(")
PURE = frozenset(
    {
        *("add", "subtract", "multiply", "negate", "select", "overtake", "minimum", "maximum"),
        *("counted_from_end", "within", "placed"),
    }
)
TYPED = ("load_", "to_", "quick_")
"""What the names of words begin with that exist for several types, and have no effect either."""


def drop_idle(block: Block) -> None:
    """Remove the definitions of variables that no statement of a block needs, and those that only these needed.

    Parameters
    ----------
    block : Block
        All that uses the variables that it defines.

    Examples
    --------
    >>> block = Block("if True:")
    >>> block.items += ["x0 = load_i64(in0, 0)", "add0 = add(x0, x0)", "store_i64(out0, 0, x0)"]
    >>> drop_idle(block)
    >>> block.items
    ['x0 = load_i64(in0, 0)', 'store_i64(out0, 0, x0)']
    """
    _drop(block, Counter(name for text in _texts(block) for name in NAME.findall(text)))


def _texts(block: Block) -> Iterator[str]:
    yield block.header
    for item in block.items:
        if isinstance(item, str):
            yield item
        else:
            yield from _texts(item)


def _drop(block: Block, uses: Counter[str]) -> None:
    kept: list[str | Block] = []
    for item in reversed(block.items):
        if isinstance(item, Block):
            _drop(item, uses)
        elif _is_idle(item, uses):
            uses.subtract(NAME.findall(item))
            continue
        kept.append(item)
    block.items[:] = reversed(kept)


def _is_idle(line: str, uses: Counter[str]) -> bool:
    found = DEFINITION.fullmatch(line)
    if found is None or uses[found[1]] != 1:
        return False
    return all(word in PURE or word.startswith(TYPED) for word in CALLED.findall(found[2]))
