"""The verdict on one NumPy source: NumPy and numhlo run it on every call, results and the caller's arrays compared.

A verdict is ``right``, ``refused`` (an error of numhlo's own), ``skipped`` (NumPy fails, takes too long, or is itself
undecided, as where a comparison hangs on the last bit, or views overlap), or a find: ``wrong`` (a value, a lost write, a changed earlier
result), ``foreign`` (another exception), and, for who runs this in a child process, ``crash`` and ``hang``.
``python -m tests.every_call.numpy_judging`` is such a child: it reads a source a line, as JSON, and writes its verdict.
"""

from __future__ import annotations

import ast
import functools
import json
import linecache
import os
import random
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import numhlo
from numhlo.backend.kernel_cache import compiler_service, kernel_cache
from numhlo.tracer.trees.pytrees import tree_flatten
from tests.every_call.comparison import CLOSE, Tolerance, compare
from tests.every_call.forms import FORMS, KEEPING, SHARING
from tests.every_call.harness import EveryCallError, check_every_call, interpreted
from tests.every_call.numpy_children import FINDS, READY, from_json
from tests.every_call.source_programs import Source

STEPS = (0, 1, 2, 3, 5, 8, 61, 120)
"""Numbers of steps that programs are given."""

SECONDS_OF_NUMPY = 2.0
"""How long NumPy may take for a call: a reduced `while` may have no end."""

NUDGES = {"float64": 1e-12, "float32": 2e-7, "int64": 0.0}
"""How far arguments are moved, relative to their values, to see whether a program is decided."""

NARROW = Tolerance(relative={name: max(far, CLOSE.relative["float32"]) for name, far in CLOSE.relative.items()})
"""How far results may be apart where float32 arguments may have gone into float64 arrays."""

LOOSE = Tolerance(relative={name: 100 * far for name, far in CLOSE.relative.items()})
"""How far the results of a decided program go at most when its arguments are moved by a rounding error."""


@dataclass(frozen=True)
class Verdict:
    """What came of a source.

    Attributes
    ----------
    kind : str
    detail : str
        What differs, or the error's class and message.
    """

    kind: str
    detail: str = ""

    @property
    def is_find(self) -> bool:
        return self.kind in FINDS


class TooLongError(Exception):
    """NumPy takes too long for a call."""


@contextmanager
def loaded(source: Source, text: str | None = None) -> Iterator[Callable[..., Any]]:
    """Give the function of a source, whose lines Python finds as it finds those of a file."""
    text = source.text if text is None else text
    name = f"<numpy source {source.seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "numpy_source"}
    try:
        exec(compile(text, name, "exec"), scope)  # noqa: S102 - the program under test
        yield scope["program"]
    finally:
        linecache.cache.pop(name, None)


def inputs(source: Source, number: int = 0) -> list[Any]:
    """Return arguments for a source, others for each number."""
    rng = np.random.default_rng([source.seed, number])
    found: list[Any] = []
    for p in source.parameters:
        if p.is_steps:
            found.append(int(rng.choice(STEPS)))
        elif p.dtype == "int64":
            found.append(rng.integers(0, 7, p.shape))
        else:
            found.append(rng.uniform(-0.9, 0.9, p.shape).astype(p.dtype))
    return found


