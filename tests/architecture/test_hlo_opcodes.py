"""The page of HLO's opcodes says what the rules say, and has every opcode of XLA's."""

from jaxlib import _hlo

from numhlo.lowering.hlo.tables import READ
from tests.architecture import hlo_opcodes


def test_the_page_is_up_to_date():
    page = hlo_opcodes.PAGE.read_text(encoding="utf-8")
    assert page == "\n".join(hlo_opcodes.page_lines()).rstrip() + "\n", "run python -m tests.architecture.hlo_opcodes"


def test_all_opcodes_of_xla_are_there():
    plain = {opcode.replace("-", ""): opcode for opcode in (*READ, *hlo_opcodes.UNREAD, "parameter")}
    names = [name[1:].lower() for name in dir(_hlo.HloOpcode) if name.startswith("k")]
    missing = [name for name in names if name not in plain and hlo_opcodes.OTHER_NAMES.get(name) is None]
    assert not missing
    started = {name for name in hlo_opcodes.OTHER_NAMES.values() if name.endswith("-start")}
    assert set(hlo_opcodes.OTHER_NAMES.values()) - started <= READ.keys()
    assert not READ.keys() & hlo_opcodes.UNREAD.keys()


def test_what_is_read_and_not_written_has_another_form_there():
    unwritten = READ.keys() - hlo_opcodes.written()
    assert unwritten == {
        "acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh",
        "add-dependency", "bitcast", "copy", "domain", "dynamic-reshape", "fusion",
        "all-gather-done", "all-reduce-done", "async-done", "async-start", "async-update",
        "collective-permute-done", "copy-done", "copy-start",
    }  # fmt: skip
