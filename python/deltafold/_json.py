"""JSON values, named and told apart for the type checkers."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

JsonObject: TypeAlias = dict[str, Any]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple, which stands for a list in results."""
    return isinstance(value, tuple)


def copied(value: Any) -> Any:  # noqa: ANN401
    """Copy a JSON value; tuples become lists."""
    if is_object(value):
        return {key: copied(member) for key, member in value.items()}
    if is_list(value) or is_tuple(value):
        return [copied(element) for element in value]
    return value
