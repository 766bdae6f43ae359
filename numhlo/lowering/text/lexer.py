"""Tokens of StableHLO text, and the cursor that every part of a parser moves over them.

The whole text is cut by one compiled pattern, so a token is a plain string and its first character tells its kind.
Shapes are the exception (``tensor<0x10xf32>``): the common ones are one token, the others are cut out as raw text by
`parse_types`. This module knows no grammar beyond brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from numhlo.lowering.ir import Location
from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.text.excerpts import SHOWN, excerpt

_TOKEN = re.compile(
    r"""
    (?: \s++ | //[^\n]*+ )*+
    (
      %[\w$.-]++ (?: \#\d++ )?+                                  # value
    | tensor< (?: (?:[\d?]++x)*+ (?: complex<f\d++> | [a-zA-Z]\w*+ ) ) >  # the common tensor types
    | [A-Za-z_][\w$.]*+                                          # word
    | ->
    | -? (?: 0x[0-9A-Fa-f]++ | \d++ (?: \. \d*+ (?: [eE][-+]?\d++ )?+ )?+ )
    | " (?: (?: [^"\\\n]++ | \\. )*+ " | [^\n]*+ )               # an unclosed string takes the rest of its line
    | @ (?: [A-Za-z_][\w$.-]*+ | " (?: [^"\\\n]++ | \\. )*+ " )
    | \{-\# | \#-\} | ::
    | [#!^] [\w$.-]++
    | . | \Z                                                     # the end is an empty token
    )
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_NEWLINE = re.compile("\n")
_LONG = 4096
"""Characters from which on a blob is searched for."""

_ESCAPE = re.compile(r'\\(?:([0-9A-Fa-f]{2})|(["\\nt]))?')
_ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_INTEGER = re.compile(r"-?(?:0x[0-9A-Fa-f]{1,16}|\d{1,20})\Z", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]++|\\.)*+"\Z')
_WORD = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII)
LARGEST_INTEGER = 2**63 - 1

DEEPEST = 64
"""Regions, attributes and types may nest this deep."""

MOST_WRITTEN_OUT = 1 << 16
MOST_TIMES_LONGER = 16
"""Characters that all uses of aliases together may stand for: so many, and so many times the text's own."""


