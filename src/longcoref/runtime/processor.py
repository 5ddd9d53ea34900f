"""What the processor can do."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np

_DESCRIPTION = Path("/proc/cpuinfo")
_DOT_PRODUCTS = frozenset(("avx512_vnni", "avx_vnni", "asimddp"))
"""The instructions as Linux names them; numpy has the same names without underscores."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def multiplies_bytes() -> bool:
    """Whether the processor has dot products of bytes, with which onnxruntime multiplies bytes faster than floats.

    Without them it would also be wrong, because onnxruntime then adds products of bytes in 16 bits.
    """
    if _DESCRIPTION.exists():
        with _DESCRIPTION.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, flags = line.partition(":")
                if name.strip().lower() in ("flags", "features"):
                    return not _DOT_PRODUCTS.isdisjoint(flags.split())
        return False
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    core = getattr(np, "_core", None) or np.core
    found = core._multiarray_umath.__cpu_features__
    return any(found.get(name.replace("_", "").upper(), False) for name in _DOT_PRODUCTS)
