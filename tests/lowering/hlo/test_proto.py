"""HLO protos: every element type, snapshots, ids, tables of frames; and bytes that are none, whatever they are.

What instructions say is tested where their texts are: `judges.check` reads and writes each as a proto, too.
"""

import random
import time

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.literals import print_literal
from numhlo.lowering.hlo.proto_reader import is_proto
from numhlo.lowering.hlo.proto_shapes import NUMBERS
from numhlo.lowering.hlo.shapes import PRIMITIVES
from numhlo.lowering.hlo.wire import Message, MessageWriter
from numhlo.lowering.ir.errors import NumhloError, ParseError
from tests.fuzz.batches import fault
from tests.lowering.hlo import texts
from tests.lowering.hlo.judges import check_protos, entry, normal, ops_of, proto_of, read_by_xla, same_bits
from tests.lowering.hlo.test_creation import UNREAD, values

NAMES = [name for name, text in vars(texts).items() if name.isupper() and isinstance(text, str)]


@pytest.mark.parametrize("name", NAMES)
def test_protos_of_texts(name):
    text = getattr(texts, name)
    check_protos(text, stablehlo.from_hlo(text))


def test_all_types_have_numbers():
    assert NUMBERS.keys() == PRIMITIVES.keys() - UNREAD


@pytest.mark.parametrize("name", NUMBERS)
def test_constants_of_every_type(name):
    array = values(PRIMITIVES[name])
    array = array[~np.isnan(array)] if array.dtype.kind not in "biu" else array
    text = entry(f"ROOT c = {name}[{array.size}] constant({print_literal(array)})")
    assert same_bits(proto_of(text).interpret("main"), [array])
    own = stablehlo.from_hlo(text).as_hlo_proto()
    assert same_bits(stablehlo.from_hlo(own).interpret("main"), [array])
    check_protos(text, stablehlo.from_hlo(text))


@pytest.mark.parametrize("layout", ["{2,1,0}", "{0,1,2}", "{1,2,0}", "{0,2,1}"])
def test_constants_lie_in_the_order_of_their_layout(layout):
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    text = entry(f"ROOT c = s32[2,3,4]{layout} constant({print_literal(array)})")
    assert same_bits(proto_of(text).interpret("main"), [array])


def test_payloads_of_nans_are_kept():
    array = np.array([0x7FC00001, 0xFFC00000, 0x7F800001], np.uint32).view(np.float32)
    text = entry(f"ROOT c = f32[3] constant({print_literal(array)})")
    own = stablehlo.from_hlo(text).as_hlo_proto()
    assert same_bits(stablehlo.from_hlo(own).interpret("main"), [array])


def test_what_is_around_a_module():
    module = read_by_xla(texts.SHORT).as_serialized_hlo_module_proto()
    inner = MessageWriter().bytes(1, module).message(3, MessageWriter().number(1, 5)).data()
    arguments = MessageWriter().message(1, MessageWriter().number(2, 11))
    snapshot = MessageWriter().bytes(1, inner).message(2, arguments).text(4, "cpu").data()
    for data in (module, inner, snapshot):
        assert is_proto(data)
        assert ops_of(stablehlo.from_hlo(data).as_text()) == ops_of(stablehlo.from_hlo(texts.SHORT).as_text())


def test_files(tmp_path):
    path = tmp_path / "x.hlo.pb"
    module = stablehlo.from_hlo(texts.SHORT)
    path.write_bytes(module.as_hlo_proto())
    x = normal(4)
    assert same_bits(stablehlo.load(path).run("main", x), [x.max()])
    assert not is_proto(b"\nmodule {}") and not is_proto(b"HloModule m") and not is_proto(b"")


def test_places_by_frames():
    tables = texts.LONG[texts.LONG.index("FileNames") : texts.LONG.index("%region")]
    head = f"HloModule m\n\n{tables}\nENTRY e {{ x = f32[] parameter(0)\n"
    text = f'{head} ROOT y = f32[] abs(x), metadata={{op_name="f/abs" stack_frame_id=1}} }}'
    assert '"f/abs"("model.py":12:8)' in stablehlo.from_hlo(text).as_text(locations=True)
    assert '"f/abs"("model.py":12:8)' in proto_of(text).as_text(locations=True)
    own = stablehlo.from_hlo(texts.LONG).as_hlo_proto(locations=True)
    assert '"back"("b.py":7:0)' in stablehlo.from_hlo(own).as_text(locations=True)


