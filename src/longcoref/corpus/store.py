"""Where a corpus run writes: a folder, or any place that fsspec can reach.

    OUT/shards/NAME/{documents,entities,mentions,quotations}.parquet, manifest.jsonl
    OUT/files/ID.SUFFIX          what `--to` asks for
    OUT/lock

In a folder a shard appears by one rename, so it is whole or absent. An object store has no such rename; there, the
manifest is written last, and a shard without one does not exist: the next run removes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from longcoref.errors import InputError, UsageError, optional_module
from longcoref.files import atomic_bytes, atomic_folder

MANIFEST = "manifest.jsonl"
_LEASE = 120  # seconds after which a lock in an object store is taken to be left over
_LONGEST_NAME = 200  # bytes; file systems allow 255


class Store(Protocol):
    """A place for shards and files. A worker on another machine opens it again by its `location`."""

    location: str

    def shards(self) -> list[str]:
        """The names of all complete shards, in order."""

    def has(self, shard: str) -> bool:
        """Whether there is a complete shard of this name."""

    def read(self, shard: str, file: str) -> bytes:
        """A file of a shard."""

    def write_shard(self, shard: str, files: Mapping[str, bytes]) -> None:
        """Writes a shard. An existing one of the same name may lose documents, but must not get others."""

    def delete_shard(self, shard: str) -> None:
        """Removes a shard."""

    def write_file(self, name: str, content: bytes) -> None:
        """Writes a file with a path below `files`."""

    def clean(self) -> None:
        """Removes what killed runs have left unfinished. Only for the holder of the lock."""

    @contextmanager
    def locked(self) -> Iterator[Callable[[], None]]:
        """Keeps other runs out, or raises `UsageError` if there is one; yields a function to call from time to time."""


def open_store(location: str | Path) -> Store:
    """The store at a path, or at a URL such as `s3://bucket/folder`."""
    return _Remote(str(location)) if "://" in str(location) else _Folder(Path(location))


def _manifest_last(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name == MANIFEST)


def file_name(id: str, suffix: str) -> str:
    """The path below `files` for a document: its id, if that is a path that stays there, else a safe one like it."""
    parts = [re.sub(r'[\x00-\x1f<>:"|?*\\]', "_", part) for part in id.split("/") if part not in ("", ".", "..")]
    parts = [part.encode()[:_LONGEST_NAME].decode(errors="ignore") for part in parts] or ["document"]
    path = "/".join(parts)
    return path + ("" if path == id else f"-{hashlib.sha256(id.encode()).hexdigest()[:8]}") + suffix


class _Folder:
    """A folder of this machine, or one that all machines of a cluster have mounted."""

    def __init__(self, folder: Path) -> None:
        self.location = os.path.abspath(folder)
        self._shards, self._files = Path(self.location) / "shards", Path(self.location) / "files"

    def shards(self) -> list[str]:
        return sorted(path.parent.name for path in self._shards.glob(f"[!.]*/{MANIFEST}"))

    def has(self, shard: str) -> bool:
        return (self._shards / shard / MANIFEST).exists()

    def read(self, shard: str, file: str) -> bytes:
        try:
            return (self._shards / shard / file).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read this file: {error.strerror}", self._shards / shard / file) from error

    def write_shard(self, shard: str, files: Mapping[str, bytes]) -> None:
        if (self._shards / shard).exists():  # file by file: a killed run must not lose the documents that stay
            for name in _manifest_last(files):
                with atomic_bytes(self._shards / shard / name) as stream:
                    stream.write(files[name])
            return
        with atomic_folder(self._shards / shard) as folder:
            for name, content in files.items():
                (folder / name).write_bytes(content)

    def delete_shard(self, shard: str) -> None:
        hidden = self._shards / f".{secrets.token_hex(8)}.part"
        (self._shards / shard).rename(hidden)
        shutil.rmtree(hidden)

    def write_file(self, name: str, content: bytes) -> None:
        path = self._files / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create this folder: {error.strerror}", path.parent) from error
        with atomic_bytes(path) as stream:
            stream.write(content)

    def clean(self) -> None:
        for path in self._shards.glob(".*.part"):
            shutil.rmtree(path)
        for path in self._files.rglob(".*.part"):
            path.unlink()

    @contextmanager
    def locked(self) -> Iterator[Callable[[], None]]:
        try:
            Path(self.location).mkdir(parents=True, exist_ok=True)
            stream = (Path(self.location) / "lock").open("ab")
        except OSError as error:
            raise InputError(f"cannot write here: {error.strerror}", self.location) from error
        with stream:  # the system releases the lock when the process ends, however it ends
            if not _lock(stream.fileno()):
                raise UsageError(f"{self.location}: another run is writing here; wait for it, or choose another folder")
            yield lambda: None


def _lock(descriptor: int) -> bool:
    """Locks an open file for this process, if no other process has."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class _Remote:
    """A place that fsspec can reach. The lock is a lease: it expires if its holder does not renew it."""

    def __init__(self, url: str) -> None:
        fsspec = optional_module("fsspec", extra="corpus", needed_for="writing to a URL")
        self.location = url
        self._system, self._root = fsspec.core.url_to_fs(url)

    def _path(self, *parts: str) -> str:
        return "/".join([self._root.rstrip("/"), *parts])

    def _put(self, path: str, content: bytes) -> None:
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(path, content)

    def shards(self) -> list[str]:
        return sorted(path.split("/")[-2] for path in self._system.glob(self._path("shards", "*", MANIFEST)))

    def has(self, shard: str) -> bool:
        path = self._path("shards", shard, MANIFEST)
        self._system.invalidate_cache(path)
        return bool(self._system.exists(path))

    def read(self, shard: str, file: str) -> bytes:
        content: bytes = self._system.cat_file(self._path("shards", shard, file))
        return content

    def write_shard(self, shard: str, files: Mapping[str, bytes]) -> None:
        for name in _manifest_last(files):
            self._put(self._path("shards", shard, name), files[name])

    def delete_shard(self, shard: str) -> None:
        self._system.rm_file(self._path("shards", shard, MANIFEST))
        self._system.rm(self._path("shards", shard), recursive=True)

    def write_file(self, name: str, content: bytes) -> None:
        self._put(self._path("files", name), content)

    def clean(self) -> None:
        self._system.invalidate_cache()
        complete = set(self.shards())
        if self._system.exists(self._path("shards")):
            for path in self._system.ls(self._path("shards"), detail=False):
                if path.rstrip("/").rpartition("/")[2] not in complete:
                    self._system.rm(path, recursive=True)

    @contextmanager
    def locked(self) -> Iterator[Callable[[], None]]:
        path, token, until = self._path("lock"), secrets.token_hex(8), 0.0

        def holder() -> dict[str, Any]:
            try:
                found: dict[str, Any] = json.loads(self._system.cat_file(path))
            except (FileNotFoundError, ValueError):
                found = {"token": None, "until": 0}
            return found

        def renew() -> None:
            nonlocal until
            if until - time.time() < _LEASE / 2:
                if until and holder()["token"] != token:
                    raise UsageError(f"{self.location}: another run has taken over this place")
                until = time.time() + _LEASE
                self._put(path, json.dumps({"token": token, "until": until}).encode())

        if holder()["until"] > time.time():
            raise UsageError(
                f"{self.location}: another run is writing here, or was killed less than {_LEASE} seconds ago"
            )
        renew()
        try:
            yield renew
        finally:
            if holder()["token"] == token:
                self._system.rm_file(path)
