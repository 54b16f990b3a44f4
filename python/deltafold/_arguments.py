"""Reading a call's arguments: whole and strict, as far as certain, or the last of repetitions (A6, A7)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from deltafold.errors import MalformedToolCall

if TYPE_CHECKING:
    from deltafold.reference.partial import PartialReader

_DEPTH = 1_000_000
"""The status has already said that the nesting is within the limits."""


class CallLike(Protocol):
    """The members of a ToolCall, of whichever engine, that are read here."""

    @property
    def choice(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def arguments(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def status(self) -> str: ...


def parse(call: CallLike) -> dict[str, Any]:
    """Give the arguments as a dict, strictly, integers exact (A7).

    MalformedToolCall(kind="not-complete") unless the status is complete, and for a custom tool, whose input
    is free text.
    """
    where = f"call {call.position} of choice {call.choice}"
    if call.kind == "custom":
        raise MalformedToolCall(f"the input of {where} is free text", kind="not-complete")
    if call.status != "complete":
        raise MalformedToolCall(f"the arguments of {where} are {call.status}", kind="not-complete")
    if not call.arguments:
        return {}
    try:
        value: dict[str, Any] = json.loads(call.arguments)
    except ValueError:  # an integer longer than Python reads in one go
        from deltafold.reference import json as exact  # noqa: PLC0415

        value = exact.parse(call.arguments, _DEPTH).value
    return value


def recovered(call: CallLike) -> str | None:
    """Give the whole arguments at the end of repeated ones (A6), those of a complete call, or None."""
    if call.status == "complete":
        return call.arguments
    if call.kind == "custom":
        return None
    from deltafold.reference.arguments import repeated_suffix  # noqa: PLC0415

    return repeated_suffix(call.arguments, _DEPTH)


_READERS = 64
"""How many calls that are being shown are remembered; of the longest unseen the reader is dropped."""

_readers: dict[tuple[object, ...], PartialReader] = {}


def partial(text: str, *call: object) -> Any:  # noqa: ANN401
    """Give the value that a JSON text begins as far as it is certain, for display (A7).

    The last string is kept as far as it came; an unfinished number, literal, member name or escape is left
    out, and so is everything from an error on. None when nothing is certain. `call` says whose text it is:
    the reading goes on where it stopped for that call, if what was read then is how the text begins, so that
    a call shown at each fragment, be it another call's, is read once. The native engine has its own.
    """
    from deltafold.reference.partial import PartialReader  # noqa: PLC0415

    reader = _readers.pop(call, None)
    if reader is None or not text.startswith(reader.text):
        reader = PartialReader()
    value = reader.read(text)
    for oldest in tuple(_readers)[: len(_readers) + 1 - _READERS]:
        _readers.pop(oldest, None)
    _readers[call] = reader
    return value


def integer(text: str) -> int:
    """Give the integer that a JSON number is, of any length."""
    from deltafold.reference.json import exact_integer  # noqa: PLC0415

    return exact_integer(text)


def digits(number: int) -> str:
    """Give the JSON number that an integer is, of any length."""
    try:
        return str(int(number))
    except ValueError:  # longer than Python writes in one go
        if number < 0:
            return "-" + digits(-number)
        places = number.bit_length() * 3 // 20
        high, low = divmod(number, 10**places)
        return digits(high) + digits(low).zfill(places)
