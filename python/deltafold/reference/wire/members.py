"""Members of JSON objects, read so that a bad one costs nothing but itself (P4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold._json import JsonObject, is_object
from deltafold.reference.identity import accept, usable_index
from deltafold.reference.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltafold.reference.call import ToolDelta
    from deltafold.reference.json import Document

    Report = Callable[[str, str], None]
    """Takes a quirk's kind and detail."""


def member_in(parent: JsonObject, key: str, wanted: tuple[type, ...], path: str, report: Report) -> Any:  # noqa: ANN401
    """Give a member of a wanted type; null counts as absent, another type too, with a quirk."""
    value = parent.get(key)
    if value is None:
        return None
    if isinstance(value, wanted) and not isinstance(value, bool):
        return value
    report("wrong-type", under(path, key))
    return None


def string_in(parent: JsonObject, key: str, path: str, report: Report) -> str:
    """Give a string member, "" where there is none."""
    value: str | None = member_in(parent, key, (str,), path, report)
    return value or ""


def object_in(parent: JsonObject, key: str, path: str, report: Report) -> JsonObject | None:
    """Give an object member or None."""
    value: JsonObject | None = member_in(parent, key, (dict,), path, report)
    return value


def list_in(parent: JsonObject, key: str, path: str, report: Report) -> list[Any]:
    """Give a list member, an empty one where there is none."""
    value: list[Any] | None = member_in(parent, key, (list,), path, report)
    return value or []


def number_in(parent: JsonObject, key: str, path: str, report: Report) -> int | float | None:
    """Give a number member or None."""
    value: int | float | None = member_in(parent, key, (int, float), path, report)
    return value


def under(path: str, key: str) -> str:
    """Give the path of a member."""
    return f"{path}.{key}" if path else key


def objects(values: list[Any], path: str, report: Report) -> Iterator[tuple[int, JsonObject]]:
    """Give the objects of a list with their places; null is nothing (P6), others are reported in turn."""
    for place, value in enumerate(values):
        if is_object(value):
            yield place, value
        elif value is not None:
            report("wrong-type", f"{path}[{place}]")


def index_of(parent: JsonObject, key: str, path: str, report: Report) -> int | None:
    """Give a usable index (I2) or None."""
    value = parent.get(key)
    index = usable_index(value)
    if index is None and value is not None:
        report("wrong-type", under(path, key))
    if index is not None and isinstance(value, str):
        report("index-type", value)
    return index


def identity_of(parent: JsonObject, key: str, path: str, report: Report) -> str | None:
    """Give an accepted identity (I1) or None, with a quirk for what came in its place.

    It is no fragment: lone surrogates in it are replaced (P5).
    """
    if key not in parent:
        return None
    value = parent[key]
    accepted = accept(value)
    if accepted is None:
        kind = "null-identity" if value is None else "empty-identity" if value == "" else "wrong-type"
        report(kind, under(path, key))
        return None
    accepted, lone = clean(accepted)
    for _ in range(lone):
        report("lone-surrogate", under(path, key))
    return accepted


def arguments_of(document: Document, parent: JsonObject, key: str, path: str, report: Report) -> str:
    """Give arguments: a string as sent, other JSON as its source text, null as nothing (A1, A2)."""
    value = parent.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    report("arguments-type", under(path, key))
    return document.source(parent, key)


def remark(delta: ToolDelta) -> Report:
    """Give a report that waits until the delta's call is known."""
    return lambda kind, detail: delta.remarks.append((kind, detail))
