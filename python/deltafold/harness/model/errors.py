"""How the reader refuses: the class and the text of each error."""

from __future__ import annotations

from deltafold.harness.js import JsError, Record

CORRUPTION = "SessionPersistenceCorruptionError"
UNSUPPORTED = "SessionFormatUnsupportedError"


class UnsupportedError(JsError):
    """A log that is whole but that this version of the reader does not interpret."""

    def __init__(self, message: str) -> None:
        """Keep the text; the class is always the same."""
        super().__init__(message, UNSUPPORTED)


def corruption(session: str, error: JsError) -> JsError:
    """Wrap a validation failure as load and inspect do."""
    return JsError(f'stored session "{session}" failed validation: {error.text()}', CORRUPTION)


def answer(error: JsError) -> Record:
    """Return the error as the object that `check --json` shows."""
    return {"error": error.name, "message": error.message}
