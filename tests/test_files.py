"""Output files: complete or absent, whatever fails; and what is no file is written to, not replaced."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.document import document_of_words
from longcoref.errors import InputError
from longcoref.files import atomic_bytes, atomic_folder, atomic_path, atomic_text, atomic_texts
from longcoref.formats import write_corpus
from longcoref.formats.source import open_source

OLD, NEW = b"old", b"new " * 50_000


def by_path(target: Path) -> None:
    with atomic_path(target) as temporary:
        temporary.unlink(missing_ok=True)  # as libraries do that bring a temporary file of their own
        temporary.write_bytes(NEW)


def by_bytes(target: Path) -> None:
    with atomic_bytes(target) as stream:
        stream.write(NEW)


def by_text(target: Path) -> None:
    with atomic_text(target) as stream:
        stream.write(NEW.decode())


def by_texts(target: Path) -> None:
    with atomic_texts(target.parent) as opened, opened(target.name) as stream:
        stream.write(NEW.decode())


def by_folder(target: Path) -> None:
    """A folder as a whole; the file is the only one in it."""
    with atomic_folder(target.parent) as folder, atomic_bytes(folder / target.name) as stream:
        stream.write(NEW)


Writer = Callable[[Path], None]
FILE_WRITERS: list[Writer] = [by_path, by_bytes, by_text]
WRITERS: list[Writer] = [*FILE_WRITERS, by_texts, by_folder]
EACH_FILE = pytest.mark.parametrize("write", FILE_WRITERS)
EACH = pytest.mark.parametrize("write", WRITERS)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


@EACH_FILE
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_of_an_existing_file_is_kept(write: Writer, mode: int, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(OLD)
    target.chmod(mode)
    write(target)
    assert target.read_bytes() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == mode


@EACH
def test_a_new_file_has_the_mode_that_the_user_asks_for(write: Writer, tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write(tmp_path / "folder" / "out") if write in (by_texts, by_folder) else write(tmp_path / "out")
    finally:
        os.umask(umask)
    (written,) = tmp_path.rglob("out")
    assert stat.S_IMODE(written.stat().st_mode) == 0o640


@EACH_FILE
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(write: Writer, there: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link, second = tmp_path / "elsewhere" / "out", tmp_path / "link", tmp_path / "second"
    if there:
        target.write_bytes(OLD)
    link.symlink_to("elsewhere/out")
    second.symlink_to(link)
    write(second)
    assert (link.is_symlink(), second.is_symlink()) == (True, True)
    assert target.read_bytes() == NEW
    assert names(tmp_path) == ["elsewhere", "link", "out", "second"]


@EACH_FILE
def test_a_pipe_is_written_to(write: Writer, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    reader.join()
    assert received == [NEW]


@EACH_FILE
def test_a_device_is_written_to(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "NEW", b"new")  # more would wait for a reader
    ours, theirs = os.openpty()
    try:
        name = Path(os.ttyname(theirs))
        write(name)
        assert stat.S_ISCHR(name.stat().st_mode)
        assert os.read(ours, 100) == b"new"
    finally:
        os.close(ours)
        os.close(theirs)


@EACH_FILE
def test_a_folder_is_no_file(write: Writer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write(tmp_path)
    assert names(tmp_path) == []


@EACH
def test_a_block_that_fails_leaves_what_was_there(
    write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder" / "out"
    target.parent.mkdir()
    target.write_bytes(OLD)
    monkeypatch.setitem(globals(), "NEW", None)
    with pytest.raises((TypeError, AttributeError)):
        write(target)
    assert target.read_bytes() == OLD
    assert names(tmp_path) == ["folder", "out"]


@EACH
@pytest.mark.parametrize("call", ["write", "fsync", "replace", "rename", "mkdir"])
def test_any_system_call_may_fail(write: Writer, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the first call fail, then the second, until there is none left to fail."""
    real = getattr(os, call)
    target = tmp_path / "folder" / "out"
    target.parent.mkdir()
    for failing in range(1, 100):
        target.write_bytes(OLD)
        calls = itertools.count(1)

        def faulty(
            *arguments: object, failing: int = failing, calls: Iterator[int] = calls, **options: object
        ) -> object:
            if next(calls) == failing:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments, **options)

        monkeypatch.setattr(os, call, faulty)
        message = ""
        try:
            write(target)
        except InputError as error:
            message = str(error)
        monkeypatch.setattr(os, call, real)
        content = target.read_bytes()
        assert names(tmp_path) == ["folder", "out"]
        if not message and next(calls) <= failing:  # fewer calls than that
            assert content == NEW
            return
        assert message.startswith(str(tmp_path)) or call == "mkdir"  # that a folder exists already is no failure
        assert "No space left" in message or call == "mkdir"
        # Once the name has changed, only the wait for the disk can fail, and the new file is complete.
        assert content == OLD or (content == NEW and (call == "fsync" or not message))
    pytest.fail("no end of calls")


