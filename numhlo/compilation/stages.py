"""The stages between a Python function and machine code, for those who want to look: traced, lowered, compiled.

A stage is fixed when it is made: unlike a call of the jitted function, it is not traced again when captured variables
change. Captured arrays are still read anew at every call of the compiled stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np

from numhlo.compilation.entry import Entry
from numhlo.compilation.explain import explain_entry
from numhlo.compilation.garbage import build
from numhlo.compilation.keys import describe_leaf, leaf_keys
from numhlo.compilation.memory_plan import MemoryPlan, memory_plan
from numhlo.compilation.page_of_text import Page
from numhlo.compilation.reports import MemoryAnalysis, cost_analysis, kernel_sources, memory_analysis
from numhlo.display import program_html
from numhlo.lowering.ir import Function, Module, capture_location
from numhlo.lowering.ir.errors import ArgumentError, SignatureError, UnsupportedError
from numhlo.lowering.ops import control_flow, creation
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.text.printer import print_module
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.python.function_tracing import TracedFunction
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten


class Stage:
    """What stages have in common: each is fixed, so a copy is the stage itself, and belongs to the process it is in."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(
            f"pickling of {self!r}",
            where=capture_location(),
            why="a stage holds the graph or the machine code of this process",
            fix="pickle numhlo.export(fun, ...), which holds the program, or the jitted function, which is traced anew",
        )


class Traced(Stage):
    """A function traced for one signature.

    Attributes
    ----------
    name : str
        The function's.
    module : Module
        The graph. Captured arrays are constants in it, as they are now.
    in_tree, out_tree : PyTreeDef
        Of ``(args, kwargs)`` without what is static, and of the result.
    written : tuple of int
        Numbers of the argument leaves that the function writes into; their new contents are its last results.
    rebound : ReboundItems or None
        What the function does to the items of containers among its arguments.
    has_cuts : bool
        Results have lengths that depend on values: the graph returns them at their greatest, and behind all results
        the lengths.
    """

    def __init__(self, name: str, in_tree: PyTreeDef, traced: TracedFunction, make_entry: Callable[[], Entry]) -> None:
        self.name = name
        self.in_tree, self.out_tree, self.written = in_tree, traced.out_tree, traced.written
        self.rebound, self.has_cuts = traced.rebound, bool(traced.cuts)
        self._traced = traced
        self._make_entry = make_entry

    @cached_property
    def module(self) -> Module:
        """Return the graph as a program; shapes are known without."""
        return Module([_close(self._traced)], f"jit_{self.name}")

    def __repr__(self) -> str:
        return f"<traced {self.name}: {_types(self.module)}>"

    @property
    def out_info(self) -> Any:
        """Return the results' shapes and dtypes in the results' structure."""
        types = [v.tensor for v in self._traced.function.body.returns[: self.out_tree.num_leaves]]
        pairs = zip(types, self._traced.out_weak, strict=True)
        leaves = [ShapeDtypeStruct(t.shape, t.dtype, weak_type=weak) for t, weak in pairs]
        return tree_unflatten(self.out_tree, leaves)

    def as_text(self, *, generic: bool = False) -> str:
        """Return the graph as StableHLO text."""
        return Page(print_module(self.module, generic=generic))

    def _repr_html_(self) -> str:
        return program_html(f"{self.name}, traced", self.module)

    def lower(self) -> Lowered:
        """Return the next stage."""
        return Lowered(self, self._make_entry)


class Lowered(Stage):
    """A function's StableHLO, ready to be compiled.

    Attributes
    ----------
    module : Module
    in_tree, out_tree : PyTreeDef
    out_info : container of ShapeDtypeStruct
        The results' shapes and dtypes in the results' structure.
    """

    def __init__(self, traced: Traced, make_entry: Callable[[], Entry]) -> None:
        self.module = traced.module
        self.in_tree, self.out_tree = traced.in_tree, traced.out_tree
        self.out_info = traced.out_info
        self._make_entry = make_entry

    def __repr__(self) -> str:
        return f"<lowered {self.module.name}: {_types(self.module)}>"

    def as_text(self, *, generic: bool = False) -> str:
        """Return the StableHLO text.

        Parameters
        ----------
        generic : bool, optional
            The generic form of every op instead of the pretty one.
        """
        return Page(print_module(self.module, generic=generic))

    def _repr_html_(self) -> str:
        return program_html(f"{self.module.name}, as StableHLO", self.module)

    def compile(self) -> Compiled:
        """Return the compiled function, once all its kernels are there."""
        return Compiled(build(self._make_entry))


