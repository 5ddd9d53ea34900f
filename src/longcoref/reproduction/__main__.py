"""Does one stage of a reproduction: `python -m longcoref.reproduction STAGE '{"argument": …}'`. Plans run this."""

from __future__ import annotations

import json
import sys

from longcoref.reproduction.measures import MEASURES
from longcoref.reproduction.stages import STAGES

if __name__ == "__main__":
    name, arguments = sys.argv[1:]
    {**STAGES, **MEASURES}[name](**json.loads(arguments))
