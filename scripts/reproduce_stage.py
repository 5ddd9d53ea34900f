"""Runs one stage of a reproduction in a process of its own: reproduce_stage.py STAGE '{"argument": ...}'.

`reproduce.py` starts this script.
"""

from __future__ import annotations

import json
import sys

from reproduction.measures import MEASURES
from reproduction.stages import STAGES

if __name__ == "__main__":
    name, arguments = sys.argv[1:]
    {**STAGES, **MEASURES}[name](**json.loads(arguments))
