"""Questions with known answers from text that nobody annotated.

A name in a novel is an answer: hide it behind a pronoun that could stand there, take away the tag that
says who speaks or the name by which somebody is addressed, or use another name of the same person, and post-processing
must find the person again. Who is a person, and of which gender, is decided by plain counts over the whole novel, not
by the model that is asked.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from longcoref.book.naming import without_possessive
from longcoref.book.revision import Revision
from longcoref.document import Document
from longcoref.english.grammar import POSSESSIVES, PRONOUNS_OF, Case, case_of
from longcoref.english.lexicon import FEMININE, MASCULINE, NOT_NAMES, PRONOUNS, TITLES
from longcoref.english.names import Name, contradict, parse_name
from longcoref.mention import MentionRecord
from longcoref.spans import CharSpan, WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import find_quotations, paragraph_starts
from longcoref.text.tags import Removal, removable_tag, removable_vocative

KINDS = ("narration", "dialogue", "speaker", "addressee", "alias")
"""The kinds of questions: who is the pronoun in narration, in a quotation; who speaks; who is addressed; the alias."""

_SHARES = {"narration": 0.6, "dialogue": 0.8, "speaker": 0.5, "addressee": 0.6, "alias": 0.5}  # that are hidden
_REACH = 2  # sentences back within which the person must have been named for a pronoun to be natural
_NEAR = 150  # words within which a speaker or addressee must be named elsewhere
_OFTEN = 3  # times that a word must be written as a name, away from the start of a sentence
_FOLLOWING = 20  # words after a name in which a pronoun shows its gender
_LEAD, _DEVIATIONS = 3, 1.5  # by which pronouns of one gender must outnumber the others, also in standard deviations


@dataclass(frozen=True, slots=True)
class Question:
    """A place in a text (code points) whose person is known: the one who is elsewhere called `name`."""

    kind: str
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A text in which names are hidden, with the questions about them."""

    text: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """A name where it is written: its words, and their text."""

    words: WordSpan
    text: str


class Names:
    """The names that are written in a document, with the gender of each as far as the words around them show it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._starts = {start for start, _ in document.sentences}
        upper, lower = Counter[str](), Counter[str]()
        for index, word in enumerate(document.words):
            if word[:1].isupper():
                upper[word.lower()] += not self._opens(index)
            else:
                lower[word] += 1
        self._is_name = {word for word, count in upper.items() if count >= _OFTEN and lower[word] <= 0.05 * count}
        self._is_name -= NOT_NAMES | PRONOUNS.keys()
        self.written = list(self._find())
        self.counts = Counter(name.text for name in self.written)

    def _opens(self, index: int) -> bool:
        return index in self._starts or not self.document.words[index - 1][-1:].isalnum()

    def _find(self) -> Iterator[_Written]:
        words, index = self.document.words, 0
        while index < len(words):
            end = index
            title = TITLES.get(words[index].lower().rstrip(".")) if words[index][:1].isupper() else None
            if title is not None and not title.plural:
                end += 1
            first = end
            while end < len(words) and self._part(words[end]):
                end += 1
            if end > first and parse_name(" ".join(words[index:end])) is not None:
                yield _Written(WordSpan(index, end), " ".join(words[index:end]))
            index = max(end, index + 1)

    def _part(self, word: str) -> bool:
        return word[:1].isupper() and word[1:2].islower() and word.isalpha() and word.lower() in self._is_name

    @cached_property
    def genders(self) -> dict[str, int]:
        """The gender of each name that has a clear one."""
        words, votes = self.document.words, defaultdict[str, Counter[int]](Counter)
        for name, following in zip_longest(self.written, self.written[1:]):
            limit = name.words.end + _FOLLOWING
            stop = min(limit, following.words.start if following else limit, len(words))
            pronouns = (PRONOUNS.get(word.lower(), (0, 0))[1] for word in words[name.words.end : stop])
            gender = next((one for one in pronouns if one in PRONOUNS_OF), 0)
            if gender and self.case(name) is Case.SUBJECT:
                votes[name.text][gender] += 1
        found = {}
        for text in self.counts:
            shown = _name(text).gender
            if not shown and votes[text]:
                (gender, count), total = votes[text].most_common(1)[0], votes[text].total()
                shown = gender if 2 * count - total >= max(_LEAD, _DEVIATIONS * total**0.5) else 0
            if shown in (MASCULINE, FEMININE):
                found[text] = shown
        return found

    def case(self, name: _Written) -> Case | None:
        """The grammatical case of a name."""
        return case_of(self.document.words, name.words, opens_sentence=name.words.start in self._starts)

    @cached_property
    def aliases(self) -> dict[str, tuple[str, str]]:
        """Another name of the same person, and the full name that shows it, where nobody else has that family name."""
        families = defaultdict[str, set[str]](set)
        for text in self.counts:
            if (family := _name(text).family) or len(_name(text).parts) == 1:
                families[family or _name(text).parts[0]].add(text)
        found, given = dict[str, tuple[str, str]](), dict[str, list[str]]()
        for texts in families.values():
            full = [text for text in texts if len(_name(text).parts) == 2 and not _name(text).title]
            titled = [text for text in texts if _name(text).title]
            if len(full) != 1 or len(titled) != 1 or len(_name(titled[0]).parts) != 1:
                continue
            genders = {self.genders.get(text) for text in (titled[0], full[0], full[0].split()[0])} - {None}
            if len(genders) == 1 and titled[0] in self.genders and not _name(titled[0]).married:
                found |= {full[0]: (titled[0], full[0]), titled[0]: (full[0], full[0])}
                given.setdefault(full[0].split()[0], []).append(titled[0])
        for text, titles in given.items():
            if len(titles) == 1 and self.counts[text]:
                found.setdefault(text, (titles[0], found[titles[0]][0]))
        return found


def _name(text: str) -> Name:
    name = parse_name(text)
    assert name is not None
    return name


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replacements in the text, and the question about them at a place in code points."""

    kind: str
    name: str
    place: CharSpan
    replacements: tuple[tuple[int, int, str], ...]


