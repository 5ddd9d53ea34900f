"""What the words of a mention say without any vector: strings to match, gender and number cues, who speaks.

These are cues, not truths: they become features whose weight is learned. Everything is decided from the words of the
mention and of the text before it, so that reading a text in pieces and reading it whole give the same facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from longcoref.english.names import FEMININE, MASCULINE, Name, parse_name
from longcoref.spans import WordSpan

# The further bits of `MentionFacts.gender`.
NEUTER, PLURAL = 4, 8

_PRONOUNS = (
    ("he him his himself", MASCULINE),
    ("she her hers herself", FEMININE),
    ("it its itself", NEUTER),
    ("they them their theirs themselves", PLURAL),
    ("i me my mine myself", 0),
    ("we us our ours ourselves", PLURAL),
    ("you your yours yourself yourselves ye thou thee thy thine thyself", 0),
    ("who whom whose which that", 0),
    ("this these those one another other others some", 0),
)
PRONOUN_CLASSES = len(_PRONOUNS) + 1  # class 0 is no pronoun
FIRST_PERSON, SECOND_PERSON = 5, 7  # the classes of I and of you
HE_OR_SHE = (1, 2)  # the classes of pronouns that are one person's
THIRD_PERSON = {1: "he", 2: "she", 4: "they"}  # the classes by which a text shows a gender, or leaves it open
_PRONOUN = {word: (number, gender) for number, (line, gender) in enumerate(_PRONOUNS, 1) for word in line.split()}

_MASCULINE_WORDS = """
mr mr. sir lord king prince duke earl baron count emperor master uncle father papa dad grandfather brother son nephew
grandson husband widower boy lad man gentleman fellow monsieur m. don signor herr father-in-law brother-in-law
son-in-law actor priest monk squire esq. bridegroom bachelor
"""
_FEMININE_WORDS = """
mrs mrs. miss ms ms. lady queen princess duchess countess baroness empress mistress aunt mother mamma mama mum
grandmother sister daughter niece granddaughter wife widow girl lass maid woman madam madame mademoiselle mme. mlle.
donna signora frau fräulein mother-in-law sister-in-law daughter-in-law actress nun governess nurse bride spinster
"""
_PLURAL_WORDS = "men women boys girls people children folks gentlemen ladies brothers sisters both parents twins"
_TITLE_WORDS = """
mr mr. mrs mrs. miss ms ms. dr dr. doctor sir lord lady king queen prince princess duke duchess earl count countess
baron captain capt. colonel col. general gen. major lieutenant lieut. sergeant rev. reverend father mother aunt uncle
brother sister monsieur madame mademoiselle m. mme. mlle. st. saint professor prof. judge squire master don
"""
_LEADING_WORDS = "the a an this that these those my your his her its our their some any no every each all"
# A head stands before the first of these: "the [man] in the moon", "the [aunt] who raised him".
_WORDS_AFTER_HEAD = """
of in on at from with without by for to into upon under over between among behind beside near who whom whose which
that where when , -- — ( and or as than like
"""
_GENDERED = {
    word: gender
    for gender, words in ((MASCULINE, _MASCULINE_WORDS), (FEMININE, _FEMININE_WORDS), (PLURAL, _PLURAL_WORDS))
    for word in words.split()
}
_TITLES = frozenset(_TITLE_WORDS.split())
_LEADING = frozenset(_LEADING_WORDS.split())
_AFTER_HEAD = frozenset(_WORDS_AFTER_HEAD.split())
_POSSESSIVE = frozenset(("'s", "’s", "'", "’"))


@dataclass(frozen=True, slots=True)
class MentionFacts:
    """What the words of a mention say, wherever it occurs.

    `exact` is its wording without case and determiner, `head` its main word, `tokens` its telling words; all are
    empty for a pronoun, whose class is `pronoun` (0 for anything else). `gender` is a set of bits, 0 if unknown. `name`
    is the person's name that it is, None if it is none.
    """

    pronoun: int
    gender: int
    named: bool
    exact: str
    head: str
    tokens: frozenset[str]
    name: Name | None = None


@dataclass(frozen=True, slots=True)
class PlacedFacts:
    """The facts of a mention, the number of its sentence, and whether it is inside quotation marks."""

    facts: MentionFacts
    sentence: int
    quoted: bool


def is_title(word: str) -> bool:
    """Whether a word stands before names: Mr., Captain, Aunt."""
    return word.lower() in _TITLES


def is_pronoun(word: str) -> bool:
    """Whether a word can be a mention by itself without naming anything: she, them, who."""
    return word.lower() in _PRONOUN


def mention_facts(words: Iterable[str]) -> MentionFacts:
    """The facts of a mention with these words. Most mentions of a text repeat a few wordings, which share theirs."""
    return _facts_of(tuple(words))


@lru_cache(maxsize=512)
def _facts_of(words: tuple[str, ...]) -> MentionFacts:
    lower = [word.lower() for word in words]
    if len(words) == 1 and lower[0] in _PRONOUN:
        number, gender = _PRONOUN[lower[0]]
        return MentionFacts(number, gender, False, "", "", frozenset())
    first = 1 if len(words) > 1 and lower[0] in _LEADING else 0
    last = next((index for index in range(first + 1, len(words)) if lower[index] in _AFTER_HEAD), len(words))
    while last > first + 1 and lower[last - 1] in _POSSESSIVE:
        last -= 1
    head = lower[last - 1]
    gender = _GENDERED.get(head, 0)
    if not gender and lower[first] in _TITLES:
        gender = _GENDERED.get(lower[first], 0)
    if "and" in lower[first:]:
        gender = PLURAL
    tokens = frozenset(
        word
        for word in lower[first:last]
        if word not in _TITLES and word not in _LEADING and word not in _POSSESSIVE and any(map(str.isalnum, word))
    )
    named = words[last - 1][:1].isupper()
    name = parse_name(" ".join(words)) if named and gender != PLURAL else None
    return MentionFacts(0, gender, named, " ".join(lower[first:]), head, tokens, name)


_OPENING, _CLOSING, _EITHER = frozenset(("“", "``", "„", "«")), frozenset(("”", "''", "»")), frozenset(('"',))
LONGEST_QUOTE = 400  # words; a quote left open longer than this was a slip of the text or of ours


@dataclass(slots=True)
class QuoteScanner:
    """Says of each word whether it stands inside double quotation marks; the marks themselves do not."""

    open_for: int = 0  # words since the quote opened, 0 outside

    def scan(self, words: Iterable[str]) -> list[bool]:
        """Goes on from the words scanned before."""
        flags = []
        for word in words:
            inside = False
            if word in _OPENING or (word in _EITHER and not self.open_for):
                self.open_for = 1
            elif word in _CLOSING or word in _EITHER:
                self.open_for = 0
            elif self.open_for:
                inside = True
                self.open_for = (self.open_for + 1) % LONGEST_QUOTE
            flags.append(inside)
        return flags


def document_facts(
    words: Sequence[str], sentences: Sequence[WordSpan], spans: Iterable[tuple[int, int]]
) -> list[PlacedFacts]:
    """The facts of spans of a whole document."""
    quoted = QuoteScanner().scan(words)
    sentence_of = [number for number, (start, end) in enumerate(sentences) for _ in range(start, end)]
    return [PlacedFacts(mention_facts(words[start:end]), sentence_of[start], quoted[start]) for start, end in spans]