def message_of(**fields):
    """Return a module of one computation with one instruction, whose fields are given."""
    shape = MessageWriter().number(2, 11)
    instruction = MessageWriter().text(1, "p").text(2, fields.get("opcode", "parameter"))
    instruction.message(3, fields.get("shape", shape)).number(35, 1)
    for field, value in fields.get("more", ()):
        instruction.number(field, value)
    computation = MessageWriter().text(1, "c").message(2, instruction).number(5, 7).number(6, fields.get("root", 1))
    return MessageWriter().text(1, "m").message(3, computation).number(6, fields.get("entry", 7)).data()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no computations of instructions"),
        (b"\x0a", "a number has no end"),
        (b"\x0a\x05ab", "field 1 ends behind the message"),
        (b"\x0b", "field 1 is of an unknown type"),
        (b"\x80" * 11, "a number has no end"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "field"),
        (message_of(root=2), "computation c has no root"),
        (message_of(entry=8), "no entry computation"),
        (message_of(shape=MessageWriter().number(2, 99)), "99 is no element type"),
        (message_of(shape=MessageWriter().number(2, 11).numbers(3, [-1])), "extents are negative"),
        (message_of(more=[(9, 3)]), "parameters of c must be numbered from 0"),
        (message_of(opcode="constant"), "without large constants"),
        (message_of(opcode="odd"), "odd is no opcode"),
        (message_of(opcode="abs", more=[(36, 9)]), "operand 9 is not defined before this"),
        (message_of(opcode="call", more=[(38, 9)]), "computation 9 is not defined before this"),
        (message_of(opcode="abs", more=[(99, 1)]), "field 99 of an instruction is not known"),
        (message_of(opcode="abs"), "abs takes 1 operands, not 0"),
    ],
)
def test_what_is_no_proto(data, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(data)


def test_messages_name_the_instruction():
    with pytest.raises(ParseError) as caught:
        stablehlo.from_hlo(message_of(opcode="abs", more=[(36, 9)]), "x.pb")
    assert str(caught.value).splitlines()[1] == "  at x.pb, instruction p"


def outcome(data):
    try:
        module = stablehlo.from_hlo(data)
        module.as_text()
        module.verify()
        module.as_hlo_text()
    except NumhloError:
        return "refused"
    return "program"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.specifies("malformed text")
def test_changed_bytes_are_programs_or_refused(seed):
    generator = random.Random(seed)
    whole = [read_by_xla(getattr(texts, name)).as_serialized_hlo_module_proto() for name in NAMES]
    outcomes = []
    for _ in range(400):
        data = bytearray(generator.choice(whole))
        for _ in range(generator.randint(1, 4)):
            place = generator.randrange(len(data))
            match generator.randrange(4):
                case 0:
                    data[place] ^= 1 << generator.randrange(8)
                case 1:
                    data[place] = generator.choice([0, 1, 127, 128, 255])
                case 2:
                    del data[place : place + generator.randint(1, 9)]
                case _:
                    data[place:place] = data[place : place + generator.randint(1, 40)]
            data = data or bytearray(b"\n")
        found = fault(lambda given: outcomes.append(outcome(given)) or "", bytes(data), 5.0)
        assert found is None, (found, bytes(data).hex())
    assert 10 < outcomes.count("program") < 300


def test_deep_and_long_messages():
    shape = MessageWriter().number(2, 11)
    for _ in range(200):
        shape = MessageWriter().number(2, 13).message(4, shape)
    with pytest.raises(ParseError, match="nested deeper than 64 levels"):
        stablehlo.from_hlo(message_of(shape=shape))
    array = np.zeros(1 << 20, np.float32)
    array[5] = 3
    text = f"HloModule m ENTRY e {{ ROOT c = f32[{array.size}] constant({print_literal(array)}) }}"
    data = read_by_xla(text).as_serialized_hlo_module_proto()
    start = time.process_time()
    assert same_bits(stablehlo.from_hlo(data).interpret("main"), [array])
    assert time.process_time() - start < 2
    assert Message(data).text(1) == "m"
