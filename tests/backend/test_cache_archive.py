"""Archives of kernels: what export writes import reads, and each kind of damage is one sentence, never a traceback."""

import hashlib
import os
import stat
import struct
import sys
import tracemalloc
import zipfile

import pytest

from numhlo.__main__ import main
from numhlo.backend import cache_archive
from numhlo.backend.cache_archive import export_kernels, import_kernels
from numhlo.backend.disk_cache import SUFFIX, DiskCache, pack, unpack
from numhlo.errors import ArgumentError

CODE = b"\x7fELF" + bytes(range(256)) + b"a" * 4000
KEYS = [hashlib.sha256(bytes([k])).hexdigest() for k in range(3)]
NAME, CONTENT = KEYS[0] + SUFFIX, pack(KEYS[0], CODE)
posix = pytest.mark.skipif(sys.platform == "win32", reason="owners, modes and links are POSIX's")


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "kernels")


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "kernels.zip"


def write(archive, entries, method=zipfile.ZIP_DEFLATED):
    """Write a zip of names, or `ZipInfo`, and content, for us alone."""
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, content in entries:
            file.writestr(name, content, compress_type=method)
    archive.chmod(0o600)


def refusal(cache, archive):
    """Why an archive is refused; nothing of it is added."""
    with pytest.raises(ArgumentError) as caught:
        import_kernels(cache, archive)
    assert not cache.files()
    what, where, why, *_ = str(caught.value).splitlines()
    assert what == f"{archive} is no file of kernels"
    assert "import_kernels(cache, archive)" in where
    return why.strip().replace(repr(NAME), "NAME")


def change(archive, entry, value, width="H"):
    """Overwrite fields of the first entry, given by their places in its two headers."""
    data = bytearray(archive.read_bytes())
    local, directory = entry
    struct.pack_into(f"<{width}", data, local, value)
    struct.pack_into(f"<{width}", data, data.rfind(b"PK\1\2") + directory, value)
    archive.write_bytes(data)


FLAGS, METHOD, CHECKSUM, SIZE = (6, 8), (8, 10), (14, 16), (22, 24)


def test_kernels_go_out_and_come_in(cache, archive, tmp_path):
    for key in KEYS:
        cache.put(key + SUFFIX, pack(key, CODE + key.encode()))
    assert export_kernels(cache, archive) == 3
    if os.name == "posix":
        assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    other = DiskCache(tmp_path / "other")
    assert import_kernels(other, archive) == 3
    for _, path in cache.files():
        assert (other.folder / path.name).read_bytes() == path.read_bytes()
    with pytest.raises(FileExistsError):
        export_kernels(cache, archive)


def test_export_leaves_out_what_is_not_to_be_trusted(cache, archive, tmp_path):
    for key in KEYS:
        cache.put(key + SUFFIX, pack(key, CODE))
    first, second, third = (path for _, path in sorted(cache.files(), key=lambda found: found[1]))
    first.write_bytes(second.read_bytes())
    second.rename(tmp_path / "elsewhere")
    second.symlink_to(tmp_path / "elsewhere")
    assert export_kernels(cache, archive) == 1
    assert zipfile.ZipFile(archive).namelist() == [third.name]


def test_export_that_fails_leaves_no_file(cache, archive, monkeypatch):
    cache.put(NAME, CONTENT)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space left"):
        export_kernels(cache, archive)
    assert not archive.exists()