def hide(names: Names, excerpt: WordSpan, random: np.random.Generator) -> HiddenText:
    """Some words of a novel with names hidden; the whole novel shows who is who."""
    document = names.document
    last = document.offsets[excerpt.end - 1].end
    first = document.offsets[excerpt.start].start
    chosen, taken = [], set[int]()
    for edit, sentences in _possible(names, excerpt, random):
        if not taken & sentences:
            taken |= sentences
            chosen.append(edit)
    return _rewrite(document.text[first:last], first, chosen)


def _possible(names: Names, excerpt: WordSpan, random: np.random.Generator) -> Iterator[tuple[_Edit, set[int]]]:
    """The edits that are drawn, in text order, each with the sentences that it needs unchanged."""
    document = names.document
    quotations = [q for q in find_quotations(document) if excerpt.start <= q.words.start and q.words.end <= excerpt.end]
    starts = paragraph_starts(document)
    quoted = {index: q for q in quotations for index in range(*q.words)}
    ending = {q.words.end: number for number, q in enumerate(quotations)}
    written = [name for name in names.written if excerpt.start <= name.words.start and name.words.end <= excerpt.end]
    here = Counter(name.text for name in written)
    hidden_from = dict[str, int]()  # the last written mention of each name that was not hidden
    for number, name in enumerate(written):
        gender = names.genders.get(name.text, 0)
        edit: _Edit | None = None
        if gender and names.counts[name.text] >= _OFTEN:
            quotation = quoted.get(name.words.start)
            near = [other for other in written[max(0, number - 12) : number + 12] if other.text == name.text]
            near = [other for other in near if 0 < abs(other.words.start - name.words.start) <= _NEAR]
            if quotation is not None and near:
                removal = removable_vocative(document.words, name.words, quotation)
                edit = _without(document, "addressee", name, removal)
            if edit is None and near:
                removal = removable_tag(document.words, name.words, quotations, ending, starts)
                edit = _without(document, "speaker", name, removal)
            if edit is None and (place := hidden_from.get(name.text)) is not None:
                between = {
                    other.text
                    for other in written[place + 1 : number]
                    if names.genders.get(other.text) == gender and other.text != name.text
                }
                sentence = document.sentence_of(name.words.start)
                close = sentence - document.sentence_of(written[place].words.start) <= _REACH
                if close and len(between) <= 1 and (quotation is not None or not between):
                    edit = _pronoun(names, name, gender, quoted=quotation is not None)
            alias, full = names.aliases.get(name.text, ("", ""))
            if edit is None and alias and min(here[name.text], here[full]) > _OFTEN:
                replacement = (*document.characters(name.words), alias)
                edit = _Edit("alias", name.text, document.characters(name.words), (replacement,))
        if edit is not None and random.random() < _SHARES[edit.kind]:
            yield edit, {document.sentence_of(name.words.start)}
        else:
            hidden_from[name.text] = number


def _pronoun(names: Names, name: _Written, gender: int, *, quoted: bool) -> _Edit | None:
    """The name replaced by a pronoun, if its case is clear and no other person of this gender is in the way."""
    document, words = names.document, names.document.words
    case = names.case(name)
    start, end = name.words
    sentence = document.sentences[document.sentence_of(start)]
    earlier = (PRONOUNS.get(word.lower(), (0, 0))[1] for word in words[sentence.start : start])
    joined = start > 1 and words[start - 1] in ("and", "or") and words[start - 2][-1:].isalnum()
    if case is None or gender in earlier or joined or (start and words[start - 1].lower() in TITLES):
        return None
    if case is Case.POSSESSIVE and words[end - 1] not in POSSESSIVES:
        end += 1
    pronoun = PRONOUNS_OF[gender][case.value]
    if start == sentence.start or (not words[start - 1][-1:].isalnum() and words[start - 1] not in (",", ";", ":")):
        pronoun = pronoun.capitalize() if start == sentence.start or case is Case.SUBJECT else pronoun
    place = document.characters(WordSpan(start, end))
    return _Edit("dialogue" if quoted else "narration", name.text, place, ((*place, pronoun),))