@contextmanager
def ends(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in Python code that is still running after some seconds, where signals can be had."""

    def stop(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    outer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outer)
        signal.signal(signal.SIGALRM, before)


def judge(source: Source, tier: str) -> Verdict:
    """Return the verdict on a source.

    Parameters
    ----------
    source : Source
    tier : str
        One of `TIERS`.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with loaded(source) as function:
                for number in range(2):
                    with ends(SECONDS_OF_NUMPY):
                        function(*inputs(source, number))
                return _judged(source, function, tier)
        except TooLongError:
            return Verdict("skipped", "NumPy takes too long")
        except Exception as error:  # noqa: BLE001 - numhlo's are caught inside
            return Verdict("skipped", f"NumPy raises {type(error).__name__}: {error}")


def _judged(source: Source, function: Callable[..., Any], tier: str) -> Verdict:
    static = [k for k, p in enumerate(source.parameters) if p.is_steps and source.static]
    compiled = numhlo.jit(function, autograph=source.autograph, static_argnums=static)
    try:
        if tier == "plans":
            plan_of(compiled, inputs(source))
        else:
            _check(source, compiled, function, tier, static)
    except EveryCallError as error:
        return (
            Verdict("wrong", str(error))
            if is_decided(source)
            else Verdict("skipped", "undecided: hangs on a rounding error, or on an assignment of views that overlap")
        )
    except (numhlo.errors.InternalError, numhlo.errors.VerificationError) as error:
        return Verdict("foreign", described(error))
    except numhlo.errors.NumhloError as error:
        return Verdict("refused", f"{type(error).__name__}: {error.what}")
    except TooLongError:
        raise
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return Verdict("foreign", described(error))
    return Verdict("right")


def _check(source: Source, compiled: Any, function: Callable[..., Any], tier: str, static: Sequence[int]) -> None:
    if tier == "interpreter":
        compiled = interpreted(compiled)
    given = [inputs(source, k) for k in range(2)]
    for k in static:  # one number of steps is one program
        given[1][k] = given[0][k]
    fixed = {k: given[0][k] for k in static}
    if static:
        called, original = (functools.partial(with_static, f, fixed) for f in (compiled, function))
        called.wait, called.cache_info = compiled.wait, compiled.cache_info  # type: ignore[attr-defined]
        given = [[x for k, x in enumerate(each) if k not in fixed] for each in given]
    else:
        called, original = compiled, function
    options: dict[str, Any] = {
        "reference": original,
        "native": tier == "native",
        "first_answers": tier == "native" and source.seed % 2 == 0,
        "schedule": schedule(source, tier),
        "tolerance": NARROW if any(p.dtype == "float32" for p in source.parameters) else CLOSE,
    }
    with compiles_nothing() if tier != "native" else waits_for_machine_code():
        try:
            check_every_call(called, given, **options)
        except ValueError as error:
            if "read-only" not in str(error) and not isinstance(error, numhlo.errors.MutationError):
                raise  # else the program writes into what it leaves as it was, or at times
            check_every_call(called, given, written=range(len(given[0])), **options)


def with_static(function: Callable[..., Any], fixed: dict[int, Any], *arguments: Any) -> Any:
    """Call a function with some of its arguments put back in their places."""
    given = list(arguments)
    for number in sorted(fixed):
        given.insert(number, fixed[number])
    return function(*given)


def schedule(source: Source, tier: str) -> list[tuple[str, int]]:
    """Return the calls of a source: plain ones, and some of other forms, chosen by its seed; all of them are slow."""
    forms = random.Random(source.seed)
    found = [("plain", 0), ("plain", 1), ("plain", 0)]
    found += [("plain", 1), ("plain", 0)] if tier == "native" else []
    found.append(("in read-only memory", 1))
    found += [(form, forms.randint(0, 1)) for form in SHARING]
    if forms.random() < 0.15:  # other layouts are traced anew
        found.append((forms.choice([f for f in KEEPING if f not in ("plain", "in read-only memory")]), 1))
    return [*found, ("plain", 0)]


def is_decided(source: Source) -> bool:
    """Return whether NumPy's own results stay what they are when arguments and constants move by a rounding error."""
    rng = random.Random(source.seed)
    for attempt in range(3):
        text = nudged(source.text, rng)
        with loaded(source) as function, loaded(source, text) as other:
            for number in range(2):
                for form in ("plain", *SHARING):
                    if not _agree(function, other, source, number, form, attempt):
                        return False
    return True


def _agree(
    function: Callable[..., Any], other: Callable[..., Any], source: Source, number: int, form: str, attempt: int
) -> bool:
    rng = np.random.default_rng(attempt)
    plain = inputs(source, number)
    moved = [moved_by_a_bit(x, rng) for x in plain]
    found = []
    for call, leaves in ((function, plain), (other, moved)):
        given = FORMS[form](leaves, ())
        with ends(SECONDS_OF_NUMPY):
            results = call(*given)
        found.append([*tree_flatten(results)[0], *given])
    one, two = found
    return len(one) == len(two) and all(compare(x, y, LOOSE) is None for x, y in zip(one, two, strict=True))


def moved_by_a_bit(leaf: Any, rng: np.random.Generator) -> Any:
    """Return an array whose floats are moved by a few rounding errors."""
    if not isinstance(leaf, np.ndarray) or leaf.dtype.kind != "f":
        return leaf
    return (leaf * (1 + NUDGES[leaf.dtype.name] * rng.uniform(-1, 1, leaf.shape))).astype(leaf.dtype)


def nudged(text: str, rng: random.Random) -> str:
    """Return a source whose constants are moved by a rounding error, and which copies what it assigns to slices.

    NumPy's assignment of one-dimensional views that overlap and differ in their strides, as in ``v[::2] = v[:3]``,
    reads what it has just written; in StableHLO the old values are meant, which `copy` gives in NumPy, too.
    """
    moved = re.sub(r"\b\d+\.\d+\b", lambda m: repr(float(m[0]) * (1 + 1e-12 * rng.uniform(-1, 1))), text)
    return ast.unparse(ast.fix_missing_locations(_Copying().visit(ast.parse(moved)))) + "\n"


class _Copying(ast.NodeTransformer):
    """Copies what is assigned to slices, or given to `copyto`."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(isinstance(target, ast.Subscript) for target in node.targets):
            node.value = _copy_of(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "np.copyto":
            node.args[1] = _copy_of(node.args[1])
        return node


def _copy_of(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "array", ast.Load()), [value], [])


def described(error: BaseException) -> str:
    """Return an exception's class, message and the lines of numhlo that it came through last."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{f.filename.rpartition('numhlo/')[2]}:{f.lineno}" for f in reversed(frames))
    return f"{type(error).__name__}: {str(error)[:300]} [{where}]"


def plan_of(compiled: Any, arguments: Sequence[Any]) -> None:
    """Trace and plan a program, which proves the plan, and run nothing."""
    with compiles_nothing():
        compiled.lower(*arguments)._make_entry()  # `compile` waits for kernels


@contextmanager
def compiles_nothing() -> Iterator[None]:
    """Let no kernel be compiled: all answers are NumPy's for what kernels would do."""
    service = compiler_service()
    before = service.submit
    service.submit = lambda kernel, then, *_: Future()
    try:
        yield
    finally:
        service.submit = before
        kernel_cache().orphan_unfinished()


@contextmanager
def waits_for_machine_code() -> Iterator[None]:
    """Compile as usual."""
    yield


def main() -> None:
    """Judge the sources that come, and write verdicts where nobody else writes."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    out.write(READY)
    out.flush()
    for line in sys.stdin:
        verdict = judge(*from_json(line))
        out.write(json.dumps([verdict.kind, verdict.detail]) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
