"""Errors of the libraries that read a model's files, turned into our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from longcoref.errors import LongcorefError, ModelError

_SHOWN = 200  # characters of the library's own message


@contextmanager
def as_model_error(message: str) -> Iterator[None]:
    """Raises `ModelError` with this message for whatever a library raises inside.

    A panic in a library written in Rust derives from `BaseException` only.
    """
    try:
        yield
    except (LongcorefError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        reason = (str(error).splitlines() or [""])[0][:_SHOWN] or type(error).__name__
        raise ModelError(f"{message} ({reason})") from error
