"""Output files that are whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from longcoref.errors import InputError


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yields a temporary name beside `path`; moves it into place when the block ends well, else removes it.

    A killed or failed run leaves either the old file or none, never half of one.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}", target) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, target)
    except IsADirectoryError as error:
        raise InputError("is a folder; give a file name", target) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_text(path: str | Path) -> Iterator[IO[str]]:
    """Opens a UTF-8 text file for writing that appears under its name only when complete."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
