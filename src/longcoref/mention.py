"""The one record of a mention, from the reader to the renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longcoref.document import Document
from longcoref.english.names import Name
from longcoref.errors import UsageError
from longcoref.features.facts import MentionFacts, mention_facts
from longcoref.memory.decision import Decision, Rivals
from longcoref.spans import WordSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRecord:
    """A mention that was proposed in a text, and the entity it was assigned to.

    `words` is its span in words of the text, `start` and `end` its span in code points. `kind` is PROP, NOM or PRON;
    `type` is the type that the mention itself suggests, None if the model has no types. `entity` is None if the mention
    was rejected or ignored; `score` is the probability that this is right. `rivals` are the entities that a "he" or
    "she" was compared with. `decision` has the scores behind the assignment, and is kept only for traces: it is much
    larger than the rest. After post-processing, `revised_from` has the entity and score that the reader decided; the
    rivals have the reader's entity numbers, too.
    """

    words: WordSpan
    start: int
    end: int
    text: str
    sentence: int
    kind: str
    type: str | None
    facts: MentionFacts
    entity: int | None
    score: float
    rivals: Rivals = ()
    decision: Decision | None = None
    revised_from: tuple[int, float] | None = None

    @classmethod
    def of(
        cls, document: Document, words: WordSpan, *, kind: str, type: str | None, entity: int | None, score: float
    ) -> MentionRecord:
        """The record of a span of a document, with everything that the document says about it."""
        start, end = document.characters(words)
        return cls(
            words=words,
            start=start,
            end=end,
            text=document.text[start:end],
            sentence=document.sentence_of(words.start),
            kind=kind,
            type=type,
            facts=mention_facts(document.words[slice(*words)]),
            entity=entity,
            score=score,
        )

    @property
    def name(self) -> Name | None:
        """The personal name that the mention is, None if it is not one."""
        name = self.facts.name
        # A capitalised description (the Invisible Man) counts as a name, though its kind is NOM.
        return name if name is not None and (self.kind == "PROP" or len(name.parts) > 1) else None

    @property
    def read(self) -> tuple[int, float]:
        """The entity and score that the reader decided, of a mention that is in an entity."""
        if self.entity is None:
            raise UsageError(f"{self.text!r} is in no entity")
        return self.revised_from or (self.entity, self.score)

    @property
    def decided(self) -> Decision:
        """The decision; an error if it was not kept."""
        if self.decision is None:
            raise UsageError(f"the decision on {self.text!r} was not kept")
        return self.decision

    def without_decision(self) -> MentionRecord:
        """The same mention without the scores behind it."""
        return self if self.decision is None else self._copy(self.entity, self.score, self.rivals, self.revised_from)

    def settled(self, entity: int | None, score: float) -> MentionRecord:
        """The same mention in an entity that no later step changes, without what only such steps need."""
        return self._copy(entity, score, (), None)

    def _copy(
        self, entity: int | None, score: float, rivals: Rivals, revised_from: tuple[int, float] | None
    ) -> MentionRecord:
        """The same mention without its decision; `dataclasses.replace` takes three times as long."""
        return MentionRecord(
            words=self.words,
            start=self.start,
            end=self.end,
            text=self.text,
            sentence=self.sentence,
            kind=self.kind,
            type=self.type,
            facts=self.facts,
            entity=entity,
            score=score,
            rivals=rivals,
            revised_from=revised_from,
        )

    def as_json(self, cluster_type: str | None) -> dict[str, Any]:
        """The mention as JSON values; its type is given if it differs from the cluster's."""
        record: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text, "kind": self.kind}
        if self.type != cluster_type:
            record["type"] = self.type
        return {**record, "score": round(self.score, 4), "sentence": self.sentence}
