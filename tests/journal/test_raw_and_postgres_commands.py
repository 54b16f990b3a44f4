"""Raw streams on disk, packed and not; and the commands over a database."""

from __future__ import annotations

import hashlib
import json

import pytest

from deltafold.cli import main
from deltafold.journal import FileStore, Journal, load
from deltafold.journal.replay import replay
from tests.cli import streams
from tests.journal import forge

zstandard = pytest.importorskip("zstandard", reason="the extra zstd is not installed")


def write(root, body, **options):
    with Journal.open(FileStore(root, sync="os", **options), "s", create=True) as journal:
        turn = journal.turn(user="x")
        list(turn.stream(body[at : at + 1000] for at in range(0, len(body), 1000)))
    return next(event for event in load(root, "s").events if event.type == "assistant/message").data["stream"]


def test_packed_raw_streams(tmp_path):
    """Byte for byte what came, smaller on the disk; digest and count are of what came."""
    body = streams.delta({"content": "tea "}) * 3000 + streams.delta({}, "stop") + streams.DONE
    stream = write(tmp_path, body, compression="zstd")
    assert stream["file"].endswith(".sse.zst")
    assert (stream["sha256"], stream["bytes"]) == (hashlib.sha256(body).hexdigest(), len(body))
    packed = tmp_path / "s" / stream["file"]
    assert packed.stat().st_size * 10 < len(body)
    with FileStore(tmp_path).read("s") as log:
        assert b"".join(log.read_raw(stream["file"])) == body
        assert [row.outcome for row in replay(log)] == ["same"]


def test_a_packed_stream_of_a_killed_process_can_be_read_as_far_as_it_came(tmp_path):
    body = b"".join(
        streams.delta({"content": hashlib.sha256(b"%d" % number).hexdigest()}) for number in range(4000)
    )
    journal = Journal.open(FileStore(tmp_path, sync="os", compression="zstd"), "s", create=True)
    chunks = (body[at : at + 1000] for at in range(0, len(body), 1000))
    stream = journal.turn(user="x").stream(chunks, coalesce=False)
    for _ in range(3500):
        next(stream)
    journal.close(clean=False)
    (name,) = (path.name for path in (tmp_path / "s" / "raw").iterdir())
    with FileStore(tmp_path).read("s") as log:
        kept = b"".join(log.read_raw(f"raw/{name}"))
    assert body.startswith(kept)
    assert len(kept) > len(body) // 2


def test_a_packed_stream_that_unpacks_to_very_much_is_read_in_blocks(tmp_path):
    stream = write(tmp_path, streams.WHOLE, compression="zstd")
    packer = zstandard.ZstdCompressor(level=19).compressobj()
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    assert len(bomb) < 100_000
    (tmp_path / "s" / stream["file"]).write_bytes(bomb)
    with FileStore(tmp_path).read("s") as log:
        sizes = [len(block) for block in log.read_raw(stream["file"])]
        assert (sum(sizes), max(sizes)) == (256 << 20, 1 << 20)


@pytest.mark.parametrize("damage", [b"", b"not zstd at all", b"\x28\xb5\x2f\xfd\xff\xff"])
def test_a_packed_stream_that_cannot_be_unpacked_is_said_to_be_changed(tmp_path, damage):
    stream = write(tmp_path, streams.WHOLE, compression="zstd")
    (tmp_path / "s" / stream["file"]).write_bytes(damage)
    with FileStore(tmp_path).read("s") as log:
        assert [row.outcome for row in replay(log)] == ["changed"]


@pytest.mark.parametrize(
    "name", ["../journal.jsonl", "raw/../journal.jsonl", "raw/", "raw", "/etc/passwd", "raw/.."]
)
def test_raw_names_do_not_leave_their_folder(tmp_path, name):
    write(tmp_path, streams.WHOLE)
    with FileStore(tmp_path).read("s") as log, pytest.raises(OSError, match="no raw stream"):
        list(log.read_raw(name))


def test_the_commands_over_a_database(postgres, server, capsys):
    from deltafold.journal.stores.postgres import PostgresStore  # noqa: PLC0415  (an extra)

    store = PostgresStore(server.address, schema="deltafold")
    with Journal.open(store, "commands", create=True) as journal:
        turn = journal.turn(user="What is tea?")
        list(turn.stream([streams.WHOLE]))
        with turn.running(turn.executable_calls[0]) as run:
            run.result("a drink")
    with pytest.raises(Exception, match="J8"), Journal.open(store, "commands") as journal:
        journal.append(*forge.end(9))
    assert postgres.schema != store.schema
    place = ["journal", "{}", server.address, "--session", "commands", "--json"]
    for verb, expected in (
        ("check", 0),
        ("show", 0),
        ("export", 0),
        ("replay", 0),
        ("quarantine", 0),
        ("repair", 0),
    ):
        code = main([part.format(verb) for part in place])
        assert code == expected
        assert all(isinstance(json.loads(line), dict) for line in capsys.readouterr().out.splitlines())
    assert main(["journal", "check", "postgresql://tester@127.0.0.1:1/none"]) == 3
    assert "connection" in capsys.readouterr().err
