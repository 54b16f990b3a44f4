"""Our own list of faults: what each sample has, and a log for every kind that no sample has."""

from __future__ import annotations

from typing import Any

import pytest

from deltafold.harness.check import Scan, check_place
from deltafold.harness.document import open_document
from deltafold.harness.faults import KINDS, Fault, find_faults
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model.reader import answer
from tests.harness import hostile, samples
from tests.harness.samples import LOOSE, Log
from tests.support import ROOT

SAMPLE_FAULTS = {
    "poison-empty-identity-raw": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "call-id-empty call-name-empty result-id-empty"
    ),
    "poison-empty-identity-zstd": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "call-id-empty call-name-empty result-id-empty"
    ),
    "poison-empty-id-only-raw": "delta-id-empty end-id-empty block-id-empty call-id-empty result-id-empty",
    "poison-null-identity-raw": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "call-id-empty call-name-empty result-id-empty"
    ),
    "poison-never-identified-raw": (
        "delta-id-empty end-id-empty end-name-empty block-id-empty block-name-empty call-id-empty "
        "call-name-empty call-unnamed result-id-empty"
    ),
    "poison-parallel-empty-raw": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "call-id-empty call-name-empty result-id-empty"
    ),
    "torn-tail-after-turn-end": "line-torn",
    "torn-tail-mid-turn": "turn-open line-torn",
    "crash-after-tool-call": "turn-open",
    "crash-after-assistant-message": "turn-open",
    "crash-after-poisoned-assistant-message": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "turn-open"
    ),
    "crash-after-poisoned-tool-call": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-id-empty block-name-empty "
        "call-id-empty call-name-empty turn-open"
    ),
    "empty-file": "header-missing",
    "header-no-newline": "header-missing",
    "seq-gap-committed": "seq-gap turn-order",
    "seq-gap-tail": "seq-gap turn-order turn-open",
    "seq-duplicate-committed": "seq-duplicate",
    "unparsable-committed": "line-unparsable seq-gap turn-order",
    "unparsable-tail": "line-unparsable turn-open",
    "packed-row-malformed-committed": "row-malformed seq-gap",
    "seq-gap-at-turn-end": "seq-gap",
    "blank-line-committed": "line-blank",
    "header-garbage": "header-not-json",
    "header-not-session": "header-shape",
    "header-no-delegation-depth": "header-shape",
    "header-version-1": "header-version",
    "header-version-minus-1": "header-version",
    "header-id-mismatch": "layout-identity",
    "header-cwd-mismatch": "layout-identity",
    "header-relative-cwd": "header-field",
    "header-retired-policy": "header-retired",
    "header-bad-origin": "header-shape",
    "header-float-createdAt": "header-shape",
    "header-seedLength-negative": "header-field",
    "tool-result-empty-callid": "result-id-empty",
    "tool-result-empty-both": "result-id-empty",
    "tool-result-source-kind": "result-source",
    "tool-result-mismatched-ids": "id-disagrees result-mismatch",
    "tool-result-two-blocks": "result-blocks",
    "tool-result-no-id": "message-id",
    "tool-result-unpaired": "id-disagrees result-unpaired",
    "tool-call-empty-callid": "call-id-empty",
    "tool-call-empty-name": "call-name-empty",
    "assistant-block-empty-id": "block-id-empty",
    "assistant-no-provider": "message-source",
    "assistant-wrong-role": "message-role",
    "assistant-content-not-array": "message-content call-unadvertised",
    "user-empty-id": "message-id",
    "user-no-source": "message-source",
    "surface-missing-marker": "surface-op",
    "surface-on-log-only": "surface-op",
    "surface-bad-op": "surface-op",
    "source-seqs-future": "source-seqs",
    "source-seqs-duplicate": "source-seqs",
    "source-seqs-empty": "source-seqs",
    "source-seqs-ranges": "source-seqs",
    "envelope-extra-key": "envelope-key",
    "envelope-bad-time": "envelope-time",
    "envelope-no-data": "envelope-data call-id-empty call-name-empty turn-order",
    "ignorable-false": "envelope-ignorable",
    "unknown-event-type": "type-unknown",
    "legacy-header-delta": "type-retired",
    "legacy-mode-set": "type-retired",
    "legacy-header-fallback": "type-retired",
    "request-header-no-model": "request-header",
    "turn-end-malformed-reason": "turn-malformed",
    "turn-numbers-nonsense": "turn-order",
    "legacy-pre-identity-tool-result-empty": "result-id-empty",
    "number-negative-zero": "turn-order",
    "lone-surrogate": "lone-surrogate",
    "layout-opposite-encoding": "layout-identity",
    "zstd-torn-mid-block": "turn-open frame-torn",
    "zstd-torn-checksum": "frame-torn",
    "zstd-torn-magic": "turn-open frame-torn",
    "zstd-bad-checksum-middle": "seq-gap turn-order frame-failed",
    "zstd-bad-checksum-last": "turn-open frame-failed",
    "zstd-garbage-tail": "frame-structure",
    "zstd-nul-tail": "frame-structure",
    "zstd-header-frame-two-lines": "frame-header",
    "zstd-single-frame": "frame-header",
    "zstd-frame-with-torn-line": "line-torn",
    "zstd-torn-header-frame": "header-missing frame-torn",
    "zstd-skippable-frame": "frame-structure",
    "zstd-seq-gap-committed": "seq-gap turn-order",
    "null-line-committed": "line-not-event",
    "null-line-tail": "line-not-event",
    "scalar-line-tail": "line-not-event",
    "array-line-tail": "line-not-event",
    "last-turn-end-garbled": "turn-open line-unparsable turn-end-lost",
    "bom-header": "header-bom",
    "dangling-call-closed-turn": "call-open",
    "duplicate-call-id-in-step": (
        "delta-id-empty delta-name-empty end-id-empty end-name-empty block-name-empty id-repeated "
        "call-name-empty"
    ),
    "arguments-not-json": "arguments-not-json",
    "strict-rejected-attempt": "delta-id-empty",
    "zstd-seq-gap-tail-complete-frame": "seq-gap turn-open",
    "zstd-unparsable-tail-complete-frame": "line-unparsable",
}


