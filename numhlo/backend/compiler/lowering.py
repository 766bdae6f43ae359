"""Direct lowering: the kernel IR to LLVM's, in one pass, by Numba's typing context, registry and code generator.

Numba's own front end would make bytecode of kernel text, a control flow graph of that, static single assignment, and
then infer what the types are: all of which stands in the IR. Loops are given the form that Numba gives to a `range`, a
count of iterations that goes down beside the counter that goes up: LLVM sees from it that the loop ends, and how often
it runs. Next: `numba_target` has what a call becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import cgutils

from numhlo.backend.compiler.interleaving import gains_by_interleaving
from numhlo.backend.compiler.numba_target import WORD, NumbaTarget
from numhlo.backend.compiler.pipelines import KernelLibrary
from numhlo.backend.kernels import ir

FLAG = llvm_ir.IntType(1)


@lru_cache
def numba_target() -> NumbaTarget:
    """Return the process's only target."""
    return NumbaTarget()


def lower(module: ir.Module, target: NumbaTarget) -> KernelLibrary:
    """Return the library with a module's LLVM code, whose kernel is a function of its name.

    Raises
    ------
    UnreadableError
        If Numba's code for some call needs what kernels don't have.
    """
    library = target.library(module.name)
    library.interleaves = gains_by_interleaving(module.callees)
    code = library.create_ir_module(module.name)
    functions: dict[ir.Function, llvm_ir.Function] = {}
    with target.linking(library):
        for function in module.functions:
            functions[function] = _FunctionLowering(target, code, functions, function, function is module.entry).run()
    library.add_ir_module(code)
    return library


