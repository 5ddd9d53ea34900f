"""Resolved text: names in place of what says less."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from longcoref.render.resolved import Replacement, ResolvedText
from longcoref.result import Result
from longcoref.spans import CharSpan
from longcoref.text import tokenize
from measure_resolved import faults
from results import make_result, results


def result_of(marked: str) -> Result:
    """The result that a text like `[0P Anna] fed [0p her] dog` describes: P is a name, N a noun, p a pronoun."""
    kinds = {"P": "PROP", "N": "NOM", "p": "PRON"}
    text = ""
    opened: list[tuple[int, int, str]] = []
    spans: list[tuple[int, int, int, str]] = []
    position = 0
    while position < len(marked):
        if marked[position] == "[":
            opened.append((len(text), int(marked[position + 1]), kinds[marked[position + 2]]))
            position += 4
        elif marked[position] == "]":
            start, cluster, kind = opened.pop()
            spans.append((cluster, start, len(text), kind))
            position += 1
        else:
            text += marked[position]
            position += 1
    offsets = tokenize(text).offsets
    starts = {offset.start: index for index, offset in enumerate(offsets)}
    ends = {offset.end: index + 1 for index, offset in enumerate(offsets)}
    clusters: dict[int, list[tuple[int, int, str]]] = {}
    for cluster, start, end, kind in spans:
        clusters.setdefault(cluster, []).append((starts[start], ends[end], kind))
    return make_result(text, list(clusters.values()))


CASES = {
    "pronouns and nouns become the name": (
        "[0P Anna] slept. [0p She] dreamt, and [0N the cook] snored.",
        "Anna slept. Anna dreamt, and Anna snored.",
    ),
    "a fuller name is as good": (
        "[0P Anna] and [1P Tom] met. [0P Anna Hale] bowed to [0P Anna].",
        "Anna and Tom met. Anna Hale bowed to Anna.",
    ),
    "owners": (
        "[0P Anna] took [0p her] hat, and [1P Tom] took [1p his]. It was [0p hers].",
        "Anna took Anna's hat, and Tom took Tom's. It was Anna's.",
    ),
    "her is not always an owner": (
        "[0P Anna] sat. He saw [0p her] there, gave [0p her] a cup and called [0p her] Nan.",
        "Anna sat. He saw Anna there, gave Anna a cup and called Anna Nan.",
    ),
    "her before an adverb": (
        "[0P Anna] sat. He touched [0p her] gently, asked [0p her] first, and took [0p her] lovely hat.",
        "Anna sat. He touched Anna gently, asked Anna first, and took Anna's lovely hat.",
    ),
    "no name inside a mention of its entity": (
        "[0P Anna] came. “I love [1P [0p my] [1P Italy]]. [1p It] is warm.”",
        "Anna came. “I love Anna's Italy. Anna's Italy is warm.”",
    ),
    "what is hers is a mention": (
        "[0P Anna] sat with [1N [0p her] And so on aunt].",
        "Anna sat with Anna's And so on aunt.",
    ),
    "owners of many": ("[0N the sailors] lost [0p their] way.", "the sailors lost the sailors' way."),
    "an owner's mention": (
        "[0P Anna Hale] slept. [0N The cook's] bed creaked.",
        "Anna Hale slept. Anna Hale's bed creaked.",
    ),
    "sentences begin with a capital letter, phrases do not": (
        "[0N The old man] sat. “[0p He] is here,” they said, and [0p he] was.",
        "The old man sat. “The old man is here,” they said, and the old man was.",
    ),
    "names keep theirs": ("[0P Anna] slept, and so [0p I] said.", "Anna slept, and so Anna said."),
    "a replaced mention takes the inner one along": (
        "[0P Anna Hale] met [1P Tom Lee]. [1N [0p Her] brother] smiled.",
        "Anna Hale met Tom Lee. Tom Lee smiled.",
    ),
    "one that stays is looked into": (
        "[0P Anna] sold [1N [0p her] house].",
        "Anna sold Anna's house.",
    ),
    "a name with a pronoun is resolved": (
        "[0P Anna] slept. [1N Her husband] did not; [1p he] read.".replace("[1N Her", "[1N [0p Her]"),
        "Anna slept. Anna's husband did not; Anna's husband read.",
    ),
    "but not by way of itself": (
        "[0N [1p Her] husband] and [1N [0p his] wife] met. [0p He] smiled at [1p her].",
        "Her husband and his wife met. He smiled at her.",
    ),
    "no name beside itself": ("[0P Anna], [0N the cook], slept.", "Anna, the cook, slept."),
    "nobody says only pronouns": ("[0p She] said [0p she] slept.", "She said she slept."),
    "contractions": (
        "[0P Anna] said, “[0p I]'m tired; [0p I]'ll go, [0p I]’ve had enough, and [0p I]'d rather sleep.”",
        "Anna said, “Anna is tired; Anna will go, Anna has had enough, and I'd rather sleep.”",
    ),
    "a short is": (
        "[0P Miss Ross] sat. [0p She]'s the cook, [0p she]'s coming, [0p she]'s seen it and [0p she]'s old.",
        "Miss Ross sat. Miss Ross is the cook, Miss Ross is coming, Miss Ross's seen it and Miss Ross's old.",
    ),
    "emphasised verbs": ("[0P Anna] sat. “[0p You] _are_ late.”", "Anna sat. “You _are_ late.”"),
    "her where it may be either": (
        "[0P Anna] sat. He loved [0p her] never-ending laugh and [0p her] past, and sent [0p her] back.",
        "Anna sat. He loved Anna's never-ending laugh and her past, and sent her back.",
    ),
    "her before an adverb that may belong to an adjective": (
        "[0P Anna] sat. He saw [0p her] slightly open mouth, took [0p her] gently by the arm and left [0p her] sadly.",
        "Anna sat. He saw her slightly open mouth, took Anna gently by the arm and left Anna sadly.",
    ),
    "a reflexive needs its pronoun": (
        "[0P Anna] sat. “[0p I] hurt myself. [0p I] said so to [1p you].” “Did [0p you] see it yourself?”",
        "Anna sat. “I hurt myself. Anna said so to you.” “Did you see it yourself?”",
    ),
    "to like is a verb": (
        "[0P Anna] sat. “That is what [0p I] like.”",
        "Anna sat. “That is what I like.”",
    ),
    "contractions of others": (
        "[0P Tom] and [1N the boys] left. [0p He]'s old, [0p you]'re kind, [1p they]'re young and [1p they]'ve time.",
        "Tom and the boys left. Tom's old, Tom is kind, the boys are young and the boys have time.",
    ),
    "verbs agree": (
        "[0P Anna] sat. “[0p I] am here, [0p I] have time; [0p I] don't mind. Am [0p I] late? Do [0p you] know?”",
        "Anna sat. “Anna is here, Anna has time; Anna doesn't mind. Is Anna late? Does Anna know?”",
    ),
    "a pronoun stays where its verb would not agree": (
        "[0P Anna] sat. “[0p I] think so, [0p you] see; [0p I] only wanted to ask, and [0p I] said so to [0p you].”",
        "Anna sat. “I think so, you see; Anna only wanted to ask, and Anna said so to Anna.”",
    ),
    "two subjects have one verb": (
        "[0P Anna] and Tom sat. “Tom and [0p I] are tired. If I were [0p you], I would sleep.”",
        "Anna and Tom sat. “Tom and Anna are tired. If I were Anna, I would sleep.”",
    ),
    "forms of address": (
        "[0P Anna] sat. “Oh, [0p my] dear, where is [0p my] hat?”",
        "Anna sat. “Oh, my dear, where is Anna's hat?”",
    ),
    "numbers agree": (
        "[0N the sailors] sang. [0p It] was late, and [0p they] slept.",
        "the sailors sang. It was late, and the sailors slept.",
    ),
    "my dear and a name": ("[0P Anna] sat. “Go, [0N my dear] Tom.”", "Anna sat. “Go, my dear Tom.”"),
    "a part of a word": ("[0P Anna] sat. “Gim[0p me] that.”", "Anna sat. “Gimme that.”"),
    "who stays": ("[0P Anna] sang, [0p who] slept.", "Anna sang, who slept."),
    "a shortened name is not inserted": (
        "[0N The man who had come down from London in the summer with two large dogs] sat. [0p He] slept.",
        "The man who had come down from London in the summer with two large dogs sat. He slept.",
    ),
    "reflexives stay": ("[0P Anna] saw [0p herself].", "Anna saw herself."),
}


@pytest.mark.parametrize("name", CASES)
def test_resolved(name: str) -> None:
    marked, expected = CASES[name]
    assert result_of(marked).resolved_text() == expected


def test_pronouns_only_leave_nouns_alone() -> None:
    result = result_of("[0P Anna] slept. [0N The cook] snored, and [0p her] cat left [1N the [0p her]].")
    assert result.resolved_text(pronouns_only=True) == "Anna slept. The cook snored, and Anna's cat left the Anna."


def test_the_apostrophe_is_that_of_the_text() -> None:
    assert result_of("[0P Anna] said ‘Tom’ lost [0p her] hat.").resolved_text() == "Anna said ‘Tom’ lost Anna’s hat."


@given(result=results())
def test_names_alone_are_left_alone(result: Result) -> None:
    """Any text, however strange, comes through; where no mention is a pronoun, it stays as it is."""
    result.resolved_text()
    kinds = {mention.kind for mention, _ in result.mentions}
    if "PRON" not in kinds and result.document is not None:
        assert result.resolved_text(pronouns_only=True) == result.document.text


@pytest.mark.parametrize(
    ("original", "resolved", "fault"),
    [
        ("I'm tired", "Anna'm tired", "contraction"),
        ("you are late", "Anna are late", "agreement"),
        ("you _are_ late", "Anna _are_ late", "agreement"),
        ("I'd go", "Anna'd go", "contraction"),
        ("I like it", "Anna like it", "agreement"),
        ("I myself left", "Anna myself left", "reflexive"),
        ("her past life", "Anna past life", "possessive lost"),
        ("her never-ending laugh", "Anna never-ending laugh", "possessive lost"),
        ("her silly hat", "Anna's silly hat", None),
        ("my hat", "Anna hat", "possessive lost"),
        ("my hat", "i's hat", "pronoun inserted"),
        ("she slept", "Mrs. Hallow of the…  slept", "shortened name"),
        ("her hat", "Anna's hat", None),
        ("I left", "Anna left", None),
    ],
)
def test_the_checker_of_resolved_text_finds_malformed_forms(original: str, resolved: str, fault: str | None) -> None:
    end = re.match(r"\w+", original)
    inserted = resolved.removesuffix(original[end.end() :] if end else "").rstrip()
    replacement = Replacement(CharSpan(0, len(inserted)), CharSpan(0, end.end() if end else 0), 0)
    found = faults(original, ResolvedText(resolved, (replacement,)), replacement, opens=False)
    assert (fault in found) if fault else not found


@given(result=results())
def test_offsets_of_resolved_text_lead_back(result: Result) -> None:
    made, text = result.resolved(), result.known_document.text
    position = 0
    for span, original, _ in made.replacements:
        assert (
            made.text[position : span.start] == text[made.original(position) : original.start] or position == span.start
        )
        position = span.end
    for offset in range(len(made.text)):
        if not any(span.start <= offset < span.end for span, _, _ in made.replacements):
            assert made.text[offset] == text[made.original(offset)]
    places = [made.original(offset) for offset in range(len(made.text))]
    assert places == sorted(places)


def test_limits_of_resolved_text() -> None:
    result = result_of("[0P Anna] slept. [0p She] dreamt of [1P Tom], and nobody but [1p him] woke [0p her].")
    assert result.resolved_text() == "Anna slept. Anna dreamt of Tom, and nobody but Tom woke Anna."
    assert result.resolved_text(min_score=0.9) == result.known_document.text
    assert result.resolved_text(types=["ORG"]) == result.known_document.text
    assert result.resolved_text(max_distance=5) == "Anna slept. Anna dreamt of Tom, and nobody but Tom woke her."
