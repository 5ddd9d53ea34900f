"""The one record of a mention, from the reader to the renderer."""

from __future__ import annotations

from dataclasses import dataclass

from longcoref.features.facts import MentionFacts
from longcoref.memory.decision import Decision, Rivals
from longcoref.spans import WordSpan


@dataclass(frozen=True, slots=True)
class MentionRecord:
    """A mention that was proposed in a text, and what became of it.

    `words` is its span in words of the text, `start` and `end` its span in code points. `kind` is PROP, NOM or PRON;
    `type` is what the mention by itself seems to be, None if the model has no types. `entity` is None if the mention
    was rejected or ignored; `score` is the probability that this is right. `rivals` are the entities that a "he" or
    "she" might also have been. `decision` has the scores behind it and is dropped where nobody asks for them.
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
