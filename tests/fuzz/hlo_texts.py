"""The fuzzer of HLO texts: mutants must be read, or refused with an error of ours, within a second.

``python -m tests.fuzz.hlo_texts --minutes 10 --seed 1`` is its long form, as that of `texts`; `test_hlo_texts` its short one.
"""

from __future__ import annotations

import random
import re
import sys
from functools import cache

from numhlo import stablehlo
from numhlo.lowering.hlo import print_hlo
from numhlo.lowering.hlo.tables import READ
from numhlo.lowering.ir.errors import NumhloError, UnsupportedError
from tests.fuzz import mutations
from tests.fuzz.batches import Find, run_command, without_place
from tests.lowering.hlo.texts import TEXTS
from tests.lowering.text.programs import MODULES

LONGEST = 2500
"""Characters of the programs that are mutated: small ones, for many mutants a second."""

TYPE = re.compile(r"[a-z]\w*\[[^\]]*\](?:\{[^{}]*\})?")
OPCODE = re.compile(r"[a-z][a-z-]*(?=\()")
ATTRIBUTE = re.compile(r", ([\w-]+=(?:\{[^{}]*\}|[\w.%-]+|\"[^\"]*\"))")
NAME = re.compile(r"%?[a-z_][\w.-]*")

TYPES = [
    "f32[]", "f32[4]", "f32[2,3]{0,1}", "f32[2,3]{1,0:T(8,128)}", "token[]", "()", "(f32[], (s32[]))", "pred[4]", "s4[4]",
    "c64[2,3]", "f32[<=4]", "f32[?]", "f32[0]", "f32[9223372036854775807]", "f32[4294967296,4294967296]", "u8[99999999999999999999]",
    "f8e4m3fn[4]", "f33[2]", "f32[2,3]{5,6}", "f32[" + "1," * 70 + "1]", "opaque[]", "f32[-1]", "f32[4]{0:" + "(" * 50 + "}",
]  # fmt: skip
WORDS = [
    "HloModule", "ENTRY", "ROOT", "%", "->", "{", "}", "(", ")", "{...}", "/*", "*/", "//", '"', "constant(", "parameter(0)",
    "parameter(99999999)", "calls=", "to_apply=", "dimensions={0}", "metadata={", "backend_config={", "replica_groups=[2]<=[2]",
    "window={size=2}", "dim_labels=b0f_0io->b0f", "FileNames", "StackFrames", "1_1x2_2", "<=", "nan(0x1)", "-inf", "=", ",", ":",
]  # fmt: skip
OPCODES = sorted(READ)


@cache
def programs() -> tuple[str, ...]:
    """Return the texts that are mutated."""
    texts = [*TEXTS]
    for module in MODULES.values():
        try:
            texts += [print_hlo(module), print_hlo(module, locations=True)]
        except UnsupportedError:  # what HLO has no form of
            continue
    return tuple(sorted({text for text in texts if len(text) <= LONGEST}))


def _replaced(pattern: re.Pattern[str], text: str, generator: random.Random, new: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = generator.choice(found)
    return text[: match.start()] + new + text[match.end() :]


def types(text: str, generator: random.Random, texts: tuple[str, ...]) -> str:
    """Replace a type."""
    return _replaced(TYPE, text, generator, generator.choice(TYPES))


def opcodes(text: str, generator: random.Random, texts: tuple[str, ...]) -> str:
    """Replace an opcode."""
    return _replaced(OPCODE, text, generator, generator.choice(OPCODES) + generator.choice(["", "", "-start", "-done"]))


def attributes(text: str, generator: random.Random, texts: tuple[str, ...]) -> str:
    """Replace an attribute by another text's."""
    others = ATTRIBUTE.findall(generator.choice(texts)) or ["odd=1"]
    return _replaced(ATTRIBUTE, text, generator, f", {generator.choice(others)}")


def names(text: str, generator: random.Random, texts: tuple[str, ...]) -> str:
    """Replace a name by another one of the text."""
    found = NAME.findall(text) or ["x"]
    return _replaced(NAME, text, generator, generator.choice(found))


def words(text: str, generator: random.Random, texts: tuple[str, ...]) -> str:
    """Put a word somewhere."""
    place = generator.randrange(len(text) + 1)
    return f"{text[:place]} {generator.choice(WORDS)} {text[place:]}"


MUTATIONS = (
    mutations.characters, mutations.octets, mutations.tokens, mutations.lines, mutations.subtrees, mutations.subtrees,
    mutations.numbers, mutations.numbers, types, types, opcodes, opcodes, attributes, attributes, names, names, words,
)  # fmt: skip


def mutant(seed: int, number: int) -> str:
    """Return the text of a number; the same for the same seed and number."""
    generator, texts = random.Random(f"{seed}/{number}"), programs()
    text = generator.choice(texts)
    for _ in range(generator.choice((1, 1, 1, 2, 2, 3, 4))):
        text = generator.choice(MUTATIONS)(text, generator, texts)
    return text


def outcome(text: str) -> str:
    """Return what becomes of a text: ``"program"``, or why it is refused.

    Raises
    ------
    Find
        If what is printed of a program, as StableHLO or as HLO, is refused or another program.
    """
    try:
        module = stablehlo.from_hlo(text)
    except NumhloError as error:
        return f"refused: {error}"
    printed = module.as_text()
    try:
        again = stablehlo.parse(printed).as_text()
    except NumhloError as error:
        raise Find(f"printed StableHLO is refused: {without_place(error)}") from error
    if again != printed:
        raise Find("printed StableHLO is another program")
    try:
        module.verify()
    except NumhloError as error:
        return f"not verified: {error}"
    try:
        written = module.as_hlo_text()
    except UnsupportedError as error:
        return f"not written: {error}"
    try:
        second = stablehlo.from_hlo(written).as_hlo_text()
        if stablehlo.from_hlo(second).as_hlo_text() != second:
            raise Find("written HLO is another program")
    except NumhloError as error:
        raise Find(f"written HLO is refused: {without_place(error)}") from error
    return "program"


if __name__ == "__main__":
    sys.exit(run_command("tests.fuzz.hlo_texts", __doc__, mutant, outcome))
