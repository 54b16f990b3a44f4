"""What can go wrong, each with its kind, its place in the stream and what had come before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from deltafold.completion import Completion


def _rebuild(cls: type[DeltafoldError], values: dict[str, object]) -> DeltafoldError:
    """Make an error again without its constructor; the partial follows as state, so that cycles pickle."""
    error = cls.__new__(cls, values["message"])
    error.__dict__.update(values)
    return error


class DeltafoldError(Exception):
    """Any error of this package.

    `message` is the reason alone. `kind` is the machine-readable reason. `frame` is the number of the
    server-sent event (from 0) and `offset` the byte in the stream where its first field line begins; both
    are None where there is no such place. `partial` is the Completion up to the error (P7), or None.

    Errors compare by class, kind, frame and offset, those of a provider by all that it sent; texts for
    people and `partial` take no part.
    """

    hint: ClassVar[str] = ""
    kind: str
    message: str
    frame: int | None
    offset: int | None
    partial: Completion | None

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        frame: int | None = None,
        offset: int | None = None,
        partial: Completion | None = None,
    ) -> None:
        """Keep the reason, the place and the Completion so far."""
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.frame = frame
        self.offset = offset
        self.partial = partial

    def __str__(self) -> str:
        """Say the reason, the place, and what to do."""
        place = [f"frame {self.frame}"] if self.frame is not None else []
        if self.offset is not None:
            place.append(f"byte {self.offset}")
        where = f" (at {', '.join(place)} of the stream)" if place else ""
        return f"{self.message}{where}{'. ' if self.hint else ''}{self.hint}"

    def _value(self) -> tuple[object, ...]:
        return (self.kind, self.frame, self.offset)

    def __eq__(self, other: object) -> bool:
        """Compare by class and value."""
        if not isinstance(other, DeltafoldError):
            return NotImplemented
        return type(self) is type(other) and self._value() == other._value()

    def __hash__(self) -> int:
        """Hash by value, as equality does."""
        return hash((type(self).__name__, *self._value()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by value, the partial included."""
        values = {name: value for name, value in self.__dict__.items() if name != "partial"}
        return (_rebuild, (type(self), values), {"partial": self.partial})


class WireError(DeltafoldError, ValueError):
    """The bytes are not what the wire sends.

    Kinds: `malformed-payload` (P3), `unknown-wire` (W1), `not-an-event-stream` (E6).
    """

    hint = "Check the address, the request and the `wire` argument; malformed='skip' passes over bad payloads"


class LimitError(DeltafoldError):
    """A limit of S8 was passed: `line`, `event`, `choices`, `calls`, `text` or `depth`."""

    hint = "Raise the limit with `limits=Limits(...)` if the source is to be trusted"


class ProviderError(DeltafoldError):
    """The provider said that it failed (E6), kind `provider-error`; `type`, `code` and `status` as sent."""

    hint = "What came before is in `.partial`"
    type: str | None
    code: str | int | None
    status: int | None

    def __init__(  # noqa: PLR0913
        self,
        message: str,
        *,
        kind: str = "provider-error",
        frame: int | None = None,
        offset: int | None = None,
        partial: Completion | None = None,
        type: str | None = None,  # noqa: A002
        code: str | int | None = None,
        status: int | None = None,
    ) -> None:
        """Keep what the provider sent."""
        super().__init__(message, kind=kind, frame=frame, offset=offset, partial=partial)
        self.type = type
        self.code = code
        self.status = status

    def _value(self) -> tuple[object, ...]:
        return (*super()._value(), self.message, self.type, self.code, self.status)


class MalformedToolCall(DeltafoldError):  # noqa: N818
    """A tool call that cannot be used as asked: `missing-id` (I12, X6), `not-complete` (A7)."""

    hint = "Look at the call's `status` before using it"


class IncompleteStream(DeltafoldError):  # noqa: N818
    """The stream ended before the response did (E5), kind `cut`."""

    hint = "What had come is in `.partial`; ask again, or use it knowingly"
