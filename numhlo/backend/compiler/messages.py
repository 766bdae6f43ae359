"""How the user's process and a compiler process talk: length-prefixed messages over pipes.

A message is a mark, a JSON header and raw bytes. Nothing is unpickled on either side. What stands before a mark is
dropped: a script that starts Python may write to the stream before Python does.
"""

from __future__ import annotations

import json
import struct
from dataclasses import field
from typing import IO, Any

from numhlo.lowering.ir.records import record

MARK = b"\x93numhlo\n"
LENGTHS = struct.Struct("<II")


@record(frozen=True, slots=True)
class Message:
    """One message: a header of plain JSON values and a payload."""

    header: dict[str, Any] = field(default_factory=dict)
    payload: bytes = b""


def write_message(stream: IO[bytes], message: Message) -> None:
    """Write a message and flush."""
    header = json.dumps(message.header).encode()
    rest = memoryview(MARK + LENGTHS.pack(len(header), len(message.payload)) + header + message.payload)
    while rest:  # without a buffer, a pipe takes what it has room for
        rest = rest[stream.write(rest) :]
    stream.flush()


def read_message(stream: IO[bytes]) -> Message:
    """Read a message.

    Raises
    ------
    EOFError
        If the other side is gone.
    """
    mark = _read_exactly(stream, len(MARK))
    while mark != MARK:
        mark = mark[1:] + _read_exactly(stream, 1)
    header_length, payload_length = LENGTHS.unpack(_read_exactly(stream, LENGTHS.size))
    header = json.loads(_read_exactly(stream, header_length))
    return Message(header, _read_exactly(stream, payload_length))


def _read_exactly(stream: IO[bytes], count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = stream.read(count - len(data))
        if not more:
            raise EOFError("the pipe was closed")
        data += more
    return data
