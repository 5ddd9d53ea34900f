"""The figures of `longcoref bench` that are computed from others."""

from __future__ import annotations

from longcoref.benchmark import growth_of_memory


def test_the_growth_of_memory_compares_the_longest_text_with_the_shortest() -> None:
    peaks = [
        ("learned", 20_000, 210.0),
        ("learned", 10_000, 200.0),
        ("unbounded", 10_000, 205.0),
        ("learned", 50_000, 204.0),
    ]
    rows = [{"memory": memory, "words": words, "peak_megabytes": peak} for memory, words, peak in peaks]
    (found,) = growth_of_memory(rows)
    assert found == {
        "memory": "learned",
        "from_words": 10_000,
        "to_words": 50_000,
        "more_megabytes": 4.0,
        "bytes_per_word": 100.0,
    }
