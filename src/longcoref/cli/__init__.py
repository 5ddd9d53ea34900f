"""The command line. Each command is a module that parses its options and calls a library function.

Only `main` turns an error into a line on standard error and an exit code: 0 success, 1 failure, 2 usage error, 128 + n
if signal n ended the program.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, TextIO

from longcoref.errors import LongcorefError, UsageError

if TYPE_CHECKING:
    from typer import Typer

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Shows a warning as one line, without the place in our code that it came from."""
    print(f"longcoref: warning: {message}", file=sys.stderr)  # noqa: T201


def _exit_on_signal(number: int, frame: object) -> None:
    """Ends the program in order, so that temporary files are removed on the way out."""
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


@contextmanager
def _orderly_exits() -> Iterator[None]:
    """Turns signals that would end the program at once into exits, unless the caller (`nohup`) has them ignored."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, _exit_on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _discard_output() -> None:
    """Discards what is still buffered, so that Python does not fail again on it at exit."""
    with suppress(OSError):  # a stream without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: object, code: int) -> NoReturn:
    print(f"longcoref: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(code)


def main(arguments: list[str] | None = None, *, app: Typer | None = None) -> None:
    """Runs a command, of another `app` if given, and exits."""
    from longcoref.cli.app import build_app

    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    warnings.showwarning = _show_warning
    if sys.stdout is None:  # the caller has closed it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        with _orderly_exits():
            try:
                (app or build_app())([argument for argument in arguments if argument != "--debug"])
            finally:
                sys.stdout.flush()
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # click has caught it
            _discard_output()
            sys.exit(0)
        raise
    except BrokenPipeError:  # the reader of our output (head, less) has exited
        _discard_output()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
    except LongcorefError as error:
        if debug:
            raise
        _fail(error, 2 if isinstance(error, UsageError) else 1)
    except OSError as error:
        if debug:
            raise
        if error.errno == errno.ENOSPC and error.filename is None:  # every other output names itself
            _discard_output()
            _fail(f"standard output: cannot write here: {error.strerror}", 1)
        _fail(error, 1)