def _without(document: Document, kind: str, name: _Written, removal: Removal | None) -> _Edit | None:
    """The text without a tag or a vocative; the question is about the quotation that it belongs to."""
    if removal is None:
        return None
    (first, last), offsets = removal.words, document.offsets
    edits = [(*offsets[removal.comma], ".")] if removal.comma is not None else []
    edits.append((offsets[first - 1].end, offsets[last - 1].end, " " if removal.joins else ""))
    return _Edit(kind, name.text, document.characters(removal.quotations[0].words), tuple(edits))


def _rewrite(text: str, first: int, edits: Sequence[_Edit]) -> HiddenText:
    """The text after all edits; `first` is where it begins in the novel."""
    replacements = sorted(one for edit in edits for one in edit.replacements)
    pieces, moves, position, moved = [], [], 0, 0
    for start, end, new in replacements:
        pieces += [text[position : start - first], new]
        moved += len(new) - (end - start)
        moves.append((end, moved))
        position = end - first
    pieces.append(text[position:])

    def place(old: int) -> int:
        """Where a place of the novel that no edit removed is now."""
        return old - first + next((move for end, move in reversed(moves) if end <= old), 0)

    questions = [Question(edit.kind, edit.name, place(edit.place.start), place(edit.place.end)) for edit in edits]
    return HiddenText("".join(pieces), tuple(questions))


@dataclass(frozen=True, slots=True)
class Asked:
    """A text with questions, and the mentions that a reader found in it."""

    document: Document
    questions: tuple[Question, ...]
    mentions: tuple[MentionRecord, ...]

    def as_json(self) -> dict[str, Any]:
        """The text, the questions and the mentions as JSON values."""
        return {
            "text": self.document.text,
            "questions": [astuple(question) for question in self.questions],
            "mentions": [
                [*mention.words, mention.kind, mention.type, mention.entity, mention.score, mention.rivals]
                for mention in self.mentions
            ],
        }

    @classmethod
    def of_file(cls, path: Path, *, recall: bool = False) -> Asked:
        """A text from a file of `scripts/measure_hidden.py`, as it was read without or with recall."""
        return cls.of_json(path.stem, json.loads(path.read_text(encoding="utf-8"))[str(recall)])

    @classmethod
    def of_json(cls, id: str, record: Mapping[str, Any]) -> Asked:
        """What `as_json` has written."""
        document = tokenize(record["text"], id=id)
        mentions = []
        for start, end, kind, type, entity, score, rivals in record["mentions"]:
            span = WordSpan(start, end)
            mention = MentionRecord.of(document, span, kind=kind, type=type, entity=entity, score=score)
            mentions.append(replace(mention, rivals=tuple((one, link) for one, link in rivals)))
        questions = tuple(Question(*question) for question in record["questions"])
        return cls(document, questions, tuple(mentions))

    def holders(self, entities: Sequence[int | None]) -> dict[str, int]:
        """The entity that is called by each name that is asked for, given the entity of each mention.

        It has most of the mentions by this name, and no name of somebody else more often; otherwise nobody holds it.
        """
        called: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for mention, entity in zip(self.mentions, entities, strict=True):
            if entity is not None and mention.facts.name is not None:
                called[entity][without_possessive(mention.text)] += 1
        found = {}
        for text in {question.name for question in self.questions}:
            entity = max(called, key=lambda one: called[one][text], default=None)
            if entity is not None and called[entity][text]:
                own, count = parse_name(text), called[entity][text]
                others = (parse_name(other) for other, times in called[entity].items() if times > count)
                if not any(own is not None and name is not None and contradict(own, name) for name in others):
                    found[text] = entity
        return found


def right_answers(asked: Asked, revision: Revision) -> list[tuple[Question, bool]]:
    """Each question, and whether the revised mentions and quotations answer it rightly."""
    holders = asked.holders([mention.entity for mention in revision.mentions])
    places = {(mention.start, mention.end): mention.entity for mention in revision.mentions}
    found = []
    for question in asked.questions:
        holder = holders.get(question.name)
        if question.kind in ("speaker", "addressee"):
            said = next((q for q in revision.quotations if q.start <= question.start < q.end), None)
            answer = None if said is None else getattr(said, question.kind)
        else:
            answer = places.get((question.start, question.end))
        found.append((question, holder is not None and answer == holder))
    return found
