"""The container: the structural scan of section 4.4, and both zstd libraries behind one face."""

from __future__ import annotations

import importlib.util
import random
from typing import TYPE_CHECKING

import pytest

from deltafold.harness import zstd
from deltafold.harness.document import open_document
from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from tests.harness import samples

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARIES = ["zstandard", "compression.zstd"]


def present(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """One of the two libraries; skipped where this Python has it not."""
    name: str = request.param
    if not present(name):
        pytest.skip(f"no module {name} here")
    load = zstd._third_party if name == "zstandard" else zstd._standard
    monkeypatch.setattr(zstd, "_loaded", [load()])
    return name


NOISE = random.Random(1).randbytes(400_000)


@pytest.mark.usefixtures("library")
def test_encode_and_decode() -> None:
    for plain in (b"", b"line\n", b"x\n" * 500_000, NOISE):
        frame = zstd.encode_frame(plain)
        assert zstd.scan_frames(frame, maximum=9) == zstd.FrameScan((zstd.FrameRange(0, len(frame)),))
        assert frame[4] & 0x04
        assert zstd.decode_frame(frame, len(plain)) == plain
        bare = zstd.without_checksum(frame)
        assert bare is not None
        assert zstd.decode_frame(bare, len(plain)) == plain
        assert zstd.without_checksum(bare) is None


@pytest.mark.usefixtures("library")
def test_bounds_and_damage() -> None:
    frame = zstd.encode_frame(b"x\n" * 500_000)
    with pytest.raises(RefusedError, match="unpacks to more than 999999 bytes"):
        zstd.decode_frame(frame, 999_999)
    wrong = frame[:-1] + bytes([frame[-1] ^ 1])
    assert zstd.decode_frame(wrong, 1 << 20) is None
    assert zstd.decode_unverified(wrong, 1 << 20) == b"x\n" * 500_000
    assert zstd.decode_frame(b"\x28\xb5\x2f\xfd\x00", 9) in (None, b"")


@pytest.mark.usefixtures("library")
def test_a_torn_frame_gives_what_it_holds() -> None:
    noisy = zstd.encode_frame(NOISE)
    for cut in (3, 4, 9, 200_000, len(noisy) - 2):
        given = zstd.decode_prefix(noisy[:cut], 1 << 20)
        assert NOISE.startswith(given)
        assert len(given) >= min(cut - 140_000, len(NOISE))
    assert zstd.decode_prefix(noisy[:-2], 1 << 20) == NOISE
    assert zstd.decode_prefix(b"no frame", 9) == b""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "name", [name for name in samples.CASES if name.startswith("zstd-") or name.endswith("-zstd")]
)
def test_both_libraries_read_the_samples_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [frame.plain for frame in samples.document(name).frames]
    monkeypatch.setattr(zstd, "_loaded", [zstd._third_party()])
    assert frames == [frame.plain for frame in samples.document(name).frames]


def block(size: int, kind: int, *, last: bool) -> bytes:
    return (size << 3 | kind << 1 | last).to_bytes(3, "little")


HEAD = b"\x28\xb5\x2f\xfd"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x50\x2a\x4d\x18\x00\x00\x00\x00", "invalid frame magic at byte 0"),
        (b"\x00" * 64, "invalid frame magic at byte 0"),
        (HEAD + b"\x08\x00", "reserved frame-header bit at byte 4"),
        (HEAD + b"\x10\x00", "reserved frame-header bit at byte 4"),
        (HEAD + b"\x00\x50" + block(1, 3, last=True), "reserved block type at byte 6"),
        (
            HEAD + b"\x00\x50" + block(1, 0, last=False) + b"a" + block(1, 3, last=True),
            "reserved block type at byte 10",
        ),
    ],
)
def test_structure_that_is_refused(data: bytes, words: str) -> None:
    good = zstd.encode_frame(b"{}\n")
    found = zstd.scan_frames(good + data, maximum=9)
    assert found.frames == (zstd.FrameRange(0, len(good)),)
    at = int(words.rsplit(" ", 1)[1]) + len(good)
    assert found.error == f"corrupt Zstandard session log: {words.rsplit(' ', 1)[0]} {at}"
    assert found.error_at == len(good)


@pytest.mark.parametrize("descriptor", [0x00, 0x20, 0x01, 0x02, 0x03, 0x40, 0x80, 0xC0, 0x60, 0x04, 0xE7])
def test_a_frame_cut_anywhere_is_torn_and_whole_is_whole(descriptor: int) -> None:
    """Every header form: single segment, dictionary id, content size, checksum."""
    single, flag = bool(descriptor & 0x20), descriptor >> 6
    rest = (
        (0 if single else 1)
        + (0, 1, 2, 4)[descriptor & 3]
        + ((1 if single else 0) if flag == 0 else 1 << flag)
    )
    frame = (
        HEAD
        + bytes([descriptor])
        + b"\x00" * rest
        + block(3, 0, last=False)
        + b"abc"
        + block(9, 1, last=True)
        + b"x"
    )
    frame += b"\x00" * (4 if descriptor & 0x04 else 0)
    assert zstd.scan_frames(frame, maximum=9) == zstd.FrameScan((zstd.FrameRange(0, len(frame)),))
    for cut in range(1, len(frame)):
        assert zstd.scan_frames(frame[:cut], maximum=9) == zstd.FrameScan((), torn_start=0)


def test_lines_may_cross_frames() -> None:
    header = zstd.encode_frame(b'{"type":"session"}\n')
    parts = [b'{"a":', b"1}\n", b"", b"2\n3", b"\n"]
    opened = open_document(header + b"".join(map(zstd.encode_frame, parts)), "zstd", DEFAULT_LIMITS)
    assert [(line.number, line.raw, line.frame, line.last_frame) for line in opened.lines] == [
        (2, b'{"a":1}', 1, 2),
        (3, b"2", 4, 4),
        (4, b"3", 4, 5),
    ]
    assert all(line.ended for line in opened.lines)
