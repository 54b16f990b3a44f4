"""JavaScript values as the Harness sees them: parse, read a member, compare, write out.

The real reader is JavaScript. What it accepts and the words of its refusals follow from `JSON.parse`, `===`
and `String()`, so the model of it is built on the same three operations. A number that is a safe integer is
an `int` here, every other number a `float` (-0 stays a float); that makes `Number.isSafeInteger` a type test.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from math import isfinite
from typing import Final, TypeAlias

from deltafold.harness._deep import parse_deep

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Record: TypeAlias = "dict[str, JsonValue]"

MAX_SAFE_INTEGER: Final = 2**53 - 1
_SHORT_INTEGER: Final = 15
_FIXED_DIGITS: Final = 21
_FIXED_ZEROS: Final = -6
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Undefined(Enum):
    """The one JavaScript `undefined`: a member that is not there."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED
JsValue: TypeAlias = "JsonValue | Undefined"


class JsError(Exception):
    """A JavaScript error as the reader would throw it: `name` is its class, `message` its text."""

    def __init__(self, message: str, name: str = "Error") -> None:
        """Keep class and text of the error."""
        super().__init__(message)
        self.name = name
        self.message = message

    def text(self) -> str:
        """Return what `String(error)` gives: class, colon, message."""
        return f"{self.name}: {self.message}"


class NotPrimitiveError(JsError):
    """An object without a usable conversion to text was put into a template string."""

    def __init__(self) -> None:
        """Take the words of V8."""
        super().__init__("Cannot convert object to primitive value", "TypeError")


def integer(text: str) -> int | float:
    """Give the number that JavaScript reads from an integer literal."""
    if len(text) <= _SHORT_INTEGER and text != "-0":
        return int(text)
    return number(text)


def number(text: str) -> int | float:
    """Give the number that JavaScript reads from any JSON number literal; out of range is an infinity."""
    value = float(text)
    if value == 0.0 and text.startswith("-"):
        return -0.0
    if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def _refuse_constant(text: str) -> JsonValue:
    raise ValueError(f"{text} is not JSON")


_decoder: Final = json.JSONDecoder(parse_int=integer, parse_float=number, parse_constant=_refuse_constant)


def parse(text: str) -> JsonValue:
    """Parse one JSON text as `JSON.parse` does: any depth, lone surrogates kept, last duplicate wins.

    Raises ValueError where JSON.parse throws. A byte order mark is not white space.
    """
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark is not JSON")
    try:
        value: JsonValue = _decoder.decode(text)
    except RecursionError:
        return parse_deep(text, integer, number)
    return value


def decode_utf8(raw: bytes) -> str:
    """Decode bytes as `Buffer.toString('utf8')` does: ill-formed parts become U+FFFD, nothing is refused."""
    return raw.decode("utf-8", "replace")


def get(value: JsValue, key: str) -> JsValue:
    """Read `value[key]`; raise the TypeError that JavaScript throws for null and undefined."""
    if value is None or value is UNDEFINED:
        what = "null" if value is None else "undefined"
        raise JsError(f"Cannot read properties of {what} (reading '{key}')", "TypeError")
    if isinstance(value, dict):
        return value.get(key, UNDEFINED)
    return UNDEFINED


def as_record(value: JsValue) -> Record | None:
    """Return the value when it is an object that is not an array."""
    return value if isinstance(value, dict) else None


def is_number(value: JsValue) -> bool:
    """Tell whether `typeof value === 'number'`."""
    return type(value) is int or type(value) is float


def is_negative_zero(value: JsValue) -> bool:
    """Tell whether the value is -0, which JSON can carry and `Object.is` tells from 0."""
    return type(value) is float and value == 0.0


def is_safe_integer(value: JsValue) -> bool:
    """Tell whether `Number.isSafeInteger(value)`; -0 is one."""
    return type(value) is int or is_negative_zero(value)


