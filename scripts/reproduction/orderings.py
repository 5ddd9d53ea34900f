"""The paper's findings compared with our figures: confirmed, not confirmed, or no figures yet.

A finding is stated as a rule next to its verdict, so that "close" or "far fewer" have a definite meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reproduction.figures import Figures

_CLOSE = 1.5  # points of CoNLL F1; in the paper, LB-MEM 20 is 1.4 below U-MEM on LitBank
_FAR = 2.0  # times
_ORDER_OF_MAGNITUDE = 10.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the paper, whether ours agree, and by which figures."""

    statement: str
    confirmed: bool | None
    figures: str

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "confirmed", False: "not confirmed", None: "no figures yet"}[self.confirmed]


def findings(figures: Figures) -> list[Finding]:
    """All findings about this corpus."""
    with_star = "umem-star" in figures.paper["models"]
    found = [
        _active(figures),
        *(_rises(figures, kind, label) for kind, label in (("lb", "LB-MEM"), ("rb", "RB-MEM"))),
        _learned_beats_rule(figures),
        _most_at_few_cells(figures),
        _ignores_fewer(figures),
        _close_to_unbounded(figures),
        _trains_in_less_memory(figures),
        _reads_faster(figures),
        *((_star_is_better(figures), _star_keeps_more(figures)) if with_star else (_uses_all_cells(figures),)),
        _errors_shift(figures),
        _harder_with_entities(figures),
    ]
    return [finding for finding in found if finding is not None]


def _capacities(figures: Figures, *kinds: str) -> list[int]:
    """The capacities with which all these kinds of model were scored."""
    own = [{m.cells for m in figures.models() if m.name.startswith(f"{kind}-")} for kind in kinds]
    return sorted(cells for cells in set.intersection(*own) if cells is not None)


def _finding(statement: str, values: Sequence[float | None], holds: Callable[[], bool], said: str) -> Finding:
    known = bool(values) and all(value is not None for value in values)
    return Finding(statement, holds() if known else None, said if known else "–")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _active(figures: Figures) -> Finding:
    statement = "The most entities active at once are far fewer (at most half) than the most entities in a document."
    if figures.entities is None:
        return Finding(statement, None, "–")
    total, active = figures.entities.max_total_entities, figures.entities.max_active_entities
    return Finding(statement, _FAR * active <= total, f"{active} of {total}")


def _rises(figures: Figures, kind: str, label: str) -> Finding:
    cells = _capacities(figures, kind)
    values = [figures.f1(f"{kind}-{count}", "test") for count in cells]
    statement = f"{label} improves with its capacity (test CoNLL F1 rises from each capacity to the next)."
    said = ", ".join(f"{count} cells {_number(value)}" for count, value in zip(cells, values, strict=True))
    enough = values if len(values) > 1 else []
    return _finding(statement, enough, lambda: all((a or 0) < (b or 0) for a, b in pairwise(values)), said)


def _gaps(figures: Figures) -> dict[int, float]:
    """The lead of LB-MEM over RB-MEM on test, for each capacity."""
    gaps = {}
    for count in _capacities(figures, "lb", "rb"):
        learned, rule = (figures.f1(f"{kind}-{count}", "test") for kind in ("lb", "rb"))
        if learned is not None and rule is not None:
            gaps[count] = learned - rule
    return gaps


def _said(gaps: dict[int, float]) -> str:
    return ", ".join(f"{count} cells {gap:+.1f}" for count, gap in gaps.items())


def _learned_beats_rule(figures: Figures) -> Finding:
    gaps = _gaps(figures)
    statement = "LB-MEM beats RB-MEM at every capacity (test CoNLL F1)."
    return _finding(statement, list(gaps.values()), lambda: min(gaps.values()) > 0, _said(gaps))


def _most_at_few_cells(figures: Figures) -> Finding:
    gaps = _gaps(figures)
    statement = "LB-MEM is ahead of RB-MEM most with the fewest cells."
    enough = list(gaps.values()) if len(gaps) > 1 else []
    return _finding(statement, enough, lambda: max(gaps, key=lambda count: gaps[count]) == min(gaps), _said(gaps))