def linked(name):
    """An entry that says of itself that it is a symbolic link."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


ENTRIES = {
    "another name": ([("readme", b"")], "'readme' in it has no kernel's name"),
    "a path": ([("../" + NAME, CONTENT)], f"'../{NAME}' in it has no kernel's name"),
    "a link": ([(linked(NAME), b"/etc/passwd")], "NAME in it is a symbolic link"),
    "another kernel": (
        [(NAME, pack(KEYS[1], CODE))],
        "NAME in it is damaged, or is another kernel than its name says",
    ),
    "no kernel": ([(NAME, b"")], "NAME in it is damaged, or is another kernel than its name says"),
    "a changed kernel": ([(NAME, CONTENT + b"x")], "NAME in it is damaged, or is another kernel than its name says"),
    "a good one and a bad one": (
        [(KEYS[1] + SUFFIX, pack(KEYS[1], CODE)), (NAME, CONTENT[:-1])],
        "NAME in it is damaged, or is another kernel than its name says",
    ),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_entries_that_are_no_kernels(cache, archive, case):
    entries, expected = ENTRIES[case]
    write(archive, entries)
    assert refusal(cache, archive) == expected


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name(cache, archive):
    write(archive, [(NAME, CONTENT), (NAME, CONTENT)])
    assert refusal(cache, archive) == "it has two entries of one name"


HEADERS = {
    "encrypted": (FLAGS, 1, "NAME in it is encrypted"),
    "bzip2": (METHOD, 12, "NAME in it is compressed by method 12, by which no kernels are"),
    "LZMA": (METHOD, 14, "NAME in it is compressed by method 14, by which no kernels are"),
    "unknown": (METHOD, 99, "NAME in it is compressed by method 99, by which no kernels are"),
    "stored": (METHOD, 0, "NAME in it is damaged: Bad CRC-32 for file NAME"),
    "checksum": (CHECKSUM, 7, "NAME in it is damaged: Bad CRC-32 for file NAME"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_damaged_headers(cache, archive, case):
    field, value, expected = HEADERS[case]
    write(archive, [(NAME, CONTENT)])
    change(archive, field, value)
    assert refusal(cache, archive) == expected


def test_damaged_content(cache, archive):
    write(archive, [(NAME, CONTENT)])
    data = bytearray(archive.read_bytes())
    for place in range(30 + len(NAME), 50 + len(NAME)):
        data[place] ^= 255
    archive.write_bytes(data)
    assert refusal(cache, archive).startswith("NAME in it is damaged: Error -3 while decompressing data")


def test_truncated_and_foreign_files(cache, archive):
    write(archive, [(NAME, CONTENT)])
    data = archive.read_bytes()
    for count in (0, 1, 21, len(data) // 2, len(data) - 1):
        archive.write_bytes(data[:count])
        assert refusal(cache, archive) == "it is no zip, or its end is missing"
    archive.write_bytes(b"PK\5\6" * 100)
    assert refusal(cache, archive).startswith(("it is", "it says"))


@posix
def test_files_that_others_could_have_written(cache, archive, tmp_path, monkeypatch):
    write(archive, [(NAME, CONTENT)])
    archive.chmod(0o620)
    assert refusal(cache, archive) == "other users may write it"
    archive.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(archive)
    assert refusal(cache, link) == "it is a symbolic link"
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert refusal(cache, tmp_path / "pipe") == "it is no plain file"
    assert refusal(cache, tmp_path) in ("it is no plain file", "other users may write it")
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(ArgumentError, match="it belongs to another user"):
            import_kernels(cache, archive)
    assert import_kernels(cache, archive) == 1


def test_large_entries_and_archives(cache, archive, monkeypatch):
    write(archive, [(NAME, CONTENT), *((key + SUFFIX, pack(key, CODE)) for key in KEYS[1:])])
    limits = {
        "MOST_BYTES": (4096, "NAME in it is larger than 0 MiB"),
        "MOST_ENTRIES": (2, "it says that it has more than 2 entries, or is larger than 4 GiB"),
        "MOST_ARCHIVE_BYTES": (2 * len(CODE), "what is in it takes more than 0 MiB"),
    }
    for name, (most, expected) in limits.items():
        with monkeypatch.context() as patch:
            patch.setattr(cache_archive, name, most)
            assert refusal(cache, archive) == expected
    with monkeypatch.context() as patch:
        patch.setattr(cache_archive, "MOST_ARCHIVE_BYTES", 100)
        assert refusal(cache, archive) == "it is larger than 0 MiB"
    assert import_kernels(cache, archive) == 3


def test_an_entry_that_says_that_it_is_larger_than_any_kernel(cache, archive):
    write(archive, [(NAME, CONTENT)])
    change(archive, SIZE, 65 << 20, "I")
    assert refusal(cache, archive) == "NAME in it is larger than 64 MiB"


def test_an_entry_that_grows_when_it_is_read(cache, archive):
    write(archive, [(NAME, bytes(100 << 20))])  # of zeros, a thousandth of that in the file
    change(archive, SIZE, 1000, "I")
    assert refusal(cache, archive).startswith("NAME in it is damaged")


def test_memory_is_that_of_one_kernel(cache, archive):
    size, count = 8 << 20, 12
    keys = [hashlib.sha256(bytes([k])).hexdigest() for k in range(count)]
    write(archive, [(key + SUFFIX, pack(key, bytes(size))) for key in keys])
    tracemalloc.start()
    try:
        assert import_kernels(cache, archive) == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < count * size / 2


def test_a_directory_that_is_no_kernels(cache, archive):
    write(archive, [("x" * 200, b"")] * 1)
    data = bytearray(archive.read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\5\6") + 12, 1 << 30)
    archive.write_bytes(data)
    assert refusal(cache, archive) == "it says that it has more than 65,534 entries, or is larger than 4 GiB"


def test_random_damage_is_an_argument_error_or_none(tmp_path, archive, rng):
    write(archive, [(key + SUFFIX, pack(key, CODE)) for key in KEYS])
    whole = archive.read_bytes()
    refused = 0
    for number in range(400):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 6)):
            data[place] = rng.integers(256)
        if rng.random() < 0.2:
            start, count = rng.integers(0, len(data)), rng.integers(1, 60)
            del data[start : start + count]
        archive.write_bytes(data)
        cache = DiskCache(tmp_path / str(number))
        try:
            import_kernels(cache, archive)
        except ArgumentError:
            refused += 1
            assert not cache.files()
        for _, path in cache.files():
            assert unpack(path.name.removesuffix(SUFFIX), path.read_bytes()) == CODE
    assert refused > 300


def test_the_command_says_it_in_one_message(tmp_path, archive, capsys):
    write(archive, [(NAME, CONTENT[:-1])])
    assert main(["cache", "import", str(archive), "--folder", str(tmp_path / "kernels"), "--trust"]) == 1
    assert capsys.readouterr().err.startswith(f"numhlo: {archive} is no file of kernels\n  ")
