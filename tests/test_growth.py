"""No input makes anything but linear work."""

from __future__ import annotations

import pytest

from growth import CASES, Case, exponent

BOUND = 1.4
"""Linear work with its allocations and cache misses stays below; quadratic work is near 2."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_work_grows_no_faster_than_the_input(case: Case) -> None:
    measured: list[float] = []
    while len(measured) < 3 and min(measured, default=2.0) > BOUND:
        measured.append(exponent(case, repeats=1 + len(measured)))
    assert min(measured) <= BOUND


def test_quadratic_work_is_found() -> None:
    def prepare(size: int) -> object:
        return lambda: [None for _ in range(size) for _ in range(size)]

    assert exponent(Case("quadratic", 100, prepare)) > BOUND  # type: ignore[arg-type]