def is_count(value: JsValue) -> bool:
    """Tell whether the value is a safe integer of at least 0."""
    return is_negative_zero(value) or (type(value) is int and value >= 0)


def as_int(value: JsValue) -> int | None:
    """Return a safe integer as an `int` (-0 as 0), anything else as None."""
    if type(value) is int:
        return value
    return 0 if is_negative_zero(value) else None


def as_text(value: JsValue) -> str | None:
    """Return the value when it is a string."""
    return value if isinstance(value, str) else None


def equal(left: JsValue, right: JsValue) -> bool:
    """Tell whether `left === right`: no conversion, objects by identity."""
    if isinstance(left, (dict, list)) or isinstance(right, (dict, list)):
        return left is right
    if is_number(left) and is_number(right):
        return left == right
    return type(left) is type(right) and left == right


def map_key(value: JsValue) -> tuple[str, object]:
    """Return a key that is equal exactly where a JavaScript Map would find the same entry."""
    if isinstance(value, (dict, list)):
        return ("object", id(value))
    if is_number(value):
        return ("number", value)
    return (type(value).__name__, value)


def deep_equal(left: JsonValue, right: JsonValue) -> bool:
    """Tell whether two JSON values are structurally equal, member order aside; any depth."""
    pending: list[tuple[JsonValue, JsonValue]] = [(left, right)]
    while pending:
        one, two = pending.pop()
        if isinstance(one, list) and isinstance(two, list):
            if len(one) != len(two):
                return False
            pending.extend(zip(one, two, strict=True))
        elif isinstance(one, dict) and isinstance(two, dict):
            if one.keys() != two.keys():
                return False
            pending.extend((one[key], two[key]) for key in one)
        elif not equal(one, two):
            return False
    return True


def number_text(value: float) -> str:
    """Write a number as JavaScript's `String(number)` does."""
    if type(value) is int:
        return str(value)
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(fraction) - len(fraction.lstrip("0")) + 1
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= _FIXED_DIGITS:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _FIXED_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if _FIXED_ZEROS < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = point - 1
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def to_text(value: JsValue) -> str:
    """Write a value as a template string does; raise NotPrimitiveError where JavaScript throws."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return _join(value)
    if isinstance(value, dict):
        if "toString" in value:
            raise NotPrimitiveError
        return "[object Object]"
    return "null" if value is None else "undefined"


def _join(items: list[JsonValue]) -> str:
    """Join as `Array.prototype.toString` does, nested arrays included, without recursion."""
    parts: list[str] = []
    pending: list[JsonValue | tuple[str]] = [items]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            parts.append(item[0])
        elif isinstance(item, list):
            for position, member in reversed(list(enumerate(item))):
                pending.append(member)
                if position:
                    pending.append((",",))
        elif item is not None:
            parts.append(to_text(item))
    return "".join(parts)


def stringify(value: JsonValue) -> str:
    """Write JSON as `JSON.stringify` does: no spaces, lone surrogates escaped, any depth, no infinities."""
    parts: list[str] = []
    pending: list[JsonValue | tuple[str]] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            parts.append(item[0])
        elif isinstance(item, dict):
            pending.append(("}",))
            for position, (key, member) in reversed(list(enumerate(item.items()))):
                pending.extend((member, (f"{',' if position else ''}{_quoted(key)}:",)))
            parts.append("{")
        elif isinstance(item, list):
            pending.append(("]",))
            for position, member in reversed(list(enumerate(item))):
                pending.extend((member, (",",)) if position else (member,))
            parts.append("[")
        else:
            parts.append(_scalar(item))
    return "".join(parts)


def _scalar(value: bool | float | str | None) -> str:  # noqa: FBT001 (a JSON value, not a switch)
    if isinstance(value, str):
        return _quoted(value)
    return "null" if isinstance(value, float) and not isfinite(value) else to_text(value)


def _quoted(text: str) -> str:
    """Write a JSON string, other scripts as they are."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))
