"""The generator of lax programs: scopes that grow statement by statement, and how operands are chosen.

What statements there are stands in `lax_values`, `lax_views`, `lax_tables` and `lax_control`. All floats stay between
-1 and 1, and no operation makes errors larger (its slope is at most 1), so that results of two engines are as near to
each other after a hundred steps as after one. What depends on the order of numbers, or on which side of a bound they
are, takes exact values only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from tests.every_call.lax_syntax import Body, Operand, Program, Statement, Type, Var
from tests.every_call.lax_text import literal

FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int64", "int32", "int8", "uint8", "uint32")
COMPLEX = ("complex128", "complex64")
DTYPES = (*FLOATS, *INTEGERS, *COMPLEX, "bool")
WEIGHTS = {"float64": 8, "float32": 6, "float16": 2, "int64": 3, "int32": 3, "complex128": 2, "bool": 3}

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64)
LARGE_EXTENTS = (40, 64, 100, 129, 300)
MOST_DEPTH = 3
MOST_ELEMENTS = 20_000

Maker = Callable[["Generator"], None]


class Generator:
    """Makes one program.

    Parameters
    ----------
    rng : numpy.random.Generator
    makers : mapping of str to sequence of Maker
        ``"values"`` and ``"control"``.
    """

    def __init__(self, rng: np.random.Generator, makers: dict[str, Sequence[Maker]]) -> None:
        self.rng, self.makers = rng, makers
        self.count = 0
        self.scopes: list[list[Var]] = []
        self.bodies: list[Body] = []
        self.differentiable = 0
        extents = LARGE_EXTENTS if self.chance(0.25) else EXTENTS
        self.n, self.m, self.k = (int(x) for x in rng.choice(extents, 3))
        self.dtypes = self._some_dtypes()
        self.shapes = self._some_shapes()

    # ------------------------------------------------------------------------------------------------------- choices

    def chance(self, probability: float) -> bool:
        """Return True so often."""
        return bool(self.rng.random() < probability)

    def below(self, n: int) -> int:
        """Return a number in ``[0, n)``."""
        return int(self.rng.integers(0, n))

    def choose(self, items: Sequence[Any]) -> Any:
        """Return one of the items."""
        return items[self.below(len(items))]

    def _some_dtypes(self) -> list[str]:
        weights = np.array([WEIGHTS.get(d, 1) for d in DTYPES], float)
        count = int(self.rng.integers(2, 5))
        found = [str(d) for d in self.rng.choice(DTYPES, count, replace=False, p=weights / weights.sum())]
        return found if any(d in FLOATS for d in found) else ["float64", *found]

    def _some_shapes(self) -> list[tuple[int, ...]]:
        n, m, k = self.n, self.m, self.k
        known = [(n,), (n, m), (n,), (m,), (n, n), (m, n), (k, n), (2, n, 3), (n, 2, 2), (k, m, n)]
        fit = [s for s in known if int(np.prod(s)) <= MOST_ELEMENTS]
        return [fit[k] for k in sorted(self.rng.choice(len(fit), min(len(fit), 3), replace=False))]

    def some_type(self, dtypes: Sequence[str] | None = None, least_rank: int = 0) -> Type:
        """Return a type of this program."""
        own = [d for d in self.dtypes if dtypes is None or d in dtypes] or list(dtypes or self.dtypes)
        shapes = [s for s in self.shapes if len(s) >= least_rank]
        shape: tuple[int, ...] = (
            () if not least_rank and self.chance(0.25) else self.choose(shapes or [(self.n, self.m, 2)])
        )
        return Type(self.choose(own), shape)

    # ------------------------------------------------------------------------------------------------------ operands

    def name(self, stem: str) -> str:
        """Return a name that the program doesn't have."""
        self.count += 1
        return f"{stem}{self.count}"

    def visible(self) -> list[Var]:
        """Return the names that a statement here may use, the newest last."""
        return [v for scope in self.scopes for v in scope]

    def find(
        self,
        dtypes: Collection[str] | None = None,
        *,
        shape: tuple[int, ...] | None = None,
        least_rank: int = 0,
        exact: bool = False,
        where: Callable[[Type], bool] = lambda type: True,
    ) -> Var | None:
        """Return a name of such a type, mostly a recent one; None where there is none."""

        def fits(t: Type) -> bool:
            return (
                (dtypes is None or t.dtype in dtypes)
                and (shape is None or t.shape == shape)
                and len(t.shape) >= least_rank
                and (t.exact or not exact)
                and where(t)
            )

        found = [v for v in self.visible() if fits(v.type)]
        if not found:
            return None
        return self.choose(found[-5:] if self.chance(0.6) else found)

    def pick(self, dtypes: Collection[str] | None = None, *, least_rank: int = 0, exact: bool = False) -> Operand:
        """Return a name of such a type, or now and then a constant."""
        found = None if self.chance(0.06) else self.find(dtypes, least_rank=least_rank, exact=exact)
        return found or self.constant(self.some_type(list(dtypes) if dtypes is not None else None, least_rank))

    def constant(self, type: Type) -> Operand:
        """Return a constant of a type."""
        return literal(type, round(float(self.rng.uniform(-0.9, 0.9)), 2))

    def like(self, type: Type, *, avoid: Operand | None = None) -> Operand:
        """Return an operand of a type: a name, or one that is made of a name of another type, or a constant."""
        same = [v for v in self.visible() if v.type.fits(type) and v is not avoid]
        if same and self.chance(0.9):
            return self.choose(same[-4:] if self.chance(0.7) else same)
        if type.shape and self.chance(0.6):
            scalar = self.find([type.dtype], shape=(), exact=type.exact)
            if scalar is not None:
                return self.add(
                    f"hnp.broadcast_to({{0}}, {type.shape})", [scalar], type._replace(exact=scalar.type.exact)
                )
        same_size = self.find([type.dtype], exact=type.exact, where=lambda t: t.size == type.size)
        if same_size is not None and self.chance(0.7):
            return self.add(f"lax.reshape({{0}}, {type.shape})", [same_size], type._replace(exact=same_size.type.exact))
        return self.constant(type)

    # ---------------------------------------------------------------------------------------------------- statements

    def append(self, kind: str, targets: Sequence[Type], operands: Sequence[Operand], **rest: Any) -> list[Var]:
        """Append a statement to the innermost body, and return its targets."""
        names = [Var(self.name("v"), t) for t in targets]
        self.bodies[-1].statements.append(Statement(kind, names, list(operands), **rest))
        self.scopes[-1] += names
        return names

    def add(self, template: str, operands: Sequence[Operand], type: Type) -> Var:
        """Append ``target = template``."""
        return self.append("value", [type], operands, template=template)[0]

    def value(self, template: str, *operands: Operand, exact: bool = True, **changes: Any) -> Var:
        """Append an operation whose result has the first operand's type, but for changes.

        Parameters
        ----------
        template : str
        *operands : Operand
        exact : bool, optional
            Whether it computes exactly: the result is exact where the operands are, too.
        **changes
            ``dtype`` or ``shape`` of the result.
        """
        first = operands[0].type
        kind = changes.get("dtype", first.dtype)[0]
        is_exact = (exact or kind in "iub") and all(x.type.exact for x in operands)
        return self.add(template, operands, first._replace(**changes, exact=is_exact))

    def body(self, stem: str, types: Sequence[Type], write: Callable[[list[Var]], Sequence[Operand]]) -> Body:
        """Return a body, whose statements and results ``write(parameters)`` makes."""
        parameters = [Var(self.name("p"), t) for t in types]
        body = Body(self.name(stem), parameters)
        self.bodies.append(body)
        self.scopes.append(list(parameters))
        body.results = list(write(parameters))
        self.scopes.pop()
        self.bodies.pop()
        return body

    def write(self, least: int, most: int) -> None:
        """Append a few random statements to the innermost body."""
        for _ in range(least + self.below(most - least + 1)):
            deep = len(self.bodies) > MOST_DEPTH
            family = "control" if not deep and self.chance(0.35 if len(self.bodies) == 1 else 0.15) else "values"
            self.choose(self.makers[family])(self)

    def following(self, parameters: Sequence[Var], number: int) -> Operand:
        """Return what a loop's part becomes: unchanged, another part, or something that this iteration computed."""
        own, kind = parameters[number], self.rng.random()
        if kind < 0.12:
            return own
        if kind < 0.3:
            others = [p for p in parameters if p.type.fits(own.type)]
            return self.choose(others)
        fresh = [v for v in self.scopes[-1] if v.type.fits(own.type) and v not in parameters]
        if fresh and kind < 0.85:
            return self.choose(fresh[-3:])
        return self.mixed(own)

    def mixed(self, own: Var) -> Operand:
        """Return a value of a parameter's type that depends on it."""
        other = self.like(own.type, avoid=own)
        if own.type.dtype == "bool":
            return self.value("lax.bitwise_xor({0}, {1})", own, other)
        if own.type.dtype in INTEGERS:
            return self.value("(3 * {0} + {1})", own, other)
        return self.value("({0} - {1}) * 0.5", own, other)

    def whole(self, seed: int, statements: tuple[int, int]) -> Program:
        """Return a whole program."""
        types = [self.some_type() for _ in range(1 + self.below(4))]
        types += [types[0]] if self.chance(0.4) else []
        types = types if any(t.dtype in FLOATS and t.shape for t in types) else [Type("float64", (self.n,)), *types]
        parameters = [Var(self.name("a"), t) for t in types]
        parameters += [Var(self.name("count"), Type("int32", ())) for _ in range(1 + self.below(2))]
        body = Body("program", parameters)
        self.bodies, self.scopes = [body], [list(parameters)]
        self.write(*statements)
        body.results = self._results(parameters)
        arrays = [p.name for p in parameters if p.type.shape]
        donated = tuple(name for name in arrays if self.chance(0.3)) if self.chance(0.25) else ()
        return Program(body, seed, donated)

    def _results(self, parameters: Sequence[Var]) -> list[Operand]:
        made = [v for v in self.scopes[0] if v not in parameters]
        chosen: list[Operand] = [*made[-3:], *[v for v in made[:-3] if self.chance(0.25)]]
        if self.chance(0.15):
            chosen.append(self.choose(chosen or parameters))
        if self.chance(0.1):
            chosen.append(self.choose(parameters))
        return chosen or list(parameters[:1])
