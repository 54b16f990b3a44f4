"""Arguments shown while they stream: the value so far at every chunk, by us and by jiter's partial mode."""

from __future__ import annotations

import jiter
import orjson

import deltafold
from benches.peers.contender import SHOWN, Contender, Feeds


def snapshots(feeds: Feeds) -> str:
    assembler = deltafold.Assembler()
    shown: object = None
    for data in feeds:
        assembler.feed(data)
        for call in assembler.snapshot().tool_calls:
            shown = call.partial()
    assert isinstance(shown, dict)
    return orjson.dumps(shown).decode()


def jiter_over_orjson(feeds: Feeds) -> str:
    """What is shown by hand: each frame's fragment is appended, and all that came is parsed again."""
    text = bytearray()
    shown: object = None
    for data in feeds:
        for line in data.split(b"\n"):
            if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                for choice in orjson.loads(line[6:])["choices"]:
                    for call in choice["delta"].get("tool_calls") or ():
                        text += call["function"]["arguments"].encode()
        if text:
            shown = jiter.from_json(bytes(text), partial_mode="trailing-strings")
    return orjson.dumps(shown).decode()


CONTENDERS = (
    Contender("deltafold, arguments shown at every chunk", "deltafold", SHOWN, snapshots),
    Contender("jiter's partial mode, orjson loop", "jiter", SHOWN, jiter_over_orjson),
)
