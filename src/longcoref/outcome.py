"""From mentions with entities to clusters: post-processing, and what a person decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from longcoref.book.revision import BookPolicy, revise
from longcoref.cancellation import cancellable
from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.features.facts import MentionFacts, mention_facts
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.summary import Summary
from longcoref.text.quotations import Quotation

if TYPE_CHECKING:
    from longcoref.corrections import Arrangement, Correction


@dataclass(frozen=True, slots=True)
class ResultCluster:
    """One entity with its mentions in text order: named after the most informative one, typed by the majority."""

    id: int
    name: str
    type: str | None
    mentions: tuple[MentionRecord, ...] = field(repr=False)

    def __iter__(self) -> Iterator[MentionRecord]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return len(self.mentions)

    def as_json(self) -> dict[str, Any]:
        """The cluster as JSON values."""
        mentions = [mention.as_json(self.type) for mention in cancellable(self.mentions)]
        return {"id": self.id, "name": self.name, "type": self.type, "mentions": mentions}


def annotation(clusters: Iterable[ResultCluster]) -> tuple[Cluster, ...]:
    """The clusters as a document carries them."""
    return tuple(
        Cluster(tuple(Mention(m.words, m.kind, m.type, m.score) for m in cluster.mentions), str(cluster.id))
        for cluster in clusters
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found in a document: its clusters, its quotations and its narrator."""

    clusters: tuple[ResultCluster, ...]
    quotes: tuple[Quotation, ...]
    narrator: int | None


def post_processed(
    document: Document, mentions: Sequence[MentionRecord], book: BookPolicy, corrections: Sequence[Correction] = ()
) -> Outcome:
    """The clusters and quotations of a document, given the mentions in text order as the memory decided them.

    Corrections come first, so that post-processing builds on them, and last, so that it cannot undo them.
    """
    if corrections:
        mentions = _arranged(document, mentions, _arrangement(document, mentions, corrections))
    revision = revise(document, mentions, book, again=False)
    clusters = collect(revision.mentions, narrator=revision.narrator)
    return corrected(document, Outcome(clusters, revision.quotations, revision.narrator), corrections)


def corrected(document: Document, outcome: Outcome, corrections: Sequence[Correction]) -> Outcome:
    """The same outcome after corrections. Names that somebody gave to clusters earlier are kept."""
    if not corrections:
        return outcome
    found = [mention for cluster in outcome.clusters for mention in cluster]
    arrangement = _arrangement(document, found, corrections)
    became = arrangement.became
    chosen = {cluster.id: cluster.name for cluster in collect(found, narrator=outcome.narrator)}
    given = {became[one.id]: one.name for one in reversed(outcome.clusters) if one.name != chosen[one.id]}
    names, types = arrangement.names, arrangement.types
    narrator = None if outcome.narrator is None else became[outcome.narrator]
    clusters = tuple(
        replace(
            cluster,
            name=names.get(cluster.id, given.get(cluster.id, cluster.name)),
            type=types.get(cluster.id, cluster.type),
        )
        for cluster in collect(_arranged(document, found, arrangement), narrator=narrator)
    )
    quotes = [
        replace(
            quote,
            speaker=None if quote.speaker is None else became[quote.speaker],
            addressee=None if quote.addressee is None else became[quote.addressee],
        )
        for quote in outcome.quotes
    ]
    for (words, role), entity in arrangement.roles.items():
        quotes = _with_role(document, quotes, words, role, entity)
    return Outcome(clusters, tuple(quotes), narrator)


def _arrangement(
    document: Document, mentions: Iterable[MentionRecord], corrections: Sequence[Correction]
) -> Arrangement:
    from longcoref.corrections import arrange  # not at the top: most texts have none, and it takes time

    found = {mention.words: mention.entity for mention in mentions if mention.entity is not None}
    return arrange(document, found, corrections)


def _arranged(document: Document, mentions: Iterable[MentionRecord], arrangement: Arrangement) -> list[MentionRecord]:
    """The mentions of a document with the entities and types of an arrangement, in text order; new ones are added."""
    by_words = {mention.words: mention for mention in mentions}
    types: dict[int, Counter[str | None]] = {}
    for words, entity in arrangement.entities.items():
        if words in by_words:
            types.setdefault(entity, Counter())[by_words[words].type] += 1
    arranged = []
    for words, entity in arrangement.entities.items():
        mention = by_words.get(words)
        if mention is None:
            kind = arrangement.kinds.get(words) or guessed_kind(mention_facts(document.words[slice(*words)]))
            type = types[entity].most_common(1)[0][0] if entity in types else None
            mention = MentionRecord.of(document, words, kind=kind, type=type, entity=entity, score=1.0)
        became = ((arrangement.became.get(rival), link) for rival, link in mention.rivals)
        arranged.append(
            replace(
                mention,
                entity=entity,
                type=arrangement.types.get(entity, mention.type),
                score=1.0 if words in arrangement.decided else mention.score,
                rivals=tuple((rival, link) for rival, link in became if rival is not None),
                revised_from=None,
            )
        )
    return arranged


def _with_role(
    document: Document, quotes: Sequence[Quotation], words: WordSpan, role: str, entity: int | None
) -> list[Quotation]:
    """The quotations where one has this speaker or addressee; it takes the place of others that it overlaps."""
    kept = [quote for quote in quotes if quote.words.end <= words.start or words.end <= quote.words.start]
    own = next((quote for quote in quotes if quote.words == words), Quotation.of(document, words))
    score = 0.0 if entity is None else 1.0
    changed = (
        replace(own, speaker=entity, score=score)
        if role == "speaker"
        else replace(own, addressee=entity, addressee_score=score)
    )
    return sorted([*kept, changed], key=lambda quote: quote.words)


def collect(mentions: Iterable[MentionRecord], *, narrator: int | None = None) -> tuple[ResultCluster, ...]:
    """The clusters of mentions in text order, by entity number; mentions without an entity are left out.

    A narrator without a name is called "I", whatever others call them.
    """
    found: dict[int, list[MentionRecord]] = {}
    for mention in cancellable(mentions):
        if mention.entity is not None:
            found.setdefault(mention.entity, []).append(mention)
    return tuple(
        cluster_of_mentions(entity, members, narrates=entity == narrator) for entity, members in sorted(found.items())
    )


def cluster_of_mentions(entity: int, mentions: Sequence[MentionRecord], *, narrates: bool = False) -> ResultCluster:
    """The cluster of mentions in text order."""
    summary = Summary()
    for mention in cancellable(mentions):
        summary.add(mention, naming=not narrates or mention.kind == "PRON" or mention.name is not None)
    return ResultCluster(entity, summary.name, summary.type, tuple(mentions))


def guessed_kind(facts: MentionFacts) -> str:
    """The kind of a mention, by its words alone."""
    return "PRON" if facts.pronoun else "PROP" if facts.named else "NOM"
