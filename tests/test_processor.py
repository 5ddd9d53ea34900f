"""Whether the processor multiplies bytes is what the system says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longcoref.runtime import processor


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512_vnni fsrm\n", True),
        ("flags\t\t: fpu avx2 avx_vnni\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd asimddp\n", True),
        ("flags\t\t: fpu avx2 avx512f\nbugs\t: avx_vnni\n", False),
        ("Features\t: fp asimd\n", False),
        ("isa\t: rv64imafdc\n", False),
    ],
)
def test_on_linux_its_flags_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, description: str, expected: bool
) -> None:
    (tmp_path / "cpuinfo").write_text(description)
    monkeypatch.setattr(processor, "_DESCRIPTION", tmp_path / "cpuinfo")
    assert processor.multiplies_bytes() == expected


@pytest.mark.parametrize(
    ("system", "machine", "features", "expected"),
    [
        ("darwin", "arm64", {}, True),
        ("darwin", "x86_64", {"AVX512VNNI": True}, False),
        ("win32", "AMD64", {"AVX512VNNI": True, "AVX2": True}, True),
        ("win32", "AMD64", {"AVX512VNNI": False, "AVX2": True}, False),
        ("win32", "ARM64", {"ASIMDDP": True}, True),
        ("win32", "AMD64", {}, False),
    ],
)
def test_elsewhere_the_platform_and_numpy_say_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    machine: str,
    features: dict[str, bool],
    expected: bool,
) -> None:
    monkeypatch.setattr(processor, "_DESCRIPTION", tmp_path / "none")
    monkeypatch.setattr(processor.sys, "platform", system)
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    core = getattr(np, "_core", None) or np.core
    monkeypatch.setattr(core._multiarray_umath, "__cpu_features__", features)
    assert processor.multiplies_bytes() == expected


def test_numpy_knows_the_instructions_by_these_names() -> None:
    core = getattr(np, "_core", None) or np.core
    known = core._multiarray_umath.__cpu_features__
    assert {"AVX512VNNI", "ASIMDDP"} & set(known)
