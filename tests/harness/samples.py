"""The 112 sample sessions, copies of them to work on, and small logs made for one rule."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltafold.harness import zstd
from deltafold.harness.document import Document, open_document
from deltafold.harness.layout import Place, place_of
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import Plan, make_plan

FOLDER = Path(__file__).parent / "samples"
CASES: dict[str, dict[str, Any]] = {
    case["name"]: case for case in json.loads((FOLDER / "manifest.json").read_text())["cases"]
}
GIVEN = [name for name, case in CASES.items() if "outcome" in case]
STRATEGIES: list[dict[str, Any]] = json.loads((FOLDER / "repair-strategies.json").read_text())

HEADER = {
    "type": "session",
    "version": 0,
    "id": "s",
    "createdAt": 1000,
    "cwd": "/w",
    "delegationDepth": 0,
}


def root(name: str) -> Path:
    return FOLDER / name / "root"


def file(name: str) -> Path:
    return FOLDER / CASES[name]["file"]


def place(name: str) -> Place:
    return place_of(str(file(name)))


def data(name: str) -> bytes:
    return file(name).read_bytes()


def document(name: str) -> Document:
    return open_document(data(name), place(name).compression, DEFAULT_LIMITS)


def plan(name: str, options: Options | None = None) -> Plan:
    return make_plan(data(name), place(name), options or Options(), DEFAULT_LIMITS)


def copy(name: str, target: Path) -> Path:
    """Copy the root of a sample and return its session file."""
    shutil.copytree(root(name), target, copy_function=shutil.copy)
    return target / file(name).relative_to(root(name))


def text(content: bytes, compression: str) -> bytes:
    """The text of a session file, whatever its encoding."""
    if compression == "none":
        return content
    parts = [frame.plain or b"" for frame in open_document(content, "zstd", DEFAULT_LIMITS).frames]
    return b"".join(parts)


def events(content: bytes, compression: str = "none") -> list[dict[str, Any]]:
    opened = open_document(content, compression, DEFAULT_LIMITS)
    return [dict(record) for line in opened.lines for record in line.records]


def dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass
class Log:
    """A log written by hand: each call adds one event with the next seq."""

    header: dict[str, Any] = field(default_factory=lambda: dict(HEADER))
    lines: list[bytes] = field(default_factory=list)
    seq: int = 0

    def add(self, kind: str, content: Any, **envelope: Any) -> int:
        event = {"type": kind, "seq": self.seq, "time": 1000 + self.seq, "data": content, **envelope}
        self.lines.append(dumps({key: value for key, value in event.items() if value is not ...}))
        self.seq += 1
        return self.seq - 1

    def turn(self, number: int) -> None:
        self.add("turn/start", {"turn": number})

    def step(self, turn: int, number: int) -> None:
        self.add("step/start", {"turn": turn, "step": number})

    def user(self, words: str, identity: str = "u") -> int:
        message = {
            "content": [{"type": "text", "text": words}],
            "source": {"kind": "user"},
            "role": "user",
            "id": f"{identity}{self.seq}",
        }
        return self.add("user/message", message, surfaceOp="append")

    def assistant(self, turn: int, step: int, content: list[Any], sources: list[int] | None = None) -> int:
        message = {
            "role": "assistant",
            "content": content,
            "source": {"kind": "model", "provider": "p", "model": "m"},
            "id": f"a{self.seq}",
        }
        extra = {} if sources is None else {"sourceEventSeqs": sources}
        return self.add(
            "assistant/message", {"turn": turn, "step": step, "message": message}, **extra, surfaceOp="append"
        )

    def chunk(self, turn: int, step: int, **chunk: Any) -> int:
        return self.add("assistant/chunk", {"turn": turn, "step": step, "chunk": chunk})

    def call(self, turn: int, step: int, identity: str, name: str, arguments: str = "{}") -> int:
        content = {"turn": turn, "step": step, "callId": identity, "name": name, "arguments": arguments}
        return self.add("tool/call", content)

    def result(
        self, turn: int, step: int, identity: str, call: int, words: str = "done", **extra: Any
    ) -> int:
        block = {
            "type": "tool-result",
            "toolCallId": identity,
            "content": [{"type": "text", "text": words}],
            "isError": False,
        }
        message = {
            "source": {"kind": "tool", "callId": identity},
            "content": [block],
            "role": "user",
            "id": f"r{self.seq}",
        }
        envelope = {"sourceEventSeqs": [call], "surfaceOp": "append", **extra}
        return self.add("tool/result", {"turn": turn, "step": step, "message": message}, **envelope)

    def end(self, turn: int, step: int | None = None, reason: str = "completed") -> None:
        if step is not None:
            self.add("step/end", {"turn": turn, "step": step})
        self.add("turn/end", {"turn": turn, "reason": {"kind": reason}})

    def whole_turn(self, number: int, words: str = "hello") -> None:
        self.turn(number)
        self.step(number, 1)
        self.user(words)
        self.assistant(number, 1, [{"type": "text", "text": "hi"}])
        self.end(number, 1)

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in [dumps(self.header), *self.lines])

    def zstd(self) -> bytes:
        batch = b"".join(line + b"\n" for line in self.lines)
        return zstd.encode_frame(dumps(self.header) + b"\n") + zstd.encode_frame(batch)

    def write(self, base: Path, project: str = "--w--", session: str = "s") -> Path:
        folder = base / project / session
        folder.mkdir(parents=True)
        (folder / "session.jsonl").write_bytes(self.bytes())
        return folder / "session.jsonl"


LOOSE = Place("session.txt", None, "none", None)


def plan_of(content: bytes, options: Options | None = None, where: Place = LOOSE) -> Plan:
    return make_plan(content, where, options or Options(), DEFAULT_LIMITS)
