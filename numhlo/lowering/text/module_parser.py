"""Reading a whole text: modules, functions, aliases; and the public `parse`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Function, Module, Type
from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.text.attribute_printer import print_dictionary, print_name
from numhlo.lowering.text.foreign import ForeignLine, Signature
from numhlo.lowering.text.parser import RETURNS, Parser
from numhlo.lowering.text.printer import PREAMBLE
from numhlo.lowering.text.shape_meanings import stands_for
from numhlo.lowering.text.unregistered import fill_declaration

_VISIBILITIES = ("public", "private", "nested")
_MODULE_WORDS = frozenset({"module", "builtin.module"})
_MODULES = _MODULE_WORDS | {'"builtin.module"'}
_DEFINITIONS = frozenset(_MODULES | {"func.func", '"func.func"'})
_GLOBAL = "ml_program.global"
_BYTECODE = "ML\xefR"


class ModuleParser(Parser):
    """Reads a text from its first token to its last.

    Attributes
    ----------
    definitions : frozenset of str
        Tokens that define a function or a module.
    """

    definitions: ClassVar[frozenset[str]] = _DEFINITIONS

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.module = Module([])
        self._definitions = [k for k, token in enumerate(self.tokens) if token in self.definitions]
        self._names = [k for k, token in enumerate(self.tokens) if token == "sym_name"]
        self._find_aliases()
        self.functions = self._functions_between(0, len(self.tokens))

    # -- what may be used before it is defined

    def _find_aliases(self) -> None:
        """Note where ``#name = ...`` and ``!name = ...`` stand."""
        for index, token in enumerate(self.tokens):
            if token == "=" and index and self.tokens[index - 1][0] in "#!":
                name = self.tokens[index - 1]
                table = self.aliases if name[0] == "#" else self.type_aliases
                table.setdefault(name, index + 1)

    def _functions_between(self, first: int, last: int) -> dict[str, Function]:
        """Make a function, still empty, for every definition between two tokens that is in no module there."""
        behind, functions = self.index, dict[str, Function]()
        number = bisect_left(self._definitions, first)
        while number < len(self._definitions) and self._definitions[number] < last:
            index = self._definitions[number]
            if self.tokens[index] in _MODULES:
                number = max(number + 1, bisect_left(self._definitions, self._end_of(self._body_of(index))))
                continue
            name = self._name_of(index)
            if name in functions:
                raise self.complaint(f"function @{name} is defined twice", index)
            if name is not None:
                functions[name] = Function(name)
            number += 1
        self.index = behind
        return functions

    def _name_of(self, index: int) -> str | None:
        """Return the name of the function that is defined at a token."""
        tokens, self.index = self.tokens, index + 1
        if tokens[index] == "func.func":
            if self.token in _VISIBILITIES:
                self.advance()
            return self.parse_symbol() if self.token[:1] == "@" else None
        number = bisect_left(self._names, index)
        self.index = self._names[number] + 2 if number < len(self._names) else len(tokens) - 1
        is_name = self.token[:1] == '"' and tokens[self.index - 1] == "="
        return self.parse_string() if is_name else None

    def _body_of(self, index: int) -> int:
        """Return the token that opens the body of the module that is defined at one."""
        tokens, start = self.tokens, index + 1
        if tokens[index][0] == '"':
            has_properties = tokens[start + 2 : start + 4] == ["<", "{"]
            return self._end_of(start + 3) + 3 if has_properties else start + 3
        start += tokens[start][:1] == "@"
        return self._end_of(start + 1) + 1 if tokens[start : start + 1] == ["attributes"] else start

    def _end_of(self, index: int) -> int:
        """Return the token that closes the brace at one, or the end of the text where none does."""
        return self._closing.get(index, len(self.tokens) - 1)

    @cached_property
    def _closing(self) -> dict[int, int]:
        opened, closing = [], {}
        for index, token in enumerate(self.tokens):
            if token == "{":
                opened.append(index)
            elif token == "}" and opened:
                closing[opened.pop()] = index
        return closing

    # -- the top level

    def parse_text(self) -> Module:
        """Read the whole text."""
        if not self.token:
            raise self.error("a module or a function")
        while self.token:
            self._parse_top_level()
        self.settle_locations()
        whole = self.module
        is_one = len(whole.modules) == 1 and len(whole.functions) == len(whole.modules[0].functions)
        return whole.modules[0] if is_one and not whole.attributes else whole

    def _parse_top_level(self) -> None:
        token = self.token
        if token in _MODULE_WORDS:
            self._parse_module()
        elif token == '"builtin.module"':
            self._parse_generic_module()
        elif token == "func.func":
            self._parse_function()
        elif token == '"func.func"':
            self._parse_generic_function()
        elif token[0] in "#!" and self.token_at(1) == "=":
            self._skip_alias()
        elif token == "{-#":
            self.index = len(self.tokens) - 1
        elif token in {"sdy.mesh", '"sdy.mesh"'}:
            self._keep_mesh()
        elif token == _GLOBAL:
            self._skip_global()
        elif token.startswith('"vhlo.'):
            raise self.complaint("this is VHLO, which numhlo.stablehlo.parse reads")
        else:
            raise self.error("a module, a function or an alias")

    def _skip_alias(self) -> None:
        is_type = self.advance()[0] == "!"
        self.expect("=")
        if is_type:
            self.parse_type()
        elif self.at("loc"):
            self.parse_location()
        else:
            self.parse_attribute()

    def _skip_global(self) -> None:
        """Go past a variable: its value is read where it is loaded."""
        self._go_to_value()
        self.skip_balanced()
        self.expect(":")
        self.parse_type()
        self.parse_location_of(UNKNOWN)

    def _go_to_value(self) -> str:
        """Go to the bracket around the value of the global that is defined at the current token; return its name."""
        self.advance()
        while self.token in {*_VISIBILITIES, "mutable"}:
            self.advance()
        name = self.parse_symbol()
        if not self.at("("):
            raise self.complaint(f"the variable @{name} has no value")
        return name

    def find_global(self, name: str, index: int) -> np.ndarray:
        """Return the value of a variable, wherever it is defined; ``index`` is where it is loaded."""
        place = self._globals.get(name)
        if place is None:
            raise self.complaint(f"variable @{name} is not defined in this text", index)
        behind, self.index = self.index, place
        self._go_to_value()
        self.expect("(")
        value, _ = self.parse_dense()
        self.index = behind
        return value

    @cached_property
    def _globals(self) -> dict[str, int]:
        behind, places = self.index, {}
        for place in [k for k, token in enumerate(self.tokens) if token == _GLOBAL]:
            self.index = place
            places[self._go_to_value()] = place
        self.index = behind
        return places

    def _keep_mesh(self) -> None:
        """Keep a device mesh as text: shardings refer to it, numbers don't depend on it."""
        first = self.index
        if self.advance()[0] == '"':
            text = self._parse_generic_mesh()
        else:
            self.parse_symbol()
            self.expect("=")
            self.skip_balanced()
            if self.at("{"):
                self.skip_balanced()
            last = self.index - 1
            text = self.text[self.starts[first] : self.starts[last] + len(self.tokens[last])]
        location = self.parse_location() if self.at("loc") else UNKNOWN
        self.module.attributes.setdefault(PREAMBLE, ())
        self.module.attributes[PREAMBLE] += (ForeignLine(text, location),)

    def _parse_generic_mesh(self) -> str:
        """Read ``"sdy.mesh"() <{mesh = #sdy.mesh<...>, sym_name = "mesh"}> : () -> ()``; return its other form."""
        self.expect("(", ")")
        attributes = self._parse_properties() | (self.parse_dictionary() if self.at("{") else {})
        self.parse_signature(())
        name, mesh = attributes.pop("sym_name", None), str(attributes.pop("mesh", ""))
        if not isinstance(name, str) or not mesh.startswith("#sdy.mesh<"):
            raise self.complaint("sdy.mesh needs the attributes sym_name and mesh")
        rest = (
            f" {print_dictionary(attributes.items(), lambda function: f'@{print_name(function.name)}')}"
            if attributes
            else ""
        )
        return f"sdy.mesh @{print_name(name)} = {mesh.removeprefix('#sdy.mesh')}{rest}"

    def _parse_module(self) -> None:
        self.enter()
        self.advance()
        module = Module([], self.parse_symbol() if self.token[:1] == "@" else "")
        if self.accept("attributes"):
            module.attributes = self.parse_dictionary()
        self._parse_module_body(module)
        module.location = self.parse_location_of(module.location)
        self.depth -= 1

    def _parse_generic_module(self) -> None:
        self.enter()
        self.advance()
        self.expect("(", ")")
        attributes = self._parse_properties()
        module = Module([])
        self.expect("(")
        self._parse_module_body(module)
        self.expect(")")
        attributes |= self.parse_dictionary() if self.at("{") else {}
        module.name = str(attributes.pop("sym_name", ""))
        module.attributes = attributes | module.attributes
        self.parse_signature(())
        module.location = self.parse_location_of(module.location)
        self.depth -= 1

    def _parse_module_body(self, module: Module) -> None:
        """Read what a module holds: its functions are known in it alone."""
        outer, known = self.module, self.functions
        self.module, self.functions = module, self._functions_between(self.index, self._end_of(self.index))
        self.expect("{")
        if self.token[:1] == "^":
            self.parse_label()
        while not self.accept("}"):
            if not self.token:
                raise self.error("'}'")
            self._parse_top_level()
        outer.modules.append(module)
        outer.functions += module.functions
        self.module, self.functions = outer, known

    def _parse_properties(self) -> dict[str, Any]:
        if not self.accept("<"):
            return {}
        attributes = self.parse_dictionary()
        self.expect(">")
        return attributes

    # -- functions

    def _parse_function(self) -> None:
        self.advance()
        visibility = self.advance() if self.token in _VISIBILITIES else ""
        name = self.parse_symbol()
        function = self._open(name, visibility)
        arguments, argument_attributes = self._parse_function_arguments()
        results, result_attributes = self._parse_function_results()
        if self.accept("attributes"):
            function.attributes = self.parse_dictionary()
        if self.at("{"):
            self._parse_function_body(function, arguments, results)
        else:
            fill_declaration(function, [type for _, type in arguments], results)
        _set_attributes(function, argument_attributes, result_attributes)
        function.location = self.parse_location_of(function.location)

    def _open(self, name: str, visibility: str) -> Function:
        function = self.functions.setdefault(name, Function(name))
        function.visibility = visibility
        function.location = self.location(self.index - 1)
        self.module.functions.append(function)
        return function

    def _parse_function_arguments(self) -> tuple[list[tuple[str, Type]], list[dict[str, Any]]]:
        """Read ``(%a: type {attributes}, ...)``, or types without names."""
        arguments: list[tuple[str, Type]] = []
        attributes: list[dict[str, Any]] = []
        self.expect("(")
        while not self.accept(")"):
            if arguments:
                self.expect(",")
            name = ""
            if self.token[:1] == "%":
                name = self.parse_value_name()
                self.expect(":")
            arguments.append((name, self.parse_type()))
            attributes.append(self.parse_dictionary() if self.at("{") else {})
            self.parse_argument_location(name)
        return arguments, attributes

    def _parse_function_results(self) -> tuple[list[Type], list[dict[str, Any]]]:
        if not self.accept("->"):
            return [], []
        if not self.accept("("):
            bare = [self.parse_type()]
            while self.accept(","):
                bare.append(self.parse_type())
            return bare, []
        types: list[Type] = []
        attributes: list[dict[str, Any]] = []
        while not self.accept(")"):
            if types:
                self.expect(",")
            types.append(self.parse_type())
            attributes.append(self.parse_dictionary() if self.at("{") else {})
        return types, attributes

    def _parse_function_body(
        self, function: Function, arguments: Sequence[tuple[str, Type]], results: Sequence[Type]
    ) -> None:
        if any(not name for name, _ in arguments):
            raise self.complaint("the arguments of a function with a body need names")
        scope = len(self._defined)
        self.expect("{")
        if self.token[:1] == "^":
            self.parse_label()
        self.fill(function.body, arguments, RETURNS)
        self._check_results(function, results)
        self.expect("}")
        self.forget(scope)

    def _check_results(self, function: Function, results: Sequence[Type]) -> None:
        returns = function.body.returns
        fits = len(returns) == len(results) and all(
            value.type == type or (value in self.standing and stands_for(value, type))
            for value, type in zip(returns, results, strict=True)
        )
        if not fits:
            returned, declared = (", ".join(map(str, types)) for types in (function.result_types, results))
            raise self.complaint(
                f"@{function.name} returns ({returned}), its signature says ({declared})", self.index - 1
            )

    def _parse_generic_function(self) -> None:
        """Read ``"func.func"() <{...}> ({...}) : () -> ()``."""
        first = self.index
        self.advance()
        self.expect("(", ")")
        attributes = self._parse_properties()
        body = self.index
        self.expect("(")
        self.skip_balanced()
        self.expect(")")
        attributes.update(self.parse_dictionary() if self.at("{") else {})
        self.parse_signature(())
        place = self.parse_location_of(self.location(first))
        behind, self.index = self.index, body
        name, signature = attributes.pop("sym_name", None), attributes.pop("function_type", None)
        if not isinstance(name, str) or name not in self.functions or not isinstance(signature, Signature):
            raise self.complaint("func.func needs sym_name and function_type", first)
        visibility = attributes.pop("sym_visibility", "")
        if visibility not in ("", *_VISIBILITIES):
            raise self.complaint(f"sym_visibility must be one of {', '.join(_VISIBILITIES)}", first)
        function = self._open(name, visibility)
        function.location = place
        self._parse_generic_body(function, signature)
        argument_attributes, result_attributes = attributes.pop("arg_attrs", ()), attributes.pop("res_attrs", ())
        if not are_dictionaries(argument_attributes) or not are_dictionaries(result_attributes):
            raise self.complaint("attributes of arguments and results must be dictionaries", first)
        _set_attributes(function, argument_attributes, result_attributes)
        function.attributes = attributes
        self.index = behind

    def _parse_generic_body(self, function: Function, signature: Signature) -> None:
        self.expect("(", "{")
        if self.accept("}"):
            fill_declaration(function, signature.arguments, signature.results)
            return
        scope, first = len(self._defined), self.index
        arguments = self.parse_label() if self.token[:1] == "^" else []
        if tuple(type for _, type in arguments) != signature.arguments:
            raise self.complaint(f"the label's arguments are not those of {signature}", first)
        self.fill(function.body, arguments, RETURNS)
        self._check_results(function, signature.results)
        self.expect("}")
        self.forget(scope)


