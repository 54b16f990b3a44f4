"""Chunks of openai-python: built quickly as the SDK builds them, and folded when it has parsed them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import deltafold
from tests.adapters.gateway import Gateway
from tests.adapters.peers import KEYS, MESSAGES, peer, theirs, vector
from tests.support import SHARED, VECTORS, needs_shared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

openai = peer("openai")
Chunk = peer("openai.types.chat").ChatCompletionChunk
construct_type = peer("openai._models").construct_type
quick = peer("deltafold.adapters._quick")
payload_of = peer("deltafold.adapters._payloads").payload_of

pytestmark = theirs


def payloads(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.glob("*.sse")):
        for event in deltafold.SSEDecoder().feed(path.read_bytes()):
            try:
                value = json.loads(event.data)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def laid_open(value: Any) -> Any:
    """All that an object of the SDK is made of."""
    if hasattr(value, "__pydantic_fields_set__"):
        sent, further = value.__pydantic_fields_set__, value.__pydantic_extra__
        return type(value), laid_open(value.__dict__), frozenset(sent), laid_open(further)
    if isinstance(value, dict):
        return {name: laid_open(member) for name, member in value.items()}
    return [laid_open(member) for member in value] if isinstance(value, list) else value


def given_by(make: Any, value: Any) -> Any:
    try:
        return laid_open(make(value))
    except Exception as error:  # noqa: BLE001 (the SDK raises of any kind; ours the same)
        return type(error)


def compared(folder: Path) -> tuple[int, int]:
    """How many payloads there are, and how many of them a plan foresees."""
    seen = foreseen = 0
    for value in payloads(folder):
        expected = given_by(lambda given: construct_type(value=given, type_=Chunk), value)
        assert given_by(lambda given: quick.build(Chunk, given), value) == expected, value
        seen += 1
        foreseen += given_by(lambda given: quick.planned(Chunk, given), value) == expected
    return seen, foreseen


def test_chunks_of_all_vectors_are_built_as_the_sdk_builds_them() -> None:
    seen, foreseen = compared(VECTORS / "openai-chat")
    assert seen > 500
    assert foreseen > seen // 2


@needs_shared
def test_chunks_of_all_recordings_are_built_as_the_sdk_builds_them() -> None:
    seen, foreseen = compared(SHARED / "captures" / "openai-chat")
    assert foreseen > seen * 9 // 10


@pytest.mark.parametrize(
    "name", ["clean-stream", "late-id", "integers-are-exact", "surrogate-in-a-call-extra"]
)
def test_parsed_chunks_fold_as_their_bytes(gateway: Gateway, name: str) -> None:
    """What the SDK has parsed becomes the same payload again: half of a pair and large integers too."""
    body, _ = vector(name)
    assembler = deltafold.Assembler(wire="openai-chat")
    with openai.OpenAI(base_url=gateway.play(body).url, **KEYS) as client:
        for chunk in client.chat.completions.create(model="any", messages=MESSAGES, stream=True):
            assembler.feed_payload(payload_of(chunk))
    again, whole = assembler.close(), deltafold.assemble(body)
    assert again.tool_calls == whole.tool_calls
    assert (again.content, again.usage, again.created) == (whole.content, whole.usage, whole.created)


def test_a_parsed_chunk_says_what_was_sent_and_nothing_else() -> None:
    """What was not sent must not look like null, nor the other way round."""
    seen = 0
    for value in payloads(VECTORS / "openai-chat"):
        chunk = given_by(lambda given: construct_type(value=given, type_=Chunk), value)
        if isinstance(chunk, type):
            continue  # the SDK cannot take it
        again = json.loads(payload_of(construct_type(value=value, type_=Chunk)))
        seen += names_of(again) == names_of(value)
        assert names_of(again) <= names_of(value), value
    assert seen > 500


def names_of(value: Any, path: str = "") -> set[str]:
    """The paths of all members, by name and place."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {path}
    return {path}.union(*(names_of(member, f"{path}/{name}") for name, member in value.items()))


def test_what_is_no_chunk_is_said() -> None:
    with pytest.raises(TypeError, match="no part of a chunk"):
        payload_of(3j)


def test_a_client_that_validates_strictly_stays_so(gateway: Gateway) -> None:
    async def run() -> None:
        url = gateway.play(vector("clean-stream")[0]).url
        async with openai.AsyncOpenAI(base_url=url, _strict_response_validation=True, **KEYS) as client:
            chunks = await client.chat.completions.create(model="any", messages=MESSAGES, stream=True)
            assert quick.quickened(chunks) is None
            await chunks.close()

    asyncio.run(run())
