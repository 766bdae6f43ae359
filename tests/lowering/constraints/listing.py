"""The list of all constraints that the StableHLO specification numbers, taken from its text.

``python -m tests.lowering.constraints.listing FILE`` writes `listed.tsv` anew from the specification as plain text, in
English or in its Indonesian translation, so that no constraint is left out by hand. Each line of it holds an op (or a
kind of types or constants), the constraint's number, and the beginning of what it says.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("listed.tsv")
_CONSTRAINT = re.compile(r"^- (?:.*?:)?-? ?\((C\d+)\) ?(\S.*)$")
_TITLES = ("Semantik", "Semantics")
_OPERATIONS = ("Operasi", "Ops")
_BEFORE_OPS = {
    "quantized types": "type(storage_min) = storage_type",
    "integer constants": "is_wellformed(integer_literal",
    "float constants": "is_wellformed(float_literal",
    "complex constants": "is_wellformed(real_part",
    "tensor constants": "has_syntax(tensor_literal, element",
    "quantized constants": "has_syntax(quantized_tensor_literal",
}
_ENGLISH = {
    "ditentukan sebagai": "is defined as",
    "didefinisikan sebagai": "is defined as",
    "ditentukan oleh implementasi": "implementation-defined",
    "diberikan oleh": "is given by",
    "memiliki jenis": "has type ",
    "memiliki bentuk yang sama": "have the same shape",
    "memilikibaseline_element_typeyang sama": " have the same baseline_element_type",
    "adalah permutasi dari": "is a permutation of ",
    "jika tidak, ": "otherwise ",
    "kecuali ukuran dimensi": "except that the dimension sizes of ",
    "yang sesuai dengan": "corresponding to ",
    "tidak disertakan": "are not included",
    "kecuali untuk": "except for ",
    "kecuali": "except",
    "untuk semua": "for all ",
    "Untuk semua": "For all ",
    "denganN": "where N ",
    ", dengan": ", where ",
    "dengan": "where ",
    "Dengan": "With",
    "Diberikan": "Given",
    "tidak ada dalam": "is not in ",
    "Jika notasi non-heksadesimal digunakan,": "If non-hexadecimal notation is used, is_wellformed(float_literal, float_type).",
    "Jika notasi heksadesimal digunakan,": "If hexadecimal notation is used, size(hexadecimal_digits) = num_bits(float_type) / 4.",
    "Hubungan antara jenis elemen operanddanresultbervariasi": "The element types of operand and result follow fft_type",
    "Hubungan antara shape(a)danshape(b)": "The relationship between shape(a) and shape(b) ",
    "Jika di antara operanddanresult, ada tensorrealdari jenis floating point, maka": "With real, the one of operand "
    "and result that is of floats, ",
    "makasize": "then size",
    "maka": "then ",
    "Jika": "If",
    "jika": "if ",
    " atau": " or ",
    ", dan": ", and ",
    "dan": " and ",
    "diaxes": "d in axes",
    "sebagai berikut": "as follows",
    "di[": "in [",
}


def _said(text: str) -> str:
    """Return the beginning of what a constraint says, in English."""
    for old, new in _ENGLISH.items():
        text = text.replace(old, new)
    first = re.split(r":- |:-$|:$", " ".join(text.split()))[0]
    spaced = re.sub(r"(?<=[\w)>])(have the|has type|where|except|is not in|is defined|d in)", r" \1", first)
    return spaced.removesuffix("where").rstrip(". ,")


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    start = next(k for k, line in enumerate(lines) if line.strip() in _OPERATIONS and lines[k + 1].strip() == "abs")
    titles = [k for k, line in enumerate(lines) if line.strip() in _TITLES and k > start]
    for first, last in zip(titles, [*titles[1:], len(lines)], strict=True):
        body = lines[first:last]
        named = re.search(r"\"stablehlo\.(\w+)\"", "\n".join(body))
        yield named[1] if named else lines[first - 1].strip(), body
    firsts = [k for k, line in enumerate(lines[:start]) if line.startswith("- (C1)")] + [start]
    for name, mark in _BEFORE_OPS.items():
        place = next(k for k, line in enumerate(lines[:start]) if mark in line)
        begin = max(k for k in firsts if k <= place)
        yield name, lines[begin : firsts[firsts.index(begin) + 1]]


def constraints_of(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield op, number and text of every constraint of a specification."""
    for op, body in _sections(lines):
        seen: set[str] = set()
        for line in body:
            found = _CONSTRAINT.match(line)
            expected = f"C{len(seen) + 1}"
            if found and found[1] == expected:
                seen.add(expected)
                yield op, expected, _said(found[2])


@cache
def listed() -> dict[tuple[str, str], str]:
    """Return what each constraint says, by op and number."""
    rows = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines()]
    return {(op, number): text for op, number, text in rows}


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    LIST.write_text("".join("\t".join(row) + "\n" for row in constraints_of(text)), encoding="utf-8", newline="\n")