class _FunctionLowering:
    """Lowers one function.

    Attributes
    ----------
    held : dict
        The values of variables that never change, and the stack slots of those that do.
    loops : list of (block, block)
        For each open loop, where `Continue` and `Break` go.
    """

    def __init__(
        self,
        target: NumbaTarget,
        code: llvm_ir.Module,
        functions: dict[ir.Function, llvm_ir.Function],
        function: ir.Function,
        is_entry: bool,
    ) -> None:
        self.target = target
        self.functions = functions
        self.function = function
        self.is_entry = is_entry
        result = WORD if is_entry else target.llvm_type(function.result)
        types = [target.llvm_type(parameter.type) for parameter in function.parameters]
        name = function.name if is_entry else f"{function.name}.{len(functions)}"
        self.made = llvm_ir.Function(code, llvm_ir.FunctionType(result, types), name)
        if not is_entry:
            self.made.linkage = "internal"
            self.made.attributes.add("alwaysinline")
        self.builder = llvm_ir.IRBuilder(self.made.append_basic_block("entry"))
        self.held: dict[ir.Variable, llvm_ir.Value] = {}
        self.loops: list[tuple[llvm_ir.Block, llvm_ir.Block]] = []

    def run(self) -> llvm_ir.Function:
        """Return the LLVM function."""
        for parameter, value in zip(self.function.parameters, self.made.args, strict=True):
            value.name = parameter.name
            self.held[parameter] = value
        self.block(self.function.body)
        if not self.builder.block.is_terminated:
            self._return(None)
        return self.made

    def block(self, statements: list[ir.Statement]) -> None:
        """Lower statements; those behind one that leaves the block never run."""
        for statement in statements:
            if self.builder.block.is_terminated:
                return
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        """Lower one statement."""
        STATEMENTS[type(statement)](self, statement)

    def value(self, node: ir.Expression) -> llvm_ir.Value:
        """Lower an expression."""
        return EXPRESSIONS[type(node)](self, node)

    def let(self, statement: ir.Let) -> None:
        """Keep the value of a variable that never changes."""
        self.held[statement.variable] = self.value(statement.value)

    def assign(self, statement: ir.Assign) -> None:
        """Store the value of a variable that changes."""
        self.builder.store(self.value(statement.value), self._slot(statement.variable))

    def evaluate(self, statement: ir.Evaluate) -> None:
        """Lower an expression for its effects."""
        self.value(statement.value)

    def leave_loop(self, _statement: ir.Break) -> None:
        """Go behind the innermost loop."""
        self.builder.branch(self.loops[-1][1])

    def next_iteration(self, _statement: ir.Continue) -> None:
        """Go to the head of the innermost loop."""
        self.builder.branch(self.loops[-1][0])

    def leave(self, statement: ir.Return) -> None:
        """Return from the function."""
        self._return(statement.value)

    def _slot(self, variable: ir.Variable) -> llvm_ir.Value:
        slot = self.held.get(variable)
        if slot is None:
            slot = self.held[variable] = cgutils.alloca_once(self.builder, self.target.llvm_type(variable.type))
        return slot

    def _return(self, value: ir.Expression | None) -> None:
        builder = self.builder
        if value is None and not self.is_entry:
            builder.ret_void()
        elif value is None:
            builder.ret(WORD(0))
        elif not self.is_entry:
            builder.ret(self.value(value))
        elif isinstance(value.type, ir.Number) and value.type.is_integer:
            builder.ret(self.target.cast(builder, self.value(value), value.type, ir.INT64))
        else:  # what returns no integer returns 0
            self.value(value)
            builder.ret(WORD(0))

    def store(self, statement: ir.Store) -> None:
        """Store an element of memory."""
        operands = (statement.pointer, statement.index, statement.value)
        callee = self.target.store_of(statement.storage, statement.rounded)
        self.target.call(self.builder, callee, operands, [self.value(operand) for operand in operands])

    def loop(self, loop: ir.For) -> None:
        """Lower a loop over a range."""
        builder, counter_type = self.builder, self.target.llvm_type(loop.counter.type)
        start, stop, step = (
            self.target.cast(builder, self.value(bound), bound.type, loop.counter.type)
            for bound in (loop.start, loop.stop, loop.step)
        )
        left = cgutils.alloca_once(builder, counter_type)
        counter = cgutils.alloca_once(builder, counter_type)
        builder.store(start, counter)
        builder.store(_iterations(builder, start, stop, step), left)
        head, body, end = (self.made.append_basic_block(name) for name in ("for.head", "for.body", "for.end"))
        builder.branch(head)
        builder.position_at_end(head)
        count = builder.load(left)
        builder.cbranch(builder.icmp_signed(">", count, counter_type(0)), body, end)
        builder.position_at_end(body)
        value = self.held[loop.counter] = builder.load(counter)
        builder.store(builder.sub(count, counter_type(1), flags=["nsw"]), left)
        builder.store(builder.add(value, step), counter)
        self._loop_body(loop.body, head, end)

    def loop_while(self, loop: ir.While) -> None:
        """Lower a loop with a condition."""
        head, body, end = (self.made.append_basic_block(name) for name in ("while.head", "while.body", "while.end"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self.value(loop.condition), body, end)
        self.builder.position_at_end(body)
        self._loop_body(loop.body, head, end)

    def _loop_body(self, body: list[ir.Statement], head: llvm_ir.Block, end: llvm_ir.Block) -> None:
        self.loops.append((head, end))
        self.block(body)
        self.loops.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(head)
        self.builder.position_at_end(end)

    def choose(self, statement: ir.If) -> None:
        """Lower a choice of blocks."""
        builder = self.builder
        then, end = self.made.append_basic_block("if.then"), self.made.append_basic_block("if.end")
        otherwise = self.made.append_basic_block("if.else") if statement.otherwise else end
        builder.cbranch(self.value(statement.condition), then, otherwise)
        for start, block in ((then, statement.then), (otherwise, statement.otherwise)):
            if start is end:
                continue
            builder.position_at_end(start)
            self.block(block)
            if not builder.block.is_terminated:
                builder.branch(end)
        builder.position_at_end(end)

    def constant(self, node: ir.Constant) -> llvm_ir.Value:
        """Return the value of a literal."""
        return self.target.constant(self.builder, node)

    def read(self, node: ir.Read) -> llvm_ir.Value:
        """Return the value of a variable."""
        variable = node.variable
        return self.builder.load(self._slot(variable)) if variable.mutable else self.held[variable]

    def load(self, node: ir.Load) -> llvm_ir.Value:
        """Load an element of memory."""
        operands = (node.pointer, node.index)
        values = [self.value(node.pointer), self.value(node.index)]
        return self.target.call(self.builder, self.target.load_of(node.storage), operands, values)

    def call(self, node: ir.Call) -> llvm_ir.Value:
        """Call a function of the module, or emit what a primitive becomes."""
        values = [self.value(operand) for operand in node.operands]
        if isinstance(node.callee, ir.Function):
            return self.builder.call(self.functions[node.callee], values)
        return self.target.call(self.builder, node.callee, node.operands, values)

    def part(self, node: ir.Part) -> llvm_ir.Value:
        """Return the real or the imaginary part of a complex number."""
        return self.builder.extract_value(self.value(node.operand), ir.PARTS.index(node.name))

    def negate(self, node: ir.Not) -> llvm_ir.Value:
        """Return the negation of a boolean."""
        return self.builder.not_(self.value(node.operand))

    def logical(self, node: ir.Logical) -> llvm_ir.Value:
        """Lower what decides from left to right."""
        builder, slot = self.builder, cgutils.alloca_once(self.builder, FLAG)
        end = self.made.append_basic_block("logical.end")
        for operand in node.operands[:-1]:
            value = self.value(operand)
            builder.store(value, slot)
            following = self.made.append_basic_block("logical.next")
            builder.cbranch(value, *((following, end) if node.is_and else (end, following)))
            builder.position_at_end(following)
        builder.store(self.value(node.operands[-1]), slot)
        builder.branch(end)
        builder.position_at_end(end)
        return builder.load(slot)

    def conditional(self, node: ir.Conditional) -> llvm_ir.Value:
        """Lower a choice of values."""
        builder, slot = self.builder, cgutils.alloca_once(self.builder, self.target.llvm_type(node.type))
        then, otherwise, end = (self.made.append_basic_block(f"value.{name}") for name in ("then", "else", "end"))
        builder.cbranch(self.value(node.condition), then, otherwise)
        for start, value in ((then, node.then), (otherwise, node.otherwise)):
            builder.position_at_end(start)
            builder.store(self.value(value), slot)
            builder.branch(end)
        builder.position_at_end(end)
        return builder.load(slot)


STATEMENTS: Mapping[type, Callable[[_FunctionLowering, Any], None]] = {
    ir.Let: _FunctionLowering.let,
    ir.Assign: _FunctionLowering.assign,
    ir.Store: _FunctionLowering.store,
    ir.Evaluate: _FunctionLowering.evaluate,
    ir.For: _FunctionLowering.loop,
    ir.While: _FunctionLowering.loop_while,
    ir.If: _FunctionLowering.choose,
    ir.Break: _FunctionLowering.leave_loop,
    ir.Continue: _FunctionLowering.next_iteration,
    ir.Return: _FunctionLowering.leave,
}
EXPRESSIONS: Mapping[type, Callable[[_FunctionLowering, Any], llvm_ir.Value]] = {
    ir.Constant: _FunctionLowering.constant,
    ir.Read: _FunctionLowering.read,
    ir.Load: _FunctionLowering.load,
    ir.Call: _FunctionLowering.call,
    ir.Part: _FunctionLowering.part,
    ir.Logical: _FunctionLowering.logical,
    ir.Not: _FunctionLowering.negate,
    ir.Conditional: _FunctionLowering.conditional,
}


def _iterations(builder: Any, start: llvm_ir.Value, stop: llvm_ir.Value, step: llvm_ir.Value) -> llvm_ir.Value:
    """Emit how many times a range's loop runs, not above 0 if it does not; a step of zero gives none.

    A step of one needs no more than the difference, and LLVM does without this count then. Were it cut off at 0, as
    Numba does it, LLVM would keep both counters wherever it finds no test before that.
    """
    type = start.type
    zero, one = type(0), type(1)
    distance = builder.sub(stop, start)
    if isinstance(step, llvm_ir.Constant) and step.constant == 1:
        return distance
    ahead = builder.icmp_signed(">", distance, zero)
    runs = builder.not_(builder.xor(ahead, builder.icmp_signed(">", step, zero)))
    divisor = step
    if not isinstance(step, llvm_ir.Constant):
        nonzero = builder.icmp_signed("!=", step, zero)
        runs, divisor = builder.and_(runs, nonzero), builder.select(nonzero, step, one)
    rest = builder.srem(distance, divisor)
    rest = builder.select(ahead, rest, builder.neg(rest))
    more = builder.select(builder.icmp_signed(">", rest, zero), one, zero)
    return builder.select(runs, builder.add(builder.sdiv(distance, divisor), more), zero)
