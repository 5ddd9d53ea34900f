"""A database in a temporary file, for what must not fill the memory while a long text is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from longcoref.errors import InputError


class TemporaryDatabase:
    """Tables that are made when something is first written, and deleted when nobody needs them any more."""

    def __init__(self, *tables: str) -> None:
        self._tables = tables
        self._connection: sqlite3.Connection | None = None

    def execute(self, statement: str, *values: object) -> None:
        """Writes to the tables."""
        with _our_errors():
            if self._connection is None:
                # An empty name is a temporary file, deleted when it is closed; the server's threads take turns.
                self._connection = sqlite3.connect("", check_same_thread=False)
                for table in self._tables:
                    self._connection.execute(f"create table {table}")
            self._connection.execute(statement, values)

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows that a query finds, one at a time; none if nothing was written yet."""
        if self._connection is not None:
            with _our_errors():
                yield from self._connection.execute(query, values)

    def row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """The first row that a query finds."""
        return next(self.rows(query, *values), None)


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(
            f"the temporary file of recall cannot be used ({error}); free some disk space, or set TMPDIR to a folder "
            "that has some"
        ) from error
