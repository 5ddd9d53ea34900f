"""The command line. Each command is one file that parses its options and calls a library function.

`main` is the only place where an error becomes a line on stderr and an exit code: 0 fine, 1 failed, 2 bad usage.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TextIO

from longcoref.errors import LongcorefError, UsageError


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """One line for the user, who does not want to know which line of our code it came from."""
    print(f"longcoref: warning: {message}", file=sys.stderr)  # noqa: T201


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits."""
    from longcoref.cli.app import build_app

    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    warnings.showwarning = _show_warning
    try:
        build_app()([argument for argument in arguments if argument != "--debug"])
    except LongcorefError as error:
        if debug:
            raise
        print(f"longcoref: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: stop quietly, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, a file that went away
        if debug:
            raise
        print(f"longcoref: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(1)