def _ignores_fewer(figures: Figures) -> Finding:
    cells = _capacities(figures, "lb", "rb")
    rows = [tuple(figures.use(f"{k}-{n}").get("ignored_per_document") for k in ("lb", "rb")) for n in cells]
    statement = (
        "LB-MEM ignores far fewer mentions than RB-MEM (at most half as many in a dev document, at every capacity)."
    )
    said = ", ".join(f"{n} cells {_number(a)} against {_number(b)}" for n, (a, b) in zip(cells, rows, strict=True))
    values = [value for row in rows for value in row]
    return _finding(
        statement, values, lambda: any(b for _, b in rows) and all(_FAR * (a or 0) <= (b or 0) for a, b in rows), said
    )


def _close_to_unbounded(figures: Figures) -> Finding:
    ours = [figures.f1(name, "test") for name in ("lb-20", "umem")]
    statement = f"LB-MEM with 20 cells is close to U-MEM (at most {_CLOSE} below it on test)."
    said = f"{_number(ours[0])} against {_number(ours[1])}"
    return _finding(statement, ours, lambda: (ours[1] or 0) - (ours[0] or 0) <= _CLOSE, said)


def _compared(figures: Figures, what: str, measure: str, statement: str, unit: str) -> Finding | None:
    """Every bounded model below U-MEM; None if the paper has no such figure for the corpus."""
    if "training_gigabytes" not in figures.paper["models"]["umem"]:
        return None
    unbounded = figures.measured(what, "umem").get(measure)
    bounded = {m.label: figures.measured(what, m.name).get(measure) for m in figures.models() if m.cells}
    values = [unbounded, *bounded.values()]
    said = ", ".join(f"{label} {_number(value)}" for label, value in {"U-MEM": unbounded, **bounded}.items())
    enough = values if bounded else []
    return _finding(statement, enough, lambda: all((v or 0) < (unbounded or 0) for v in values[1:]), f"{said} {unit}")


def _trains_in_less_memory(figures: Figures) -> Finding | None:
    statement = "Every bounded model trains in less memory than U-MEM, on average over the runs."
    return _compared(figures, "training", "megabytes", statement, "MB")


def _reads_faster(figures: Figures) -> Finding | None:
    statement = "Every bounded model reads faster than U-MEM, on average over the runs."
    return _compared(figures, "inference", "seconds", statement, "s")


def _star_is_better(figures: Figures) -> Finding:
    star, plain = (figures.f1(name, "test") for name in ("umem-star", "umem"))
    statement = "Where singletons are not scored, U-MEM* is above U-MEM (test CoNLL F1)."
    said = f"{_number(star)} against {_number(plain)}"
    return _finding(statement, [star, plain], lambda: (star or 0) > (plain or 0), said)


def _star_keeps_more(figures: Figures) -> Finding:
    star, plain = (figures.use(name).get("average_entities") for name in ("umem-star", "umem"))
    statement = "U-MEM* keeps an order of magnitude more entities than U-MEM (ten times as many on average over dev)."
    said = f"{_number(star)} against {_number(plain)}"
    return _finding(statement, [star, plain], lambda: (star or 0) >= _ORDER_OF_MAGNITUDE * (plain or 0), said)


def _uses_all_cells(figures: Figures) -> Finding:
    bounded = [m for m in figures.models() if m.cells]
    values = {m.label: figures.use(m.name).get("average_entities") for m in bounded}
    statement = "Every dev document fills the memory of every bounded model."
    said = ", ".join(f"{label} {_number(value)}" for label, value in values.items())
    full = [m.cells for m in bounded]
    return _finding(statement, list(values.values()), lambda: list(values.values()) == full, said)


def _errors_shift(figures: Figures) -> Finding:
    statement = "With more cells, LB-MEM misses fewer mentions and entities on dev, from the fewest cells to the most."
    cells = _capacities(figures, "lb")
    errors = [figures.errors(f"lb-{count}") for count in cells]
    missed = [each.get("missing mention", 0) + each.get("missing entity", 0) for each in errors]
    said = ", ".join(f"{count} cells {value}" for count, value in zip(cells, missed, strict=True))
    return _finding(statement, missed if len(missed) > 1 else [], lambda: missed[-1] < missed[0], said)


def _harder_with_entities(figures: Figures) -> Finding:
    statement = "Documents with more entities are harder: the correlation with dev F1 is negative for every model."
    values = {m.label: figures.correlation(m.name).get("gold_entities") for m in figures.models()}
    said = ", ".join(f"{label} {value:.2f}" for label, value in values.items() if value is not None)
    return _finding(statement, list(values.values()), lambda: all((v or 0) < 0 for v in values.values()), said)
