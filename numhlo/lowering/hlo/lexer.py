"""Tokens of HLO text, and the cursor over them.

A type with its layout is one token, and so is a constant with all its elements: both are cut out by the pattern, and
read by `shapes` and `literals`. A name may hold dots and dashes, and begin with ``%``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from numhlo.lowering.text.lexer import Cursor

_TOKEN = re.compile(
    r"""
    (?: \s++ | //[^\n]*+ | /\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/ | /\*.*+ )*+
    (
      constant \( (?: [^()"]++ | \( [^()"]*+ \) )*+ \)           # a literal
    | [a-z]\w*+ \[ [\d,<=?\s-]*+ \] (?: \{ [\d,\s]*+ (?: :[^{}"]*+ )? \} )?+   # an array's type
    | [0-9a-z?]++ _ [0-9a-z?]++ -> [0-9a-z?]++                   # the dimensions of a convolution
    | -? \d++ (?: [x_] -? \d++ )++                               # padding and windows
    | %? [A-Za-z_] [\w.]*+ (?: -(?!>) [\w.]*+ )*                 # a name
    | -? (?: \d++ (?: \. \d*+ )? | \. \d++ ) (?: [eE][-+]?\d++ )?+
    | " (?: (?: [^"\\\n]++ | \\. )*+ " | [^\n]*+ )
    | -> | <=
    | . | \Z
    )
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_NAME = re.compile(r"%?[A-Za-z_][\w.-]*\Z", re.ASCII)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9A-Fa-f]{1,2})|(.))?", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", **{c: c for c in "\\\"'?"}}


class HloCursor(Cursor):
    """A position in HLO text."""

    pattern: ClassVar[re.Pattern[str]] = _TOKEN
    closing: ClassVar[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}"}

    def long_tokens(self) -> Iterator[tuple[int, int]]:
        """Yield nothing: the pattern cuts constants."""
        return iter(())

    def parse_name(self) -> str:
        """Read the name of an instruction or a computation, without its ``%``."""
        token = self.token
        if not _NAME.match(token):
            raise self.error("a name")
        self.index += 1
        return token.removeprefix("%")

    def unescape(self, token: str) -> str:
        """Return the text of a quoted token, the current one; escapes are C's."""
        if "\\" not in token:
            return token[1:-1]
        parts, end = [], 1
        for match in _ESCAPE.finditer(token):
            parts.append(token[end : match.start()].encode("utf-8", "surrogateescape"))
            octal, hexadecimal, letter = match.groups()
            if octal is None and hexadecimal is None and letter not in _ESCAPED:
                raise self.complaint(f"unknown escape {match[0]!r} in a string")
            number = int(octal, 8) if octal else int(hexadecimal, 16) if hexadecimal else -1
            if number > 255:
                raise self.complaint(f"{match[0]} in a string is more than a byte")
            parts.append(_ESCAPED[letter].encode() if number < 0 else bytes([number]))
            end = match.end()
        parts.append(token[end:-1].encode("utf-8", "surrogateescape"))
        return b"".join(parts).decode("utf-8", "surrogateescape")

    def parse_raw(self) -> str:
        """Go past one word, or one pair of brackets with all between; return the text."""
        if self.token in self.closing:
            return self.skip_balanced()
        if not self.token or self.token in {")", "]", "}", ","}:
            raise self.error("a value")
        return self.advance()
