"""Members of JSON objects, read so that a bad one costs nothing but itself (P4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold.reference.identity import accept, usable_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.reference.call import ToolDelta
    from deltafold.reference.json import Document

    Report = Callable[[str, str], None]
    """Takes a quirk's kind and detail."""

JsonObject = dict[str, Any]


def typed(parent: JsonObject, key: str, wanted: type | tuple[type, ...], path: str, report: Report) -> Any:  # noqa: ANN401
    """Give a member of the wanted type; null counts as absent, another type too, with a quirk."""
    value = parent.get(key)
    if value is None:
        return None
    if isinstance(value, wanted) and not (isinstance(value, bool) and wanted is not bool):
        return value
    report("wrong-type", f"{path}.{key}" if path else key)
    return None


def objects(values: list[Any], path: str, report: Report) -> list[tuple[int, JsonObject]]:
    """Give the objects of a list with their places; null elements are nothing (P6)."""
    found = []
    for place, value in enumerate(values):
        if isinstance(value, dict):
            found.append((place, value))
        elif value is not None:
            report("wrong-type", f"{path}[{place}]")
    return found


def index_of(parent: JsonObject, key: str, path: str, report: Report) -> int | None:
    """Give a usable index (I2) or None."""
    value = parent.get(key)
    index = usable_index(value)
    if index is None and value is not None:
        report("wrong-type", f"{path}.{key}" if path else key)
    if index is not None and isinstance(value, str):
        report("index-type", value)
    return index


def identity_of(parent: JsonObject, key: str, path: str, report: Report) -> str | None:
    """Give an accepted identity (I1) or None, with a quirk for what came in its place."""
    if key not in parent:
        return None
    value = parent[key]
    accepted = accept(value)
    if accepted is None:
        kind = "null-identity" if value is None else "empty-identity" if value == "" else "wrong-type"
        report(kind, f"{path}.{key}" if path else key)
    return accepted


def arguments_of(document: Document, parent: JsonObject, key: str, path: str, report: Report) -> str:
    """Give arguments: a string as sent, other JSON as its source text, null as nothing (A1, A2)."""
    value = parent.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    report("arguments-type", f"{path}.{key}" if path else key)
    return document.source(parent, key)


def remark(delta: ToolDelta) -> Report:
    """Give a report that waits until the delta's call is known."""
    return lambda kind, detail: delta.remarks.append((kind, detail))
