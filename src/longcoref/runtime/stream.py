"""From raw text, in pieces of any size, to decided mentions with their places in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longcoref.errors import UsageError
from longcoref.memory import MemoryPolicy
from longcoref.memory.decision import Decision
from longcoref.runtime.confidence import confidence
from longcoref.runtime.reading import Block, Model, Reader, mention_labels
from longcoref.spans import WordSpan
from longcoref.text import Sentence, SentenceStream

_CHUNK = 65536
"""Characters split into sentences at a time."""


@dataclass(frozen=True, slots=True)
class Step:
    """A proposed mention: where it stands, what it is, and what was decided.

    `start` and `end` are code points of the text, `words` its words; `index` counts all proposals. `score` is the
    probability that the decision is right.
    """

    index: int
    start: int
    end: int
    words: WordSpan
    text: str
    sentence: int
    kind: str
    type: str | None
    score: float
    decision: Decision


class Stepper:
    """Turns blocks into steps, counting proposals."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._calibration = model.calibration
        self.count = 0

    def steps(self, block: Block, text: str, begin: int = 0) -> Iterator[Step]:
        """The steps of a block; `text` is the part of the whole text that begins at `begin` and holds the block."""
        offsets = [offset for sentence in block.sentences for offset in sentence.offsets]
        labels = mention_labels(self._model, block.x, block.facts)
        for row, (first, end_word) in enumerate(block.spans.tolist()):
            start = offsets[first - block.first_word].start
            end = offsets[end_word - 1 - block.first_word].end
            facts, decision = block.facts[row], block.decisions[row]
            yield Step(
                index=self.count,
                start=start,
                end=end,
                words=WordSpan(first, end_word),
                text=text[start - begin : end - begin],
                sentence=facts.sentence,
                kind=labels[row][0],
                type=labels[row][1],
                score=confidence(decision, self._calibration),
                decision=decision,
            )
            self.count += 1


class TextStream:
    """Reads one text that comes in pieces; however it is cut, the steps are the same.

    It holds the text from the first sentence on that is not decided, about a window.
    """

    def __init__(self, model: Model, policy: MemoryPolicy) -> None:
        if model.config.proposals.rule == "top":
            raise UsageError(
                'this model proposes the best mentions of the whole document (proposals.rule = "top"), which cannot be '
                "known while reading piece by piece: give the whole text at once"
            )
        self.sentences = SentenceStream()
        self.reader = Reader(model, policy)
        self.stepper = Stepper(model)
        self.text = ""  # from `begin` on
        self.begin = 0

    def feed(self, text: str) -> list[Step]:
        """The steps that are certain now that `text` has come."""
        steps: list[Step] = []
        for start in range(0, len(text), _CHUNK):
            chunk = text[start : start + _CHUNK]
            self.text += chunk
            steps += self._read(self.sentences.feed(chunk), last=False)
        return steps

    def finish(self) -> list[Step]:
        """The steps that were still open: the text is over."""
        return self._read(self.sentences.finish(), last=True)

    def _read(self, sentences: Sequence[Sentence], *, last: bool) -> list[Step]:
        steps: list[Step] = []
        for block in self.reader.read(sentences, last=last):
            steps += self.stepper.steps(block, self.text, self.begin)
        self._trim(sentences)
        return steps

    def _trim(self, sentences: Sequence[Sentence]) -> None:
        if self.reader.open:
            needed = self.reader.open[0].offsets[0].start
        elif sentences:
            needed = sentences[-1].offsets[-1].end
        else:
            needed = self.begin
        kept = self.text[needed - self.begin :]
        if not self.reader.open:
            kept = kept.lstrip()  # endless white space must not pile up; no word begins with any
        self.begin, self.text = self.begin + len(self.text) - len(kept), kept

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that the rest of the reading depends on: JSON values, and arrays by name."""
        facts, arrays = self.reader.state()
        own = {"text": self.text, "begin": self.begin, "count": self.stepper.count}
        return {"sentences": vars(self.sentences), "reader": facts, **own}, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Goes back to where `state` was called."""
        vars(self.sentences).update(facts["sentences"])
        self.text, self.begin, self.stepper.count = facts["text"], facts["begin"], facts["count"]
        self.reader.restore(facts["reader"], arrays)
