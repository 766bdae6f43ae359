"""The text of traced values: it can be shown, but not asked for its characters, which nobody knows while tracing.

``print("x is " + str(x))`` shows the type while a function is traced. ``len(str(n))``, ``str(n)[::-1]`` and
``int(str(n))`` would compute with how that type is written.
"""

from __future__ import annotations

from typing import Any, NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError


class Text(str):
    """What `str` gives for a traced value: it can be joined with other text, and shown.

    Examples
    --------
    >>> "x is " + Text("Traced<int64[]>")
    'x is Traced<int64[]>'
    """

    __slots__ = ()

    def refuse(self, *_: object) -> NoReturn:
        """Raise: the characters are not known."""
        raise ConcretizationError(
            f"the characters of a traced array as text, {self:s}",
            where=capture_location(),
            why="its value is not known while tracing, nor its characters",
            fix="compute with the number, whose digits are n // 10**k % 10; or return it, and write it as text outside",
        )

    def __getattribute__(self, name: str) -> Any:
        return str.__getattribute__(self, name) if name.startswith("_") or name == "refuse" else self.refuse()


for _name in ("contains", "eq", "ge", "getitem", "gt", "hash", "iter", "le", "len", "lt", "mul", "ne", "rmul"):
    setattr(Text, f"__{_name}__", Text.refuse)
