"""Output files that are complete or absent: the only module that writes under a name given by the caller."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from longcoref.errors import InputError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_STANDARD_OUTPUTS = (1, 2)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yields the name of a temporary file that replaces `path` when the block succeeds: for libraries that take a name.

    A failed or killed run leaves the old file or none, never part of a new one. The content is on disk before the name
    changes. Symbolic links are followed and the mode of an existing file is kept. A device, a FIFO or our own standard
    output (`/dev/stdout`) cannot be replaced; the content is copied to it at the end of the block.
    """
    descriptor = _special(path)
    if descriptor is None:
        with _staged(path) as temporary:
            yield temporary
    else:
        with io.BufferedWriter(_Output(descriptor, path)) as stream, tempfile.TemporaryDirectory() as scratch:
            temporary = Path(scratch) / "content"
            yield temporary
            with temporary.open("rb") as content:
                shutil.copyfileobj(content, stream)


@contextmanager
def atomic_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a binary file that appears under its name only when the block succeeds; see `atomic_path`.

    What is written to a device, a FIFO or our own standard output gets there at once.
    """
    descriptor = _special(path)
    if descriptor is None:
        with _staged(path) as temporary, _opened(temporary, path) as stream:
            yield stream
    else:
        with io.BufferedWriter(_Output(descriptor, path)) as stream:
            yield stream


@contextmanager
def atomic_text(path: str | Path) -> Iterator[IO[str]]:
    """Opens a UTF-8 text file that appears under its name only when the block succeeds; see `atomic_bytes`."""
    with atomic_bytes(path) as stream, _text(stream) as text:
        yield text


@contextmanager
def atomic_texts(folder: str | Path) -> Iterator[Callable[[str], AbstractContextManager[IO[str]]]]:
    """Yields a function that opens a text file of `folder` by name; all files appear when the block succeeds."""
    root = Path(folder)
    with _errors_about(root):
        root.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=root)

    @contextmanager
    def opened(name: str) -> Iterator[IO[str]]:
        with _opened(Path(scratch.name) / name, root / name) as stream, _text(stream) as text:
            yield text

    with scratch:
        yield opened
        for temporary in sorted(Path(scratch.name).iterdir()):
            target = root / temporary.name
            with _errors_about(target):
                _replace(temporary, Path(os.path.realpath(target)))


@contextmanager
def atomic_folder(folder: str | Path) -> Iterator[Path]:
    """Yields a temporary folder that replaces `folder`, with everything in it, when the block succeeds."""
    target = Path(os.path.realpath(folder))
    with _errors_about(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=target.parent)
    with scratch:
        new, old = Path(scratch.name) / "new", Path(scratch.name) / "old"
        with _errors_about(target):
            new.mkdir()
        with _full_disk_at(target):
            yield new
        with _errors_about(target):
            for file in new.rglob("*"):
                _flush(file)
            _flush(new)
            if target.exists():
                target.rename(old)
            try:
                new.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
            _flush(target.parent)


class _Output(io.FileIO):
    """A file opened for writing; when a write fails, the error names the file that the user asked for."""

    def __init__(self, descriptor: int, target: str | Path) -> None:
        super().__init__(descriptor, "wb")
        self._target = target

    def write(self, data: Any, /) -> int:
        """Writes some of the data and says how much."""
        with _errors_about(self._target):
            return os.write(self.fileno(), data)


def _opened(place: Path, target: str | Path) -> BinaryIO:
    """A stream that writes to `place` what is to become `target`."""
    with _errors_about(target):
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    return io.BufferedWriter(_Output(descriptor, target))


def _text(stream: BinaryIO) -> IO[str]:
    return io.TextIOWrapper(stream, encoding="utf-8", newline="\n")


def _special(path: str | Path) -> int | None:
    """A descriptor to write to if `path` names something that must not be replaced; None for files and new names."""
    with _errors_about(path):
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        for descriptor in _STANDARD_OUTPUTS:
            try:
                same = os.path.samestat(found, os.fstat(descriptor))
            except OSError:  # closed
                continue
            if same:
                return os.dup(descriptor)
        return None if stat.S_ISREG(found.st_mode) else os.open(path, os.O_WRONLY)


@contextmanager
def _staged(path: str | Path) -> Iterator[Path]:
    """Yields a temporary file beside the file that `path` leads to, and replaces it when the block succeeds."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with _errors_about(path):
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if target.exists() else 0o666))
            mode = stat.S_IMODE((target if target.exists() else temporary).stat().st_mode)
        with _full_disk_at(path):
            yield temporary
        with _errors_about(path):
            temporary.chmod(mode)  # a library may have put a private file of its own there
            _replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _replace(temporary: Path, target: Path) -> None:
    """Moves a file into place; the content is on disk before the name changes, and the name when this returns."""
    _flush(temporary)
    os.replace(temporary, target)
    _flush(target.parent)


def _flush(path: Path) -> None:
    """Waits until a file, or the list of names in a folder, is on disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _full_disk_at(target: str | Path) -> Iterator[None]:
    """Names the target if the disk is full; other errors of the caller's block have causes that we do not know."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise InputError(f"cannot write here: {error.strerror}", target) from error
        raise


@contextmanager
def _errors_about(target: str | Path) -> Iterator[None]:
    """Turns a failed system call into an error that names the target; that its reader has left is no error of ours."""
    try:
        yield
    except BrokenPipeError:
        raise
    except IsADirectoryError as error:
        raise InputError("is a folder; give a file name", target) from error
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}", target) from error
