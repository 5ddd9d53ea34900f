"""JSON objects with the line they begin on: what the two JSON formats share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longcoref.errors import InputError
from longcoref.formats.source import Source

_WHITE = " \t\r\n"


def is_list_of(value: object, kind: type) -> bool:
    """Whether `value` is a list of exactly this type: JSON's true is no number."""
    return isinstance(value, list) and all(type(item) is kind for item in value)


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object; its accessors check types and complain with file, line and key."""

    values: dict[str, Any]
    source: Source
    line: int
    path: str = ""

    def get(self, key: str) -> Any:
        """The value of a key, None where it is missing or null."""
        return self.values.get(key)

    def array(self, key: str) -> list[Any]:
        """The list at a key, which must be there."""
        value: list[Any] = self._typed(key, list, "a list")
        return value

    def string(self, key: str) -> str | None:
        """The string at a key, or None."""
        value: str | None = None if self.get(key) is None else self._typed(key, str, "a string")
        return value

    def integer(self, key: str) -> int:
        """The number at a key, which must be there, at least 0."""
        value: int = self._typed(key, int, "a number")
        if value < 0:
            raise self.error(f"{self.path}{key}: expected 0 or more, got {value}")
        return value

    def records(self, key: str) -> list[Record]:
        """The objects of the list at a key, which must be there."""
        values = self.array(key)
        if not is_list_of(values, dict):
            raise self.error(f"{self.path}{key}: expected a list of objects")
        return [
            Record(value, self.source, self.line, f"{self.path}{key}[{index}].") for index, value in enumerate(values)
        ]

    def error(self, message: str) -> InputError:
        """An error about this object."""
        return self.source.error(message, self.line)

    def _typed(self, key: str, kind: type, expected: str) -> Any:
        value = self.values.get(key)
        if type(value) is not kind:
            raise self.error(f"{self.path}{key}: expected {expected}, got {json.dumps(value)[:60]}")
        return value


def read_record_lines(source: Source) -> Iterator[Record]:
    """One object per line; blank lines are passed over."""
    for number, line in source.lines():
        if line.strip(_WHITE):
            value, end = _decode(source, line, 0, number)
            if line[end:].strip(_WHITE):
                raise source.error(
                    f"expected one JSON object per line, got {line[end:].strip()[:60]!r} behind it", number
                )
            yield _record(source, value, number)


def read_records(source: Source) -> Iterator[Record]:
    """The objects of a file: a single one, a list of them, or one after another."""
    text = source.text()
    position = _skip(text, 0)
    listed = text[position : position + 1] == "["
    if listed:
        position = _skip(text, position + 1)
    counted, line = 0, 1
    while position < len(text) and not (listed and text[position] == "]"):
        line += text.count("\n", counted, position)
        counted = position
        value, position = _decode(source, text, position, line)
        yield _record(source, value, line)
        position = _skip(text, position)
        if listed and text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif listed and text[position : position + 1] != "]":
            raise source.error("expected ',' or ']' behind a document", 1 + text.count("\n", 0, position))
    if listed and text[position + 1 :].strip(_WHITE):
        raise source.error("text behind the closing ']'", 1 + text.count("\n", 0, position))


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position


def _decode(source: Source, text: str, position: int, line: int) -> tuple[Any, int]:
    """The JSON value at a position and where it ends. `line` is where it begins."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, _skip(text, position))
        if "\\ud" in text[position:end].lower():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        line += text.count("\n", position, error.pos)
        raise source.error(f"not JSON: {error.msg} at column {error.colno}", line) from error
    except UnicodeEncodeError as error:
        raise source.error("half of a surrogate pair is no character", line) from error
    except (ValueError, RecursionError) as error:
        raise source.error(f"not JSON that can be read: {error}", line) from error
    return value, end


def _record(source: Source, value: Any, line: int) -> Record:
    if type(value) is not dict:
        raise source.error(f"expected a JSON object, got {json.dumps(value)[:60]}", line)
    return Record(value, source, line)
