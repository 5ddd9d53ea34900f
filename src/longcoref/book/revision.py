"""Post-processing of a whole text: what its names, quotations and narrator say about the entities of the reader.

The reader decides mention by mention, before it is known who speaks and what everybody is called. `revise` runs a list
of passes over one table of mentions, each of which looks at every mention a constant number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from longcoref.book.grammar import join_predicates, separate_possessors, without_adverbs
from longcoref.book.identify import identify_people, join_introduced, join_titled
from longcoref.book.labels import know_speakers, with_labels
from longcoref.book.narrator import find_narrator
from longcoref.book.places import identify_places
from longcoref.book.pronouns import reconsider_pronouns, resolve_speech
from longcoref.book.speakers import attribute_quotations
from longcoref.book.table import Table
from longcoref.book.voices import separate_voices
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.errors import UsageError, unknown_name
from longcoref.mention import MentionRecord
from longcoref.text.quotations import Quotation, find_quotations


@dataclass(frozen=True, slots=True)
class BookPolicy:
    """Which parts of post-processing are on.

    `names` separates and merges people by all names in the text. `speech` finds who speaks to whom, and so who "I" and
    "you" are. With both off, the entities stay as the reader decided them.
    """

    names: bool = True
    speech: bool = True

    @property
    def active(self) -> bool:
        """Whether any part is on."""
        return self.names or self.speech


EVERYTHING, NOTHING = BookPolicy(), BookPolicy(names=False, speech=False)
BOOK_POLICIES = {
    "all": EVERYTHING,
    "names": BookPolicy(speech=False),
    "speech": BookPolicy(names=False),
    "none": NOTHING,
}


def book_policy(name: str) -> BookPolicy:
    """The policy of that name."""
    if name not in BOOK_POLICIES:
        raise UsageError(unknown_name("post-processing", name, BOOK_POLICIES))
    return BOOK_POLICIES[name]


@dataclass(frozen=True, slots=True)
class Revision:
    """The mentions of a document after post-processing, its quotations with their speakers, and its narrator.

    Entities are numbered in order of first mention. Without `speech` there are no quotations and no narrator.
    """

    mentions: tuple[MentionRecord, ...]
    quotations: tuple[Quotation, ...] = ()
    narrator: int | None = None


def revise(
    document: Document, mentions: Iterable[MentionRecord], policy: BookPolicy = EVERYTHING, *, again: bool = True
) -> Revision:
    """Post-processes the mentions of a document, given in text order. Rejected mentions stay as they are.

    It starts from what the reader decided, so mentions that were revised before may be revised again. With
    `again=False`, they lose what that needs: it would be most of what a result stores for a pronoun.
    """
    if not policy.active:
        if again:
            return Revision(tuple(mentions))
        return Revision(tuple(mention.settled(mention.entity, mention.score) for mention in mentions))
    found = without_adverbs(mentions)
    read = with_labels(document, found) if policy.speech else tuple(found)
    table = Table.of(document, read)
    for step in passes(policy):
        step(table)
    return _revision(read, table, again=again)


def passes(policy: BookPolicy) -> list[Callable[[Table], None]]:
    """The passes of a policy, in order."""
    names = [identify_people, identify_places, join_introduced, join_titled] if policy.names else []
    heard = [find_speech, separate_voices] if policy.speech else []
    speech = [find_narrator, attribute_quotations, know_speakers, resolve_speech] if policy.speech else []
    return [*names, *heard, join_predicates, reconsider_pronouns, *speech, separate_possessors]


def find_speech(table: Table) -> None:
    """Finds the quotations of a table."""
    table.put_quotations(find_quotations(table.document))


def _revision(mentions: Sequence[MentionRecord], table: Table, *, again: bool) -> Revision:
    numbers: dict[int | None, int] = {}
    for row in table.rows:
        numbers.setdefault(row.entity, len(numbers))
    revised = (
        replace(row.mention, entity=numbers[row.entity], score=row.score, revised_from=row.mention.read)
        if again
        else row.mention.settled(numbers[row.entity], row.score)
        for row in table.rows
    )
    return Revision(
        tuple(mention if mention.entity is None else next(revised) for mention in cancellable(mentions)),
        tuple(
            replace(quotation, speaker=numbers.get(quotation.speaker), addressee=numbers.get(quotation.addressee))
            for quotation in table.quotations
        ),
        numbers.get(table.narrator),
    )
