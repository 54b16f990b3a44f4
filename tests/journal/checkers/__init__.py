"""Strict readers of the three wires' histories: what a provider refuses with 400 is `Rejected`."""

from __future__ import annotations

import json
from typing import Any


class Rejected(AssertionError):  # noqa: N818 (said of a history)
    """A history that a provider would refuse."""


def require(condition: object, why: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Rejected(why)


def strict_object(text: Any, what: str) -> dict[str, Any]:
    """The object that a JSON text is, read without any leniency."""

    def refuse(constant: str) -> Any:
        raise Rejected(f"{what}: {constant} is no JSON")

    require(isinstance(text, str), f"{what}: arguments are a string")
    try:
        value = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise Rejected(f"{what}: {error}") from None
    require(isinstance(value, dict), f"{what}: arguments are no object")
    text.encode("utf-8")
    return value
