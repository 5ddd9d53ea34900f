"""Prints the lowest versions that pyproject.toml allows, as requirements for pip; `make test-lowest` installs them.

python scripts/lowest.py [EXTRA...]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def lowest(requirement: str) -> str:
    """The requirement with its lower bound, or its exact version, as the only one allowed."""
    specifier, _, marker = requirement.partition(";")
    name, version = re.match(r"([\w.-]+)\s*(?:>=|==)\s*([\w.]+)", specifier).groups()  # type: ignore[union-attr]
    return f"{name}=={version}" + (f"; {marker.strip()}" if marker else "")


def main() -> None:
    """Prints one requirement per line."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in sys.argv[1:]:
        requirements += project["optional-dependencies"][extra]
    print("\n".join(map(lowest, requirements)))


if __name__ == "__main__":
    main()
