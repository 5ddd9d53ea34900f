"""Pronouns reconsidered with what only the whole text shows: who the rivals are, who is present, who is speaking."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping

from longcoref.book.choice import Candidate, likeliest, shares
from longcoref.book.dialogue import is_vocative
from longcoref.book.numbers import ABSENT, CLEAR, SAME_CONVERSATION
from longcoref.book.table import Row, Table, clear_gender, genders_contradict
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import SPEECH_VERBS
from longcoref.features.facts import FIRST_PERSON, HE_OR_SHE, SECOND_PERSON
from longcoref.text.quotations import Quotation


def reconsider_pronouns(table: Table) -> None:
    """Moves each "he" and "she" to the likeliest of the people whom the reader compared it with."""
    entities = _Entities(table)
    for row in cancellable(table.rows):
        if row.facts.pronoun in HE_OR_SHE:
            row.shares = entities.shares(row)
        elif not row.facts.pronoun:
            entities.last[row.entity] = row.words.start
    for row in table.rows:
        if (entity := likeliest(row.shares)) is not None:
            row.move(entity, row.shares[entity])


class _Entities:
    """What the whole text shows about each entity, and where it was last named or described."""

    def __init__(self, table: Table) -> None:
        self._people = table.people
        self._sizes = Counter(row.entity for row in table.rows)
        self.last: dict[int, int] = {}
        genders: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for row in table.rows:
            if row.gender:
                genders[row.entity][row.gender] += 1 if row.facts.pronoun else CLEAR
        self._genders = {entity: clear_gender(counts) for entity, counts in genders.items()}

    def shares(self, row: Row) -> dict[int, float]:
        """The probabilities of the people that a pronoun may refer to."""
        fitting = [
            (entity, score)
            for entity, score in row.rivals
            if entity in self._people
            and self._sizes[entity]
            and not genders_contradict(row.gender, self._genders.get(entity, 0))
        ]
        found = shares(
            (Candidate(entity, {"link": score}, self._prior(row, entity)) for entity, score in fitting), {"link": 1.0}
        )
        if row.entity not in found or not self._is_present(row, row.entity):
            return found
        # The reader is not overruled without a reason: nobody is likelier than the entity it chose.
        raised = {row.entity: max(found.values())} | {
            entity: share for entity, share in found.items() if entity != row.entity
        }
        total = sum(raised.values())
        return {entity: share / total for entity, share in raised.items()}

    def _prior(self, row: Row, entity: int) -> float:
        """How likely an entity is by its presence and the number of its mentions alone."""
        return self._sizes[entity] * (1.0 if self._is_present(row, entity) else ABSENT)

    def _is_present(self, row: Row, entity: int) -> bool:
        return entity in self.last and row.words.start - self.last[entity] <= SAME_CONVERSATION


def resolve_speech(table: Table) -> None:
    """Resolves pronouns and vocatives in quotations, and "he said" after them, by who speaks to whom."""
    for row in cancellable(table.rows):
        if row.quotation is not None:
            _resolve_in_quotation(table.document, row, table.quotations[row.quotation])
        elif (
            row.shares
            and (quotation := _tagged(table, row)) is not None
            and quotation.speaker is not None
            and quotation.speaker in row.shares
        ):
            row.move(quotation.speaker, quotation.score)


def _resolve_in_quotation(document: Document, row: Row, quotation: Quotation) -> None:
    """Moves a mention in a quotation to the entity it refers to, given the speaker and the addressee."""
    if row.facts.pronoun == FIRST_PERSON:
        if quotation.speaker is not None:
            row.move(quotation.speaker, quotation.score)
    elif row.facts.pronoun == SECOND_PERSON or (
        not (row.facts.pronoun or row.facts.name)
        and row.mention.type in ("PER", None)
        and is_vocative(document.words, row.words)
    ):
        if quotation.addressee is not None:
            row.move(quotation.addressee, quotation.addressee_score)
    elif quotation.speaker is not None:
        third_person = _third_person(row.shares, quotation)
        if (entity := likeliest(third_person)) is not None:
            row.move(entity, third_person[entity])


def _third_person(found: Mapping[int, float], quotation: Quotation) -> dict[int, float]:
    """The shares of a "he" or "she" in a quotation, which is not its speaker as far as we know who speaks."""
    weighed = {
        entity: share * (1 - quotation.score if entity == quotation.speaker else 1.0) for entity, share in found.items()
    }
    total = sum(weighed.values())
    return {entity: share / total for entity, share in weighed.items()} if total else {}


def _tagged(table: Table, row: Row) -> Quotation | None:
    """The quotation that a mention right after it attributes ("...," she said)."""
    words, (start, end) = table.document.words, row.words
    number = bisect_right(table.quotations, start, key=lambda quotation: quotation.words.end) - 1
    if number < 0 or start - table.quotations[number].words.end > 1:
        return None
    near = words[table.quotations[number].words.end : start] + words[end : end + 1]
    return table.quotations[number] if any(word.lower() in SPEECH_VERBS for word in near) else None