def kill_at_every_call(folder: Path) -> int:
    """Writes in a child that kills itself before its first system call, then before its second, until it survives.

    Returns the number of killed children. Checks after each that the old content or the new one is there.
    """
    target, kills = folder / "folder" / "out", 0
    for write in WRITERS:
        for fatal in itertools.count(1):
            shutil.rmtree(folder)
            target.parent.mkdir(parents=True)
            target.write_bytes(OLD)
            child = os.fork()
            if child == 0:
                calls = itertools.count(1)
                for name in ("open", "write", "fsync", "replace", "rename", "mkdir", "chmod", "close", "unlink"):
                    setattr(os, name, _deadly(getattr(os, name), fatal, calls))
                write(target)
                os._exit(0)
            status = os.waitpid(child, 0)[1]
            # Between the two renames of a folder, the old one is in the hidden folder beside it.
            left = [path.read_bytes() for path in folder.rglob("out") if path == target or path.parent.name == "old"]
            assert left in ([OLD], [NEW], [NEW, OLD], [OLD, NEW]), (write, fatal)
            if not os.WIFSIGNALED(status):
                assert (status, left) == (0, [NEW])
                break
            kills += 1
    return kills


def _deadly(call: Callable[..., object], fatal: int, calls: Iterator[int]) -> Callable[..., object]:
    def counted(*arguments: object, **options: object) -> object:
        if next(calls) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)

    return counted


def test_a_kill_at_any_call_loses_nothing(tmp_path: Path) -> None:
    """In a process of its own, which has no threads when it forks."""
    code = "import sys, pathlib, test_files; print(test_files.kill_at_every_call(pathlib.Path(sys.argv[1])))"
    (tmp_path / "place").mkdir()
    command = [sys.executable, "-c", code, str(tmp_path / "place")]
    run = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 50


@given(st.integers(1, 3 * len(NEW)))
def test_a_file_that_shrinks_while_it_is_read_is_an_error(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(NEW * 4)
        with open_source(path) as source:
            chunks = source.chunks(1000)
            next(chunks)
            os.truncate(path, size)
            with pytest.raises(InputError, match="of 800000 bytes: it was cut"):
                deque(chunks, maxlen=0)


# ---- the command line ------------------------------------------------------------------------------------------

LONGCOREF = [sys.executable, "-m", "longcoref"]


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """A document that fills more than the buffer of a pipe when it is written as JSON."""
    path = tmp_path / "long.jsonlines"
    write_corpus([document_of_words("long", [["word"] * 20] * 1000)], path)
    return path


def test_a_reader_that_leaves_is_no_failure(long_file: Path) -> None:
    with subprocess.Popen(
        [*LONGCOREF, "convert", long_file, "-", "--to", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.read(1) == b"{"
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 0


@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        (">&-", 0, ""),
        ("> /dev/full", 1, "longcoref: standard output: cannot write here: No space left on device\n"),
    ],
)
def test_an_output_that_takes_nothing(long_file: Path, redirection: str, code: int, message: str) -> None:
    command = f'exec "$@" {redirection}'
    run = subprocess.run(
        ["sh", "-c", command, "sh", *LONGCOREF, "convert", long_file, "-", "--to", "json"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (code, message)


def test_a_full_disk_names_the_file(long_file: Path) -> None:
    with pytest.raises(InputError, match=r"^/dev/full: cannot write here: No space left"):
        write_corpus([document_of_words("long", [["word"] * 20] * 1000)], "/dev/full", format="json")


def test_our_own_output_is_appended_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(OLD)
    code = "from longcoref.files import atomic_text\nwith atomic_text('/dev/stdout') as stream: stream.write('new')"
    with log.open("ab") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert log.read_bytes() == b"oldnew"


_WAITING = """
import signal
import sys
import longcoref.cli.app
from longcoref.cli import main
from longcoref.files import atomic_folder, atomic_text

def command(arguments):
    with atomic_text(arguments[0]) as stream, atomic_folder(arguments[0] + ".model") as folder:
        stream.write("half of it")
        print("ready", flush=True)
        sys.stdin.read()

# Whatever the tests themselves were started with, such as nohup.
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, getattr(signal, sys.argv.pop()))
longcoref.cli.app.build_app = lambda: command
main(sys.argv[1:])
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(OLD)
    command = [sys.executable, "-c", _WAITING, str(target), "SIG_DFL"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        assert len(names(tmp_path)) > 1
        run.send_signal(number)
        assert run.wait() == 128 + number
    assert names(tmp_path) == ["out"]
    assert target.read_bytes() == OLD


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    target = tmp_path / "out"
    command = [sys.executable, "-c", _WAITING, str(target), "SIG_IGN"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdin is not None
        assert run.stdout.readline() == b"ready\n"
        run.send_signal(signal.SIGHUP)
        run.stdin.close()
        assert run.wait() == 0
    assert target.read_bytes() == b"half of it"
