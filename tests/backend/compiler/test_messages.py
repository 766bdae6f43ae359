"""Messages between processes: whole, one after the other, whatever else was written before."""

import io

import pytest

from numhlo.backend.compiler.messages import MARK, Message, read_message, write_message


def test_what_stands_before_a_message_is_dropped():
    """What a script wrote that starts Python was taken for lengths, of which no end was ever read."""
    stream = io.BytesIO()
    stream.write(b"loading modules\n" + MARK[:5] + MARK[:3])
    sent = [Message({"ready": True}), Message({}, MARK * 3)]
    for message in sent:
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream), read_message(stream)] == sent
    with pytest.raises(EOFError, match="the pipe was closed"):
        read_message(stream)
