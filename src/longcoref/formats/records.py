"""JSON objects with the line on which they begin: shared by the JSON formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longcoref.errors import InputError, quoted, shortened
from longcoref.formats.source import Source

_WHITE = " \t\r\n"
_DIGITS = 18  # of the largest number; Python takes quadratic time to parse long ones, and refuses to print them


def is_list_of(value: object, kind: type) -> bool:
    """Whether `value` is a list of exactly this type: in JSON, true is not a number."""
    return isinstance(value, list) and all(type(item) is kind for item in value)


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object; its accessors check types, and their errors name file, line and key."""

    values: dict[str, Any]
    source: Source
    line: int
    path: str = ""

    def get(self, key: str) -> Any:
        """The value of a key; None if it is missing or null."""
        return self.values.get(key)

    def array(self, key: str) -> list[Any]:
        """The list at a key, which is required."""
        value: list[Any] = self._typed(key, list, "a list")
        return value

    def string(self, key: str) -> str | None:
        """The string at a key, or None."""
        value: str | None = None if self.get(key) is None else self._typed(key, str, "a string")
        return value

    def integer(self, key: str) -> int:
        """The number at a key, which is required and at least 0."""
        value: int = self._typed(key, int, "a number")
        if value < 0:
            raise self.error(f"{self.path}{key}: expected 0 or more, got {quoted(value)}")
        return value

    def number(self, key: str) -> float:
        """The number from 0 to 1 at a key, which is required."""
        value: Any = self.values.get(key)
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise self.error(f"{self.path}{key}: expected a number from 0 to 1, got {quoted(value)}")
        return float(value)

    def records(self, key: str) -> list[Record]:
        """The objects of the list at a key, which is required."""
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
            raise self.error(f"{self.path}{key}: expected {expected}, got {quoted(value)}")
        return value


def read_record_lines(source: Source) -> Iterator[Record]:
    """One object per line; blank lines are ignored."""
    for number, line in source.lines():
        if line.strip(_WHITE):
            value, end = _decode(source, line, 0, number)
            if line[end:].strip(_WHITE):
                raise source.error(
                    f"expected one JSON object per line, got one followed by {quoted(line[end:].strip())}", number
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
            raise source.error("expected ',' or ']' after a document", 1 + text.count("\n", 0, position))
    if listed and text[position + 1 :].strip(_WHITE):
        raise source.error("text after the closing ']'", 1 + text.count("\n", 0, position))


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"a number of more than {_DIGITS} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_integer)


def _decode(source: Source, text: str, position: int, line: int) -> tuple[Any, int]:
    """The JSON value at a position and where it ends. `line` is where it begins."""
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, position))
        if "\\ud" in text[position:end].lower():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        line += text.count("\n", position, error.pos)
        raise source.error(f"not JSON: {error.msg} at column {error.colno}", line) from error
    except UnicodeEncodeError as error:
        raise source.error("half of a surrogate pair is not a character", line) from error
    except (ValueError, RecursionError) as error:
        raise source.error(f"cannot read this JSON: {shortened(str(error))}", line) from error
    return value, end


def _record(source: Source, value: Any, line: int) -> Record:
    if type(value) is not dict:
        raise source.error(f"expected a JSON object, got {quoted(value)}", line)
    return Record(value, source, line)
