"""Types of mentions that nobody annotated, as shares: what the nouns, names and pronouns of their entities say.

A "she" is a person, and so is everything else in her entity; a name that ends in "River" is a place, unless it is a he.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from longcoref.english.lexicon import DETERMINERS, POSSESSIVE_ENDINGS, PRONOUNS
from longcoref.features.facts import HE_OR_SHE, MentionFacts, is_title
from modern_types.nouns import NOUN_TYPES, Nouns

Floats = npt.NDArray[np.float64]
_PERSONAL = {PRONOUNS[word][0] for word in ("he", "she", "i", "we", "you")}
_NEUTER = PRONOUNS["it"][0]
_RELATIVE_PERSONS = ("who", "whom", "whose")
_CERTAIN, _OF_NOUN, _OF_NAME = 2.0, 1.0, 0.5  # what a pronoun or title, a noun, and the last word of a name count
_AGAINST = 0.1  # what is left of a type that the pronouns of an entity contradict
_NOTHING: Floats = np.zeros(len(NOUN_TYPES))
_PERSON: Floats = np.eye(len(NOUN_TYPES))[NOUN_TYPES.index("PER")]
_TELLING_IN_NAMES = ("FAC", "GPE", "LOC", "VEH", "ORG", "EVENT")  # surnames are words of any other type, too


def likely_types(
    words: Sequence[Sequence[str]],
    facts: Sequence[MentionFacts],
    entities: Sequence[int],
    nouns: Nouns,
    people: Sequence[bool] | None = None,
) -> Floats:
    """The share of each of `NOUN_TYPES` for mentions, given their words, facts and entities: (mentions, types).

    A row is all 0 if nothing is known. `people` says which mentions are known to be persons.
    """
    own = [_evidence(one, fact, nouns) for one, fact in zip(words, facts, strict=True)]
    if people is not None:
        own = [_CERTAIN * _PERSON if known else one for known, one in zip(people, own, strict=True)]
    total: defaultdict[int, Floats] = defaultdict(lambda: np.zeros(len(NOUN_TYPES)))
    persons: Counter[int] = Counter()  # how many more "he" and "she" than "it" an entity has
    for entity, evidence, fact in zip(entities, own, facts, strict=True):
        total[entity] += evidence
        persons[entity] += (fact.pronoun in HE_OR_SHE) - (fact.pronoun == _NEUTER)
    rows = np.zeros((len(own), len(NOUN_TYPES)))
    for row, (entity, evidence, fact) in enumerate(zip(entities, own, facts, strict=True)):
        share = _normalized(total[entity])
        if evidence.any() and not fact.pronoun:  # of the mention itself, because it may be linked to a wrong entity
            share = (share + _normalized(evidence)) / 2
        if persons[entity]:
            share = _normalized(np.where((_PERSON > 0) == (persons[entity] > 0), share, _AGAINST * share))
        rows[row] = share
    return rows


def _evidence(words: Sequence[str], facts: MentionFacts, nouns: Nouns) -> Floats:
    """What a mention by itself says about its type."""
    if facts.pronoun:
        personal = facts.pronoun in _PERSONAL or words[0].lower() in _RELATIVE_PERSONS
        return _CERTAIN * _PERSON if personal else _NOTHING
    titled = facts.named and len(words) > 1 and is_title(words[0])
    if titled or (facts.name is not None and facts.name.usual_gender):
        return _CERTAIN * _PERSON
    lower = [word.lower() for word in words if word not in POSSESSIVE_ENDINGS]
    core = lower[1:] if len(lower) > 1 and lower[0] in DETERMINERS else lower
    whole = nouns.types("_".join(core))
    found = whole or nouns.types(facts.head)
    if found is None or (facts.named and whole is None and max(found, key=found.__getitem__) not in _TELLING_IN_NAMES):
        return _NOTHING
    return (_OF_NAME if facts.named else _OF_NOUN) * np.array([found.get(name, 0.0) for name in NOUN_TYPES])


def _normalized(shares: Floats) -> Floats:
    total = shares.sum()
    return shares / total if total else shares