def faults_of(content: bytes, compression: str = "none") -> list[Fault]:
    document = open_document(content, compression, DEFAULT_LIMITS)
    return find_faults(document, LOOSE, answer(document, LOOSE))


def kinds(found: list[Fault]) -> list[str]:
    return list(dict.fromkeys(fault.kind for fault in found))


@pytest.mark.parametrize("name", samples.CASES)
def test_faults_of_a_sample(name: str) -> None:
    document, place = samples.document(name), samples.place(name)
    found = find_faults(document, place, answer(document, place))
    assert set(kinds(found)) == set(SAMPLE_FAULTS.get(name, "").split())


@pytest.mark.parametrize("name", samples.CASES)
def test_places_point_into_the_text(name: str) -> None:
    """Line, offset and seq of a fault name the line they say."""
    content, place = samples.data(name), samples.place(name)
    document = samples.document(name)
    text = samples.text(content, place.compression)
    for fault in find_faults(document, place, answer(document, place)):
        if fault.frame is not None:
            assert 0 <= fault.frame < len(content)
        if fault.offset is None or fault.line is None or "zstd-bad-checksum" in name:
            continue
        assert text[: fault.offset].count(b"\n") == fault.line - 1
        assert fault.offset == 0 or text[fault.offset - 1 : fault.offset] == b"\n"
        if fault.seq is not None:
            line = text[fault.offset :].split(b"\n")[0]
            assert b'"seq":%d,' % fault.seq in line or b'"seq0":' in line


def hand_made() -> dict[str, bytes]:
    """A log for each kind that no sample has."""
    made: dict[str, bytes] = {}
    log = Log()
    log.whole_turn(1)
    clean = log.bytes()
    lines = clean.split(b"\n")
    made["line-nul"] = b"\n".join([*lines[:2], b"\x00" * 40, *lines[2:]])
    made["not-utf8"] = clean.replace(b'"hello"', b'"h\xff"')
    made["seq-invalid"] = clean.replace(b'"seq":2,', b'"seq":"2",')
    made["type-missing"] = clean.replace(b'"type":"step/start",', b"")
    fork = Log()
    fork.whole_turn(1)
    fork.seq = 3
    fork.assistant(1, 1, [{"type": "text", "text": "the other branch"}])
    made["seq-fork"] = fork.bytes()
    twice = Log()
    twice.turn(1)
    twice.step(1, 1)
    twice.assistant(1, 1, [{"type": "tool-call", "id": "a", "name": "t", "arguments": "{}"}])
    call = twice.call(1, 1, "a", "t")
    twice.result(1, 1, "a", call)
    twice.result(1, 1, "a", call)
    twice.end(1, 1)
    made["result-repeated"] = twice.bytes()
    return made


HAND_MADE = hand_made()


@pytest.mark.parametrize("kind", HAND_MADE)
def test_a_kind_that_no_sample_has(kind: str) -> None:
    assert kind in kinds(faults_of(HAND_MADE[kind]))


def test_the_table_the_cases_and_the_docs_name_the_same_kinds() -> None:
    shown = {kind for names in SAMPLE_FAULTS.values() for kind in names.split()} | set(HAND_MADE)
    shown |= set(hostile.KINDS) | {"layout-flat", "layout-duplicate", "layout-encoding", "layout-leftover"}
    assert shown == set(KINDS)
    documented = (ROOT / "docs" / "harness.md").read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in documented] == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("layout-flat", "layout-flat"),
        ("layout-duplicate-id", "layout-duplicate"),
        ("layout-opposite-encoding", "layout-encoding"),
        ("layout-orphan-tmp", "layout-leftover"),
    ],
)
def test_faults_of_a_root(name: str, kind: str) -> None:
    results = list(Scan().run([str(samples.root(name))]))
    assert kind in {fault.kind for result in results for fault in result.faults}


def test_a_session_hidden_by_its_root_still_says_what_it_is_alone() -> None:
    result = next(iter(Scan().run([str(samples.file("layout-flat"))])))
    assert "unsupported flat-file layout" in str(result.answer["message"])
    assert result.alone == {"ok": {"events": 52, "last": "turn/end"}}


def test_severity_follows_what_the_reader_does() -> None:
    """A bad last line is cut off in silence by a plain reader and refused by a zstd one."""
    plain = check_place(samples.place("unparsable-tail"))
    packed = check_place(samples.place("zstd-unparsable-tail-complete-frame"))
    assert [fault.severity.value for fault in plain.faults if fault.kind == "line-unparsable"] == ["silent"]
    assert [fault.severity.value for fault in packed.faults if fault.kind == "line-unparsable"] == ["refused"]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"adapterDefaults": {"reasoningEffort": True}}, "request-header"),
        ({"adapterDefaults": {"other": True}}, "request-header"),
        ({"config": {"provider": "p", "model": "m", "reasoningEffort": ""}}, "request-header"),
        ({"config": {"provider": "p", "model": ""}}, "request-header"),
        ({}, None),
    ],
)
def test_request_headers(change: Any, kind: str | None) -> None:
    log = Log()
    log.turn(1)
    log.add(
        "request/header",
        {"header": {"config": {"provider": "p", "model": "m"}, **change}, "reason": "initial"},
    )
    log.end(1)
    assert (kind in kinds(faults_of(log.bytes()))) is (kind is not None)
