"""Names: what they are made of, when two cannot be one person's, and which ones of a text are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.book.people import people_of
from longcoref.book.revision import BOOK_POLICIES, revise
from longcoref.english.lexicon import FEMININE, MASCULINE, TITLES, Title
from longcoref.english.names import Name, contradict, parse_name
from longcoref.features.facts import is_title, mention_facts
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text import tokenize


def name(text: str) -> Name:
    parsed = parse_name(text)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("text", "title", "given", "family"),
    [
        ("Mrs. Hallow", "mrs", "", "hallow"),
        ("my dear Miss Lydia Hallow", "miss", "lydia", "hallow"),
        ("Captain Elias Crake's", "captain", "elias", "crake"),
        ("Aunt Kate", "aunt", "catherine", ""),
        ("John van der Moss", "", "john", "moss"),
        ("Sir Giles", "sir", "giles", ""),
        ("Lydia", "", "", ""),
        ("Tom Mrs. Hallow", "", "", ""),
        ("the Unseen Rider", "", "unseen", "rider"),
        ("Sgt. Moss", "sergeant", "", "moss"),
        ("Lt. Lydia Moss", "lieutenant", "lydia", "moss"),
        ("Gov. Moss", "governor", "", "moss"),
        ("Mr. St. Wren", "mr", "", "st wren"),
        ("St. Wren Hallow", "", "st wren", "hallow"),
        ("her sister Kate", "sister", "catherine", ""),
        ("my brother Tom", "brother", "thomas", ""),
    ],
)
def test_parts_of_a_name(text: str, title: str, given: str, family: str) -> None:
    parsed = name(text)
    assert (parsed.title, parsed.given, parsed.family) == (title, given, family)


@pytest.mark.parametrize(
    "text", ["the old mill", "Mother", "The Doctor", "she", "", "my dear", "the captain's hat", "Messrs. Moss"]
)
def test_what_is_no_name(text: str) -> None:
    assert parse_name(text) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mr. Hallow", "Mrs. Hallow"),
        ("Miss Hallow", "Mrs. Hallow"),
        ("Jane Hallow", "Ann Hallow"),
        ("Mr. Moss", "Mr. Crake"),
        ("Jane", "Lydia"),
        ("Captain Hallow", "Miss Hallow"),
        ("Wren", "Lydia Hallow"),
    ],
)
def test_names_of_two_people(first: str, second: str) -> None:
    assert contradict(name(first), name(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Kate", "Catherine Hallow"),
        ("Mr. Hallow", "John Hallow"),
        ("J. Hallow", "John Hallow"),
        ("Hallow", "Mr. Hallow"),
        ("Miss Hallow", "Lydia"),
        ("Dr. Moss", "Mr. Moss"),
        ("Mrs. Kate", "Mrs. Catherine Hallow"),
        ("Captain Mary Hallow", "Miss Mary Hallow"),
        ("Capt. Hallow", "Captain Hallow"),
    ],
)
def test_names_that_may_be_one_person_s(first: str, second: str) -> None:
    assert not contradict(name(first), name(second))


_names = st.builds(
    Name,
    st.sampled_from(["", "mr", "mrs", "miss", "doctor", "captain", "aunt"]),
    st.lists(st.sampled_from(["kate", "catherine", "ann", "hallow", "moss", "j"]), min_size=1, max_size=3).map(tuple),
)


@pytest.mark.parametrize("title", sorted(TITLES.values(), key=lambda title: title.name))
def test_every_form_of_a_title_is_the_same_title(title: Title) -> None:
    written = {form.capitalize() for form in title.forms} | {f"{form.capitalize()}." for form in title.dotted}
    written |= title.forms if title.lower else set()
    names = {parse_name(f"{form} Hallow") for form in written}
    assert names == {None if title.plural else Name(title.name, ("hallow",))}
    assert all(is_title(form) for form in written)


def test_a_rank_is_no_contradiction_to_a_woman_s_full_name() -> None:
    _, owner = people_of({name("Captain Mary Hallow"): 3, name("Miss Mary Hallow"): 5, name("Captain Moss"): 1}, {})
    assert owner[name("Captain Mary Hallow")] == owner[name("Miss Mary Hallow")] != owner[name("Captain Moss")]


@given(_names, _names)
def test_contradiction_is_symmetric_and_no_name_contradicts_itself(first: Name, second: Name) -> None:
    assert contradict(first, second) == contradict(second, first)
    assert not contradict(first, first)


def test_aliases_are_learned_from_the_text() -> None:
    texts = {
        "Lydia Hallow": 3,
        "Lydia": 20,
        "Miss Hallow": 5,
        "Mrs. Hallow": 6,
        "Mr. Hallow": 4,
        "Moss": 2,
        "Dr. Moss": 4,
    }
    genders = {name("Lydia"): Counter({FEMININE: 20}), name("Mr. Hallow"): Counter({MASCULINE: 4})}
    _, owner = people_of({name(text): count for text, count in texts.items()}, genders)
    groups: dict[int, set[str]] = {}
    for text in texts:
        groups.setdefault(owner[name(text)], set()).add(text)
    assert {"Lydia Hallow", "Lydia", "Miss Hallow"} in groups.values()
    assert {"Moss", "Dr. Moss"} in groups.values()
    assert {"Mrs. Hallow"} in groups.values()
    assert {"Mr. Hallow"} in groups.values()


def test_a_name_that_fits_two_alike_is_nobody_s() -> None:
    _, owner = people_of({name("Jane Hallow"): 3, name("Ann Hallow"): 3, name("Hallow"): 2}, {})
    assert name("Hallow") not in owner


def test_a_name_is_rather_that_of_one_who_has_it_in_this_form() -> None:
    known = {name("Thomas Hallow"): 3, name("Tom Moss"): 3}
    _, owner = people_of({**known, name("Thomas"): 2, name("Tom"): 2}, {})
    assert owner[name("Thomas")] == owner[name("Thomas Hallow")] != owner[name("Tom")] == owner[name("Tom Moss")]
    _, owner = people_of({name("Thomas Hallow"): 50, name("Tom Moss"): 1, name("Tom"): 30}, {})
    assert owner[name("Tom")] == owner[name("Thomas Hallow")]  # who is named much more often


def test_a_given_name_that_nobody_has_may_be_an_initial() -> None:
    arden = {name("L. Arden"): 1, name("Miss Arden"): 5, name("Lydia"): 11}
    _, owner = people_of(arden, {})
    assert len(set(owner.values())) == 1
    _, owner = people_of({**arden, name("Lydia Moss"): 2}, {})  # somebody has it
    assert owner[name("Lydia")] == owner[name("Lydia Moss")] != owner[name("Miss Arden")]
    _, owner = people_of({name("H. Arden"): 2, name("Hallow"): 3}, {})  # not known as a given name
    assert owner[name("Hallow")] != owner[name("H. Arden")]
    _, owner = people_of({name("L. Arden"): 1, name("Mr. Arden"): 5, name("Lydia"): 11}, {})
    assert owner[name("Lydia")] != owner[name("Mr. Arden")]


def test_a_given_and_a_family_name_alone_are_of_one_who_has_both() -> None:
    names = {name("Ned Hallow"): 4, name("Ned"): 20, name("Hallow"): 12, name("Lady Hallow"): 5}
    _, owner = people_of(names, {name("Ned Hallow"): Counter({MASCULINE: 4})})
    assert owner[name("Ned")] == owner[name("Hallow")] == owner[name("Ned Hallow")] != owner[name("Lady Hallow")]


def test_a_given_name_behind_a_title_is_of_one_who_has_both() -> None:
    texts = {"Mrs. Kate Hallow": 4, "Ned Moss": 5, "Mrs. Kate": 3, "Mr. Ned": 2}
    _, owner = people_of({name(text): count for text, count in texts.items()}, {})
    assert owner[name("Mrs. Kate")] == owner[name("Mrs. Kate Hallow")]
    assert owner[name("Mr. Ned")] != owner[name("Ned Moss")]  # a Mr. Ned may be anybody


@given(st.dictionaries(_names, st.integers(1, 9), max_size=8))
def test_every_owner_is_a_person_who_has_the_name(names: dict[Name, int]) -> None:
    people, owner = people_of(names, {})
    for number, person in enumerate(people):
        own = {name: count for name, count in names.items() if owner.get(name) == number}
        assert person.count == sum(own.values()) > 0
        assert set(person.names) == {name.short for name in own}


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("Alice", FEMININE),
        ("Bob Hale", MASCULINE),
        ("Captain Mary Hale", FEMININE),
        ("Captain Hale", MASCULINE),
        ("Mr. Alice", MASCULINE),
        ("Kate", FEMININE),
        ("Hale", 0),
        ("Doctor Hale", 0),
    ],
)
def test_a_given_name_shows_a_gender_where_the_title_does_not(text: str, gender: int) -> None:
    assert mention_facts(text.split()).gender == gender


def test_a_name_alone_is_the_person_who_is_named_much_more_often() -> None:
    names = Counter({name("Mr. Hyde"): 40, name("Hyde"): 20, name("Hyde Stevenson"): 1})
    people, owner = people_of(names, {})
    assert len(people) == 2
    assert owner[name("Hyde")] == owner[name("Mr. Hyde")] != owner[name("Hyde Stevenson")]


def test_where_somebody_lives_is_no_part_of_the_name() -> None:
    assert name("Mr. Utterson of Gaunt Street") == name("Mr. Utterson")


@pytest.mark.parametrize(("gap", "one"), [(0, True), (200, False)])
def test_a_person_without_a_name_gets_the_one_that_the_text_gives_them(gap: int, one: bool) -> None:
    document = tokenize("An old man sat down. " + "It rained. " * (gap // 2) + "His name was Ned Moss. Ann knew him.")
    spans = {
        text: WordSpan(start, start + len(text.split()))
        for text in ("An old man", "His", "Ned Moss", "Ann", "him")
        for start in range(len(document.words))
        if " ".join(document.words[start : start + len(text.split())]) == text
    }
    entities = {"An old man": 0, "His": 0, "Ned Moss": 1, "Ann": 2, "him": 0}
    kinds = {"An old man": "NOM", "His": "PRON", "him": "PRON"}
    records = [
        MentionRecord.of(document, spans[text], kind=kinds.get(text, "PROP"), type="PER", entity=entity, score=0.9)
        for text, entity in entities.items()
    ]
    revised = revise(document, records, BOOK_POLICIES["names"]).mentions
    found = {mention.text: mention.entity for mention in revised}
    assert found["An old man"] == found["His"] != found["Ann"]
    assert (found["An old man"] == found["Ned Moss"]) is one


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("Dr. Moss came . Dr. Moss ate . Dr. Moss slept . The doctor sat down .", True),
        ("Dr. Moss came . Dr. Moss ate . The doctor sat down .", False),
        ("Dr. Moss came . Dr. Moss ate . Dr. Moss slept . Dr. Hale left . The doctor sat down .", True),
        ("Dr. Moss came . Dr. Moss ate . Dr. Moss slept . Dr. Hale left . Dr. Hale ate . The doctor sat down .", False),
        ("Dr. Moss came . Dr. Moss ate . Dr. Moss slept . The old doctor sat down .", False),
        ("Captain Moss came . Captain Moss ate . Captain Moss slept . The doctor sat down .", False),
        ("Lady Moss came . Lady Moss ate . Lady Moss slept . The lady sat down .", False),
        ("Lady Moss came . Lady Moss ate . Lady Moss slept . The Lady sat down .", True),
    ],
)
def test_a_title_alone_is_the_person_whose_name_has_it(text: str, one: bool) -> None:
    document = tokenize(text)
    records, entities = [], dict[str, int]()
    for sentence in document.sentences:
        end = next(
            place for place in range(*sentence) if document.words[place] in {"came", "left", "ate", "slept", "sat"}
        )
        wording = " ".join(document.words[sentence.start : end])
        entity = entities.setdefault(wording, len(entities))
        kind = "NOM" if wording.startswith("The") else "PROP"
        span = WordSpan(sentence.start, end)
        records.append(MentionRecord.of(document, span, kind=kind, type="PER", entity=entity, score=0.9))
    revised = revise(document, records, BOOK_POLICIES["names"]).mentions
    assert (revised[0].entity == revised[-1].entity) is one


@pytest.mark.parametrize(("strays", "one"), [(2, True), (3, False)])
def test_a_stray_pronoun_does_not_keep_the_names_of_one_person_apart(strays: int, one: bool) -> None:
    document = tokenize("Pike left. " * 3 + "They saw her. " * strays + "Mr. Pike sat down.")
    place = document.words.index("Mr.")
    spans = [WordSpan(at, at + 1) for at, word in enumerate(document.words[:place]) if word in ("Pike", "her")]
    records = [
        MentionRecord.of(document, span, kind="PROP", type="PER", entity=entity, score=0.9)
        for span, entity in [*((span, 0) for span in spans), (WordSpan(place, place + 2), 1)]
    ]
    revised = revise(document, records, BOOK_POLICIES["names"]).mentions
    assert (revised[0].entity == revised[-1].entity) is one


@pytest.mark.parametrize(("heap", "entities"), [(0, [0, 0, 0, 0, 0]), (3, [0, 0, 1, 0, 1, 1, 1, 1])])
def test_a_place_is_one_entity_and_takes_its_names_out_of_a_heap_of_towns(heap: int, entities: list[int]) -> None:
    text = "Wexley slept . Wexley woke . It rained . Wexley slept . They left it . " + "The town ate . " * heap
    document = tokenize(text)
    read = {"Wexley": ("PROP", [0, 0, 1]), "It": ("PRON", [1]), "it": ("PRON", [1]), "The": ("NOM", [1] * heap)}
    records = []
    for place, word in enumerate(document.words):
        if word in read:
            kind, left = read[word]
            span = WordSpan(place, place + 1 + (word == "The"))
            records.append(MentionRecord.of(document, span, kind=kind, type="GPE", entity=left.pop(0), score=0.9))
    revised = revise(document, records, BOOK_POLICIES["names"]).mentions
    assert [mention.entity for mention in revised] == entities


@pytest.mark.parametrize(("text", "one"), [("L. Arden", True), ("L. Moss", False)])
def test_a_name_with_a_family_name_of_a_person_is_a_person(text: str, one: bool) -> None:
    document = tokenize(f"Miss Arden came. They knew of {text}. Lydia sat down.")
    spans = [(WordSpan(0, 2), "PER"), (WordSpan(7, 9), "FAC"), (WordSpan(10, 11), "PER")]
    records = [
        MentionRecord.of(document, span, kind="PROP", type=type, entity=entity, score=0.9)
        for entity, (span, type) in enumerate(spans)
    ]
    assert [record.text for record in records] == ["Miss Arden", text, "Lydia"]
    arden, _, lydia = revise(document, records, BOOK_POLICIES["names"]).mentions
    assert (arden.entity == lydia.entity) is one