def _long_blobs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where long strings of hexadecimal digits begin and end, quotes included; a search is quick.

    A quote that is escaped or in a comment begins none, and the pattern cuts what is left out here.
    """
    begin, first = 0, text.find('"0x')
    while first != -1:
        last = text.find('"', first + 1) + 1
        if last - first > _LONG and text.find("\n", first, last) == text.find("\\", first, last) == -1:
            line = max(text.rfind("\n", begin, first), begin)
            if text[first - 1] != "\\" and text.find("//", line, first) == -1:
                yield first, last
                begin = last
        first = text.find('"0x', max(begin, first + 1))


class Cursor:
    """A position in a text that has been cut into tokens.

    Parameters
    ----------
    text : str
    name : str
        The text's name, for messages and locations.

    Attributes
    ----------
    tokens : list of str
        Ends with an empty one.
    starts : list of int
        Where each begins in ``text``.
    index : int
        The current token's number.
    pattern : re.Pattern
        Cuts a token, its first group, with the space and the comments before it; the end of the text is an empty one.
    closing : mapping
        Of each opening bracket.
    """

    pattern: ClassVar[re.Pattern[str]] = _TOKEN
    closing: ClassVar[Mapping[str, str]] = {"<": ">", "(": ")", "[": "]", "{": "}"}

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens: list[str] = []
        self.starts: list[int] = []
        self._newlines: list[int] = []
        self.index = 0
        self.depth = 0
        self._written_out = 0
        begin = 0
        for first, last in self.long_tokens():
            self._cut(begin, first)
            while self.tokens and not self.tokens[-1]:  # the end of the piece
                self.tokens.pop()
                self.starts.pop()
            self.tokens.append(text[first:last])
            self.starts.append(first)
            begin = last
        self._cut(begin, len(text))
        self._require_characters()

    def long_tokens(self) -> Iterator[tuple[int, int]]:
        """Yield where tokens begin and end that a search finds more quickly than the pattern does."""
        return _long_blobs(self.text)

    def _cut(self, begin: int, end: int) -> None:
        """Add the tokens of a piece of the text."""
        self.tokens += self.pattern.findall(self.text, begin, end)
        self.starts += [match.start(1) for match in self.pattern.finditer(self.text, begin, end)]
        self._newlines += [match.start() for match in _NEWLINE.finditer(self.text, begin, end)]

    def _require_characters(self) -> None:
        """Refuse halves of surrogate pairs: they are no characters, and no file in UTF-8 has them."""
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            code = f"U+{ord(self.text[error.start]):04X}"
            what = f"{code} is half of a character: no text in UTF-8 has it"
            raise self.complaint_at(error.start, what) from None

    # -- errors and places

    def position(self, index: int) -> tuple[int, int]:
        """Return the 1-based line and column of a token."""
        return self.position_of(self.starts[index])

    def position_of(self, start: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character."""
        line = bisect_left(self._newlines, start)
        return line + 1, start - (self._newlines[line - 1] if line else -1)

    def location(self, index: int | None = None) -> Location:
        """Return a token's place as a source location."""
        line, column = self.position(self.index if index is None else index)
        return Location(None, line, self.name, column)

    def error(self, expected: str, index: int | None = None) -> ParseError:
        """Return an error that says what was expected at a token (the current one), ready to be raised."""
        index = self.index if index is None else index
        token = self.tokens[index]
        found = "end of text" if not token else token if len(token) <= SHOWN else f"{token[:SHOWN]}..."
        if not found.isprintable():
            found = repr(found)
        return self.complaint(f"expected {expected}, found {found}", index)

    def complaint(self, what: str, index: int | None = None) -> ParseError:
        """Return an error about a token (the current one), with its line and a caret under it."""
        return self.complaint_at(self.starts[self.index if index is None else index], what)

    def complaint_at(self, start: int, what: str) -> ParseError:
        """Return an error about a character of the text, as `complaint`."""
        line, column = self.position_of(start)
        begin = self._newlines[line - 2] + 1 if line > 1 else 0
        end = self._newlines[line - 1] if line <= len(self._newlines) else len(self.text)
        shown = excerpt(self.text, begin, end, column)
        error = ParseError(f"{what}\n  at {self.name}:{line}:{column}\n{shown}".replace("\r", " "))
        error.msg, error.filename, error.lineno, error.offset = str(error), self.name, line, column
        return error

    def enter(self) -> None:
        """Go one level of nesting deeper; the caller decrements ``depth`` when it leaves."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.complaint(f"nested deeper than {DEEPEST} levels")

    # -- aliases

    def write_out(self, name: str, first: int, parse: Callable[[], Any]) -> Any:
        """Return what ``parse`` reads of the alias at the current token, whose text begins at token ``first``.

        Aliases may name others, twice in each: all that they stand for must not be much more than the text is.
        """
        use = self.index
        self.index = first
        value = parse()
        last = min(self.index, len(self.starts) - 1)
        self._written_out += self.starts[last] - self.starts[first]
        self.index = use
        if self._written_out > MOST_WRITTEN_OUT + MOST_TIMES_LONGER * len(self.text):
            raise self.complaint(
                f"{name} makes the text too long: aliases stand for {self._written_out:,} characters in a text of "
                f"{len(self.text):,}"
            )
        self.index += 1
        return value

    # -- moving

    @property
    def token(self) -> str:
        """Return the current token."""
        return self.tokens[self.index]

    def advance(self) -> str:
        """Return the current token and go to the next; at the end of the text, stay."""
        token = self.tokens[self.index]
        if token:
            self.index += 1
        return token

    def at(self, *tokens: str) -> bool:
        """Return whether the next tokens are these."""
        return self.at_offset(0, *tokens)

    def at_offset(self, offset: int, *tokens: str) -> bool:
        """Return whether the tokens from the one ``offset`` further on are these."""
        start = self.index + offset
        return self.tokens[start : start + len(tokens)] == list(tokens)

    def token_at(self, offset: int) -> str:
        """Return the token ``offset`` further on, empty behind the end."""
        index = self.index + offset
        return self.tokens[index] if index < len(self.tokens) else ""

    def accept(self, token: str) -> bool:
        """Go past the token if it is next, and return whether it was."""
        if self.tokens[self.index] == token:
            self.index += 1
            return True
        return False

    def expect(self, *tokens: str) -> None:
        """Go past these tokens, which must be next."""
        for token in tokens:
            if self.tokens[self.index] != token:
                raise self.error(f"'{token}'")
            self.index += 1

    # -- literals

    def parse_integer(self) -> int:
        """Read an integer."""
        token = self.tokens[self.index]
        value = int(token, 16 if "x" in token else 10) if _INTEGER.match(token) else LARGEST_INTEGER + 1
        if not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
            raise self.error("an integer of 64 bits")
        self.index += 1
        return value

    def parse_word(self) -> str:
        """Read a word: letters, digits, ``_``, ``$`` and ``.``."""
        token = self.tokens[self.index]
        if not _WORD.match(token):
            raise self.error("a word")
        self.index += 1
        return token

    def parse_one_of(self, *words: str) -> str:
        """Read one of ``words``, which may stand in quotes."""
        word = self.tokens[self.index].strip('"')
        if word not in words:
            raise self.error(" or ".join(words) if len(words) < 3 else f"one of {', '.join(words)}")
        self.index += 1
        return word

    def parse_boolean(self) -> bool:
        """Read ``true`` or ``false``."""
        return self.parse_one_of("true", "false") == "true"

    def parse_string(self) -> str:
        """Read a quoted string."""
        token = self.tokens[self.index]
        if token[:1] != '"':
            raise self.error("a string")
        if len(token) < 2 or token[-1] != '"' or ("\\" in token and not _STRING.match(token)):
            raise self.complaint("this string has no closing quote")
        text = self.unescape(token)
        self.index += 1
        return text

    def unescape(self, token: str) -> str:
        """Return the text of a quoted token, the current one."""
        if "\\" not in token:
            return token[1:-1]
        parts, end = [], 1
        for match in _ESCAPE.finditer(token):
            if match[0] == "\\":
                raise self.complaint(f"unknown escape {token[match.start() : match.start() + 2]} in a string")
            parts.append(token[end : match.start()].encode("utf-8", "surrogateescape"))
            parts.append(bytes.fromhex(match[1]) if match[1] else _ESCAPED[match[2]].encode())
            end = match.end()
        parts.append(token[end:-1].encode("utf-8", "surrogateescape"))
        return b"".join(parts).decode("utf-8", "surrogateescape")

    # -- brackets

    def skip_balanced(self) -> str:
        """Go past a bracket and all up to the one that closes it; return the text, brackets included."""
        first = self.index
        waiting: list[str] = []
        while True:
            token = self.tokens[self.index]
            if token in self.closing:
                waiting.append(self.closing[token])
            elif waiting and token == waiting[-1]:
                waiting.pop()
            elif not token or token in self.closing.values():
                if not waiting:
                    raise self.error("an opening bracket")
                raise self.error(f"'{waiting[-1]}'")
            self.index += 1
            if not waiting:
                return self.text[self.starts[first] : self.starts[self.index - 1] + 1]

    def resume_at(self, offset: int) -> None:
        """Go to the first token at or behind a character of the text."""
        self.index = bisect_left(self.starts, offset)