class Compiled(Stage):
    """A function compiled for one signature; called with the arguments that are not static."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        entry.wait()

    def __repr__(self) -> str:
        return f"<compiled {self._entry.signature}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled function.

        Raises
        ------
        SignatureError
            If the arguments are not of its signature.
        """
        leaves, tree = tree_flatten((args, kwargs))
        entry = self._entry
        if tree != entry.key.tree:
            raise SignatureError(
                f"compiled {entry.signature} was called with other arguments",
                where=capture_location(),
                why=f"it takes the structure {entry.key.tree}, got {tree}",
                fix="leave static arguments out: they are part of the compiled function",
            )
        for found, wanted, name in zip(leaf_keys(leaves), entry.key.leaves, entry.names, strict=True):
            if found != wanted:
                raise SignatureError(
                    f"compiled {entry.signature} was called with {name}: {describe_leaf(found)}",
                    where=capture_location(),
                    why="a compiled stage has one signature",
                    fix="call the jitted function instead, which compiles for new ones",
                )
        return entry.run(leaves, (args, kwargs))

    @property
    def module(self) -> Module:
        """Return the optimized program."""
        function = self._entry.program.function
        assert function is not None  # the entry keeps it
        return Module([_named_main(function)], f"jit_{self._entry.name}")

    def as_text(self) -> str:
        """Return the optimized program as StableHLO text."""
        return Page(print_module(self.module))

    def _repr_html_(self) -> str:
        title = f"{self._entry.name}, compiled"
        return program_html(title, self.module, kernels=self.kernels, state=explain_entry(self._entry))

    def cost_analysis(self) -> dict[str, int]:
        """Return estimates for one call, a loop's body counted once: flops, bytes accessed, launches, Python steps."""
        return cost_analysis(self._entry.program)

    def memory_analysis(self) -> MemoryAnalysis:
        """Return the memory that one call takes, in bytes."""
        return memory_analysis(self._entry.program)

    def memory(self) -> MemoryPlan:
        """Return when each buffer of a call is needed; printed, a drawing with a line for each.

        Raises
        ------
        UnsupportedError
            If the function runs on the reference interpreter, which plans nothing.
        """
        executable = self._entry.program.executable
        if executable is None:
            raise UnsupportedError(
                f"the memory of {self._entry.name}, which runs on the reference interpreter",
                where=capture_location(),
                why="only compiled programs are planned",
            )
        return memory_plan(executable.program)

    @property
    def kernels(self) -> dict[str, str]:
        """Return the kernels' Python sources by name."""
        return kernel_sources(self._entry.program)

    def explain(self) -> str:
        """Return how the function runs: its signature, its kernels, its steps with what each fuses, and why no more."""
        return Page("\n".join(explain_entry(self._entry)))


def _types(module: Module) -> str:
    main = module.main
    arguments, results = (", ".join(map(str, types)) for types in (main.argument_types, main.result_types))
    return f"({arguments}) -> ({results})"


def _named_main(function: Function) -> Function:
    return Function("main", function.body, visibility="public")


def _close(traced: TracedFunction) -> Function:
    """Return a public function that takes the arguments only; what was captured is called in as constants."""
    function = traced.function
    if not traced.captures:
        return _named_main(function)
    count = len(function.argument_types) - len(traced.captures)
    b = FunctionBuilder("main", [v.tensor for v in function.body.arguments[:count]])
    consts = [b.op(creation.CONSTANT, value=np.array(c, order="C")) for c in _arrays(traced.captures)]
    results = b.ops(control_flow.CALL, *b.arguments, *consts, callee=function)
    main = b.finish(results)
    main.visibility = "public"
    return main


def _arrays(captures: Sequence[Any]) -> list[np.ndarray]:
    arrays = [c for c in captures if isinstance(c, np.ndarray)]
    if len(arrays) != len(captures):
        raise ArgumentError(
            "a stage was made inside another traced function, whose arrays this one captures",
            where=capture_location(),
            fix="pass the arrays as arguments, or make the stage outside",
        )
    return arrays
