"""Chunks of openai-python built from parsed JSON by a plan for each class, not by the SDK's own builder.

The SDK walks every annotation of every object anew, which is most of what a chunk costs there. Here each
class is looked at once. What its plan does not foresee (a value of another type, an alias, a union) is built
by the SDK itself, so that both give equal objects.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin

from openai import AsyncStream, BaseModel
from openai._models import construct_type

from deltafold._json import is_list, is_object
from deltafold.adapters._payloads import payload_of

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALARS = frozenset({str, int, bool, NoneType})
_new = object.__new__
_set = object.__setattr__


class Member(NamedTuple):
    """What a plan foresees of a member: values of these types, or these literals, as they are, or objects."""

    types: frozenset[type] = frozenset()
    literals: frozenset[Any] = frozenset()
    model: type[BaseModel] | None = None
    listed: bool = False
    optional: bool = False


class Plan(NamedTuple):
    """The members of a class, what those have that were not sent, and which pydantic asks for."""

    members: dict[str, Member]
    defaults: dict[str, Any]
    required: frozenset[str]


_plans: dict[type[BaseModel], Plan] = {}


class NotForeseenError(Exception):
    """A value is not what its class says, or the class is none that a plan can be made of."""


def build(cls: type[BaseModel], value: Any) -> Any:
    """Give the object of a class that the SDK's builder gives for this JSON value."""
    try:
        return planned(cls, value)
    except NotForeseenError:
        return construct_type(value=value, type_=cls)


def planned(cls: type[BaseModel], value: Any) -> Any:
    """Give the object, by plans alone; NotForeseenError where they do not do."""
    return _object(cls, value, validated=False)


def _object(cls: type[BaseModel], value: Any, *, validated: bool) -> Any:
    """Give an object.

    What stands in an optional member is validated by the SDK; pydantic then counts what a class does not name
    among what was sent, and asks for what is required.
    """
    if not is_object(value):
        raise NotForeseenError
    plan = _plans.get(cls) or _plan(cls)
    values = plan.defaults.copy()
    further: dict[str, Any] = {}
    sent: set[str] = set()
    for name, given in value.items():
        member = plan.members.get(name)
        if member is None:
            further[name] = given
            continue
        sent.add(name)
        if type(given) in member.types or (isinstance(given, str) and given in member.literals):
            values[name] = given
        else:
            values[name] = _within(member, given, validated=validated or member.optional)
    if validated:
        if not (plan.required <= sent and all(map(str.isascii, further))):  # pydantic takes no surrogate
            raise NotForeseenError
        sent.update(further)
    built = _new(cls)
    _set(built, "__dict__", values)
    _set(built, "__pydantic_private__", None)
    _set(built, "__pydantic_extra__", further)
    _set(built, "__pydantic_fields_set__", sent)
    return built


def _within(member: Member, given: Any, *, validated: bool) -> Any:
    """Give the object or the objects that a member holds."""
    model = member.model
    if model is None:
        raise NotForeseenError
    if not member.listed:
        return _object(model, given, validated=validated)
    if not is_list(given):
        raise NotForeseenError
    return [_object(model, entry, validated=validated) for entry in given]


def _plan(cls: type[BaseModel]) -> Plan:
    members: dict[str, Member] = {}
    defaults: dict[str, Any] = {}
    for name, field in cls.model_fields.items():
        if field.alias is not None or field.default_factory is not None or field.metadata:
            raise NotForeseenError
        members[name] = _member(field.annotation)
        default = None if field.is_required() else field.default
        if type(default) not in _SCALARS:
            raise NotForeseenError
        defaults[name] = default
    required = frozenset(name for name, field in cls.model_fields.items() if field.is_required())
    plan = _plans[cls] = Plan(members, defaults, required)
    return plan


def _member(annotation: Any) -> Member:
    """Give what a plan foresees of a member so annotated: nothing where it is none of the plain kinds."""
    kinds = set(get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,))
    optional = frozenset({NoneType} & kinds)
    if len(kinds - optional) != 1:
        return Member(optional)
    (kind,) = kinds - optional
    if kind in _SCALARS:
        return Member(optional | {kind})
    if get_origin(kind) is Literal:
        return Member(optional, frozenset(get_args(kind)))
    listed = get_origin(kind) is list
    model = get_args(kind)[0] if listed else kind
    if isinstance(model, type) and issubclass(model, BaseModel):
        return Member(optional, model=model, listed=listed, optional=bool(optional))
    return Member(optional)


class _Builder:
    """Stands before the client of one of the SDK's streams, which asks it to make chunks of parsed JSON."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._last: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def _process_response_data(self, *, data: Any, cast_to: Any, response: Any) -> Any:  # noqa: ARG002
        """The SDK's own name for it."""
        self._last = data
        return build(cast_to, data)

    def payload(self, _chunk: Any) -> bytes:
        """Give the payload of the chunk that was built last."""
        return payload_of(self._last)


def quickened(chunks: Any) -> Callable[[Any], bytes] | None:
    """Let one of the SDK's streams build its chunks so, and give what gives the payload of its newest one.

    None where it is no stream of the SDK, or one whose client validates strictly: that stays as it is.
    """
    client = getattr(chunks, "_client", None)
    if not isinstance(chunks, AsyncStream) or client is None or client._strict_response_validation:  # noqa: SLF001
        return None
    builder = _Builder(client)
    chunks._client = builder  # type: ignore[assignment, unused-ignore]  # noqa: SLF001
    return builder.payload
