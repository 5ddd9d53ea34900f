"""Words and sentences of raw text: laws over arbitrary text, a case per habit of English, and LitBank as yardstick."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longcoref.document import Sentence
from longcoref.text import SentenceStream, tokenize
from longcoref.text.sentences import MAX_WORDS

ROOT = Path(__file__).parent.parent

# Pieces in which every rule has something to do, beside text of any characters (surrogates and null bytes included).
PIECES = st.sampled_from(
    [
        *"  .'’\"”“—-_*!?…,:;()[]@/0I",
        *("\n", "\r\n", "\n\n", "\x00", "\u200f", "\ufeff", "\ud800", "👩‍👩‍👧", "e\u0301", "שלום"),
        *("Mr.", "No.", "5", "U.S.", "a.m.", "The", "he", "Anna", "can't", "cannot", "'tis", "...", "--", "....", "I."),
        *("http://", "www.", "a@b.org", "well-known", "x" * 700, "-y" * 40, " " * 70, "\n" * 130, "!" * 150, "a" * 61),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join)


def sentences_of(text: str) -> list[str]:
    document = tokenize(text)
    return [" ".join(document.words[span.start : span.end]) for span in document.sentences]


def streamed(chunks: list[str]) -> list[Sentence]:
    stream = SentenceStream()
    return [*(sentence for chunk in chunks for sentence in stream.feed(chunk)), *stream.finish()]


# Laws


@given(TEXTS)
def test_words_stand_at_their_offsets_and_cover_all_that_is_not_white_space(text: str) -> None:
    document = tokenize(text)
    assert [text[start:end] for start, end in document.offsets] == list(document.words)
    assert "".join(document.words) == "".join(text.split())
    assert not any(character.isspace() for word in document.words for character in word)


@given(TEXTS, st.lists(st.integers(0, 3000), max_size=8))
@example("He saw No. 5 in the U.S. The end. " * 5, list(range(170)))
def test_the_cuts_of_a_stream_change_nothing(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(edges)]
    sentences = streamed(chunks)
    document = tokenize(text)
    assert [word for sentence in sentences for word in sentence.words] == list(document.words)
    assert [span for sentence in sentences for span in sentence.offsets] == list(document.offsets)
    assert [len(sentence.words) for sentence in sentences] == [end - start for start, end in document.sentences]
    assert sentences == streamed(list(text))


PATHOLOGICAL = {
    "one word": "x" * 100_000,
    "hyphens": "a-" * 50_000,
    "apostrophes": "a'" * 50_000,
    "points": "a." * 50_000,
    "ellipsis": "." * 100_000,
    "line ends": "\n" * 1_000_000,
    "quotes": '"' * 200_000,
    "no end": "word " * 100_000,
    "addresses": "http://" * 20_000,
    "address starts": "http://. " * 10_000,
    "signs": "a@" * 50_000,
    "skin tones": "👍" + "🏽" * 100_000,
    "null bytes": "\x00" * 100_000,
}


@pytest.mark.parametrize("text", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
def test_what_a_stream_holds_does_not_grow(text: str) -> None:
    stream = SentenceStream()
    sentences: list[Sentence] = []
    held = 0
    for start in range(0, len(text), 1000):
        sentences += stream.feed(text[start : start + 1000])
        held = max(held, len(stream._buffer))
    sentences += stream.finish()
    assert held <= 6000
    assert max((len(sentence.words) for sentence in sentences), default=0) <= MAX_WORDS
    assert "".join(word for sentence in sentences for word in sentence.words) == "".join(text.split())


def test_an_empty_text_has_no_sentence() -> None:
    assert tokenize("").sentences == ()
    assert tokenize(" \r\n\t", id="blank").id == "blank"


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't, can't, won't.", "I do n't , ca n't , wo n't ."),
        ("DON’T you’ll we’ve", "DO N’T you ’ll we ’ve"),
        ("Tom's, the boys', she'd've", "Tom 's , the boys ' , she 'd 've"),
        ("They cannot. I'm gonna; lemme", "They can not . I 'm gon na ; lem me"),
        ("'Tis late, 'twasn't, give 'em hell", "'T is late , 't was n't , give 'em hell"),
        ("O'Neil, ma'am, o’clock, d'you, rock'n'roll", "O'Neil , ma'am , o’clock , d'you , rock'n'roll"),
        ("goin' home more'n once", "goin ' home more 'n once"),
        ("a well-known, forty-two-year-old son-in-law", "a well-known , forty-two-year-old son-in-law"),
        ("no--yes—but 17-- or co----", "no -- yes — but 17 -- or co ----"),
        ("“‘Go,’ he said”", "“ ‘ Go , ’ he said ”"),
        ("it is _so_ *very* odd", "it is _ so _ * very * odd"),
        ("well... so…then", "well ... so … then"),
        ("the end....", "the end ... ."),
        ("What?! No!!!", "What ?! No !!!"),
        ("$1,200.50, £5, 3.5%", "$ 1,200.50 , £ 5 , 3.5 %"),
        ("at 7:30 on 12/25/2020, -5 or .50", "at 7:30 on 12/25/2020 , -5 or .50"),
        ("Mr. Day, St. Ives, U.S.A., a.m., e.g. it", "Mr. Day , St. Ives , U.S.A. , a.m. , e.g. it"),
        ("J. R. Hart, Ph.D., AT&T", "J. R. Hart , Ph.D. , AT&T"),
        ("ann.lee@mail.example.org, or", "ann.lee@mail.example.org , or"),
        ("(see https://example.org/a?b=c.)", "( see https://example.org/a?b=c . )"),
        ("go to example.org. Thanks @ann_lee #fun", "go to example.org . Thanks @ann_lee #fun"),
        ("so good😀👍🏽 👩‍👩‍👧 🇫🇷", "so good 😀 👍🏽 👩‍👩‍👧 🇫🇷"),
        ("cafe\u0301 naïve שלום", "cafe\u0301 naïve שלום"),
        ("\ufeffAnna", "\ufeff Anna"),
        ("either/or", "either / or"),
    ],
)
def test_words_are_those_of_the_penn_treebank(text: str, words: str) -> None:
    assert " ".join(tokenize(text).words) == words


# Sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We stayed.", ["It rained .", "We stayed ."]),
        ("Mr. and Mrs. Hart met Dr. Lee. He bowed.", ["Mr. and Mrs. Hart met Dr. Lee .", "He bowed ."]),
        ("We left St. Ives at 9 a.m. The sea was calm.", ["We left St. Ives at 9 a.m.", "The sea was calm ."]),
        ("Armand St. Just rose. Just then he fell.", ["Armand St. Just rose .", "Just then he fell ."]),
        ("It is in Oak St. The door is blue.", ["It is in Oak St.", "The door is blue ."]),
        ("The U.S. Senate met J. R. Hart.", ["The U.S. Senate met J. R. Hart ."]),
        ("No. 5 is here. No. Never.", ["No. 5 is here .", "No .", "Never ."]),
        ("It is I. You know me.", ["It is I .", "You know me ."]),
        ("I. M. Pei built it.", ["I. M. Pei built it ."]),
        ("We chose plan B. It failed.", ["We chose plan B .", "It failed ."]),
        ("It cost approx. ten pounds.", ["It cost approx. ten pounds ."]),
        ("“Who is it?” she asked. “Me.” He came in.", ["“ Who is it ? ” she asked .", "“ Me . ”", "He came in ."]),
        ('"Stop!" he cried. "Now."', ['" Stop ! " he cried .', '" Now . "']),
        ("'I heard \"no.\"' She left.", ["' I heard \" no . \" '", "She left ."]),
        ("He left (at last!) for home. (So he said.) We slept.",
         ["He left ( at last ! ) for home .", "( So he said . )", "We slept ."]),
        ("What is it?--A bird. Is it?--yes", ["What is it ?", "-- A bird .", "Is it ? -- yes"]),
        ("Wait... what? Well... The door shut.", ["Wait ... what ?", "Well ...", "The door shut ."]),
        ("And so . . . nothing. Gone", ["And so . . . nothing .", "Gone"]),
        ("A long line\nthat is wrapped. And\nwrapped again.", ["A long line that is wrapped .", "And wrapped again ."]),
        ("CHAPTER I\n\nThe Storm\n\nIt rained.", ["CHAPTER I", "The Storm", "It rained ."]),
        ("CHAPTER 2\r\n\r\nIt rained\r\nall day.\r\n", ["CHAPTER 2", "It rained all day ."]),
        ("II. The Storm\n\nIt rained.", ["II . The Storm", "It rained ."]),
        ("She said:\n\n“Come in.”\n\nHe came.", ["She said : “ Come in . ”", "He came ."]),
        ("“But I--”\n\n“Never!”", ["“ But I -- ”", "“ Never ! ”"]),
        ("1. Buy milk. 2. Sleep.", ["1 . Buy milk .", "2 . Sleep ."]),
        ("i went home. then i slept.", ["i went home .", "then i slept ."]),
        ("It ended.Then it began.", ["It ended .", "Then it began ."]),
        ("Nice 😀 Really! 😀 Yes.", ["Nice 😀 Really !", "😀 Yes ."]),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences_of(text) == expected


def test_a_text_without_end_is_cut() -> None:
    document = tokenize("word " * (2 * MAX_WORDS))
    assert len(document.sentences) == 3
    assert all(end - start <= MAX_WORDS for start, end in document.sentences)


# LitBank


def measurement() -> ModuleType:
    """The script that measures, as a module: the test asks it for what it prints."""
    spec = importlib.util.spec_from_file_location("measure_text", ROOT / "scripts" / "measure_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.data
@pytest.mark.parametrize(("parts", "novels"), [(["train"], 69), (["dev", "test"], 17)], ids=["developed on", "unseen"])
def test_words_and_sentences_agree_with_litbank(data_root: Path, parts: list[str], novels: int) -> None:
    script = measurement()
    gold = list(script.openings(data_root, parts))
    assert len(gold) == novels
    words, sentences = script.agreement(lambda text: script.split_of(tokenize(text)), gold)
    assert words.per_cent()["f1"] >= 99.7
    assert sentences.per_cent()["f1"] >= 97.0