def are_dictionaries(given: Any) -> bool:
    """Return whether attributes of arguments or results are what they must be."""
    return isinstance(given, tuple) and all(isinstance(item, dict) for item in given)


def _set_attributes(
    function: Function, arguments: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]
) -> None:
    function.argument_attributes = [dict(item) for item in arguments] if any(arguments) else []
    function.result_attributes = [dict(item) for item in results] if any(results) else []


def parse(text: str, name: str = "<string>", *, strict: bool = False) -> Module:
    """Return the module that a StableHLO text spells.

    Parameters
    ----------
    text : str
        One module, or functions without one; ops in the generic or in their pretty form.
    name : str
        The text's name (its file), for messages and for the ops' locations.
    strict : bool, optional
        Refuse floats that are out of the range of their type, instead of making them infinite.

    Returns
    -------
    Module
        With all functions of the text, in its order. Ops that numhlo does not know are kept, and refuse to run.

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret.

    Examples
    --------
    >>> parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }").main
    <function @main(tensor<f32>) -> (tensor<f32>)>
    """
    if text.startswith(("ML\\xefR", _BYTECODE)):
        raise ParseError(
            f"{name} is MLIR bytecode, not text",
            fix="print it as text first: for a jax.export artifact, str(exported.mlir_module())",
        )
    if text.lstrip().startswith("HloModule"):
        raise ParseError(f"{name} is XLA's own HLO text, not StableHLO", fix="numhlo.stablehlo.from_hlo reads it")
    parser = ModuleParser(text, name)
    parser.strict = strict
    return parser.parse_text()
