"""Malformed bytecode: an error that names the section and the byte, in time and memory linear in the file's size."""

import time

import pytest

from numhlo.lowering.bytecode import read_bytecode, write_artifact
from numhlo.lowering.bytecode.container import ATTRIBUTE_OFFSETS, ATTRIBUTES, DIALECTS, IR, STRINGS
from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError
from numhlo.lowering.bytecode.tables import number, section, signed
from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.text import parse
from tests.lowering.bytecode.official import bytecode

ADD = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32> }"""


def handmade(attributes, types=(), ops=b"\x03\x01\x01\x01", strings=("builtin", "module", "x"), names=(1,)):
    """Return a file of version 6 with attributes and types of the dialect builtin, each as bytes behind its code."""
    offsets = number(len(attributes)) + number(len(types))
    for group in (attributes, types):
        if group:
            offsets += number(0) + number(len(group)) + b"".join([number(len(item) << 1 | 1) for item in group])
    data = [text.encode() + b"\0" for text in strings]
    listed = number(len(data)) + b"".join([number(len(item)) for item in reversed(data)]) + b"".join(data)
    ops_of = b"".join([number(name << 1 | 1) for name in names])
    dialects = number(1) + number(0) + number(len(names)) + number(0) + number(len(names)) + ops_of
    parts = [(DIALECTS, dialects), (ATTRIBUTES, b"".join([*attributes, *types])), (ATTRIBUTE_OFFSETS, offsets)]
    parts += [(IR, ops), (STRINGS, listed)]
    return b"ML\xefR\x0dtest\0" + b"".join([section(kind, content) for kind, content in parts])


def module(attributes, inner=b"\x01"):
    """Return the IR section of a module with attributes, by their number, and ops."""
    region = number(1) + number(0) + inner
    return number(2) + number(0) + b"\x11" + number(1) + number(attributes) + number(3) + section(IR, region)


def refusal(data):
    with pytest.raises(ParseError) as caught:
        read_bytecode(data, "x.bc")
    return str(caught.value).removeprefix("x.bc is no bytecode that can be read: ")


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16383, 16384, 2**32, 2**56 - 1, 2**56, 2**63, 2**64 - 1])
def test_numbers(value):
    data = number(value)
    assert ByteCursor(data, 0, len(data), "").number() == value
    for near in (value - 2**63, -value // 2):
        data = signed(near)
        assert ByteCursor(data, 0, len(data), "").signed() == near
    if len(data) > 1:
        with pytest.raises(MalformedError, match="goes on behind the end"):
            ByteCursor(data[:-1], 0, len(data) - 1, "").number()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"ML\xefR", "a number is expected, and the section has ended\n  section of header, byte 4 of 4"),
        (b"ML\xefR\x0fx\0", "version 7 of MLIR bytecode is not known, the newest that is known is 6\n"
                            "  section of header, byte 5 of 7"),
        (b"ML\xefR\x0dx", "a string has no end\n  section of header, byte 5 of 6"),
        (b"ML\xefR\x0dx\0", "the section of strings is missing\n  section of header, byte 7 of 7"),
        (b"ML\xefR\x0dx\0\x09\x01", "there is no section 9\n  section of header, byte 8 of 9"),
        (b"ML\xefR\x0dx\0\x00\xff", "127 bytes are announced, and 0 are left\n  section of header, byte 9 of 9"),
    ],
)  # fmt: skip
def test_containers(data, what):
    assert refusal(data) == what


def test_every_prefix_and_every_changed_byte():
    data = write_artifact(parse(ADD))
    for end in range(4, len(data)):
        assert "byte" in refusal(data[:end])
    changed = 0
    for place in range(4, len(data)):
        for value in (data[place] ^ 1, data[place] ^ 0x80, 0, 255):
            try:
                read_bytecode(data[:place] + bytes([value]) + data[place + 1 :])
            except ParseError as error:
                assert "byte" in str(error)
                changed += 1
    assert changed > 2 * len(data)


def test_a_handmade_file():
    plain = handmade([b"\x03\x01", b"\x1f"], ops=module(0))
    assert read_bytecode(plain).attributes == {}


def test_attributes_that_hold_each_other_too_often():
    doubling = [number(0) + number(2) + number(k + 3) * 2 for k in range(40)]
    data = handmade([number(1) + number(1) + number(42) + number(2), number(15), *doubling, b"\x05\x05"], ops=module(0))
    assert refusal(data).startswith("attributes hold each other too often")


def test_attributes_that_hold_themselves():
    data = handmade([number(1) + number(1) + number(2) + number(3), number(15), b"\x05\x05", number(0) + number(1) + number(3)],
                    ops=module(0))  # fmt: skip
    assert refusal(data).startswith("nested deeper than 64 levels")


def test_locations_that_lead_to_themselves():
    site = number(10) + number(1) + number(1)
    data = handmade([number(1) + number(0), site], ops=module(0))
    assert refusal(data).startswith("a location leads to itself")


def test_long_chains_of_locations():
    count = 3000
    sites = [number(10) + number(k + 2) + number(count + 1) for k in range(count)]
    data = handmade([number(1) + number(0), *sites, number(15)], ops=module(0))
    assert read_bytecode(data).location.parts


def test_deep_regions():
    op = number(0)
    for _ in range(200):
        inner = number(1) + number(0) + number(2) + op
        op = number(0) + b"\x11" + number(1) + number(0) + number(3) + section(IR, inner)
    data = handmade([number(1) + number(0), number(15)], ops=number(2) + op)
    assert refusal(data).startswith("nested deeper than 64 levels")


def test_counts_beyond_the_file():
    for count in (2**20, 2**40, 2**63):
        data = handmade([number(1) + number(count), number(15)], ops=module(0))
        assert refusal(data).startswith(f"{count} items are announced")
        data = handmade([number(1) + number(0), number(15)], ops=number(count << 1 if count < 2**63 else count))
        assert "ops are announced" in refusal(data)


def test_constants_too_large_for_memory():
    tensor = number(13) + number(2) + signed(2**30) * 2 + number(1)
    splat = number(18) + number(0) + number(4) + b"\0\0\x80\x3f"
    data = handmade(
        [number(1) + number(1) + number(2) + number(3), number(15), b"\x05\x05", splat], [tensor, number(5)], module(0)
    )
    value = read_bytecode(data).attributes["x"]
    assert value.shape == (2**30, 2**30) and value.strides == (0, 0)  # one element, seen as often as it takes


def test_many_modules_take_linear_time():
    """Each module inside has its own functions: what names them is forgotten, and nothing else."""

    def seconds(count):
        text = "module { " + "module { func.func private @f() }\n" * count + " }"
        data = bytecode(text)
        start = time.process_time()
        read_bytecode(data)
        return time.process_time() - start

    seconds(10)
    assert seconds(2000) < 40 * max(seconds(200), 0.002)


def test_what_is_no_stablehlo():
    loop = """func.func @f(%x: i1) { cf.br ^bb1
      ^bb1: return }"""
    assert refusal(bytecode(loop)).startswith("regions have one block in StableHLO")
    assert "vhlo.add_v9 is an op of a newer version of StableHLO" in refusal(
        write_artifact(parse(ADD)).replace(b"add_v1", b"add_v9")
    )
