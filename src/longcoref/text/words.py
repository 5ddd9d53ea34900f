"""Where one word of raw English ends and the next begins: one regular expression, Penn Treebank style.

Contractions are split (`do n't`, `Tom 's`, `can not`, `'t is`), hyphenated words, numbers, times, addresses and
initials stay whole, and every other mark is a word of its own. Each character that is not white space belongs to
exactly one word. All repetitions are bounded: a word depends on one character before it, on fewer than `WINDOW`
characters from its start on, and on nothing after the next white space. This is what makes streaming exact.
"""

from __future__ import annotations

import re

WINDOW = 4096

# Letters, digits and combining marks of all scripts: everything but white space, punctuation, symbols and controls.
# Defined by exclusion, because `\w` has no combining marks and the standard library has no class for them.
_NOT_LETTERS = (
    r"\s\x00-/:-@\[-`{-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u0387\u055a-\u055f\u0589\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u060c\u061b-\u061f\u066a-\u066d\u06d4\u0964\u0965"
    r"\u2000-\u200b\u200e-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u30fb"
    r"\ud800-\udfff\ufe10-\ufe1f\ufe30-\ufe6f\ufeff-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffff"
    r"\U0001f000-\U0001faff"
)
_L = rf"[^{_NOT_LETTERS}]"
_A = "['’]"
_CLITIC = rf"{_A}(?:[sSmMdD]|[lL][lL]|[rR][eE]|[vV][eE]|[nN](?!{_A}{_L}))(?!{_L})"
_NOT = rf"[nN]{_A}[tT](?!{_L})"
_EMOJI = r"[\u2190-\u2bff\U0001f000-\U0001faff]"
_OPENS = r"(?<![^\s(\[\"“'‘$£€])"  # at the start of a word: after white space, a bracket, a quote or a currency sign

# What joins two runs of letters to one word: a hyphen or underscore, an apostrophe that opens no clitic (O'Hara), a
# point before a small letter or digit (example.com), and between digits the marks of numbers, times and dates.
_JOINT = rf"(?:[-\u2010\u2011_]|(?!{_CLITIC}){_A}|\.(?=[a-z0-9])|(?<=[0-9])[,:/](?=[0-9]))"
_JOINED = rf"(?:{_JOINT}{_L}{{1,100}}){{0,30}}"

# The kinds of words, in the order in which they are tried.
_KINDS = {
    "plain": (
        # The first half of two words written as one.
        r"[cC]an(?=not\b)|CAN(?=NOT\b)|[gG]on(?=na\b)|[wW]an(?=na\b)|[gG]ot(?=ta\b)|[gG]im(?=me\b)|[lL]em(?=me\b)",
        # Four words of five, so early for speed: plain letters before something that joins nothing.
        r"[A-Za-z]{1,60}(?=[\s,;!?\"”)—])",
    ),
    "address": (
        r"(?:https?://|www\.)[^\s<>\"“”]{0,2000}[^\s<>\"“”.,;:!?'’)\]}_*]",
        r"[A-Za-z0-9][\w.+%-]{0,63}@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,8}",
        rf"{_OPENS}[@#][A-Za-z]\w{{0,100}}",
    ),
    "initials": (
        rf"(?:[A-Za-z]\.){{2,10}}(?!{_L})",  # U.S., a.m.
        rf"(?:[A-Z][a-z]?\.){{2,10}}(?!{_L})",  # Ph.D.
    ),
    "dotted": (rf"{_L}{{1,20}}\.(?![a-z0-9.])",),  # an abbreviation or the last word of a sentence
    "joined": (
        r"(?:[A-Z]\.){1,10}[A-Z](?![\w.])",  # U.S
        rf"[A-Z]{{1,5}}&[A-Z]{{1,5}}(?!{_L})",  # AT&T
        rf"[A-Za-z]{{1,20}}?(?={_NOT})",
        _NOT,
        _CLITIC,
        # Words that begin with an apostrophe: the t of 'tis, and 'em, 'cause, 'n', '90s.
        rf"{_A}[tT](?=(?:[iI][sS]|[wW](?:as|AS|ere|ill|ould))(?:{_NOT}|(?!{_L})))",
        rf"{_A}(?:[eE]m|[cC]ause|[tT]il|bout|[nN]{_A}|\d\ds?)(?!{_L})",
        rf"[yY]{_A}(?=all(?!{_L}))",
        rf"{_OPENS}[-−]?\.?[0-9]{{1,100}}{_L}{{0,100}}{_JOINED}",
        rf"{_L}{{1,500}}{_JOINED}",
    ),
    "stop": (r"[!?]{1,100}", r"\.(?!\.\.)", r"[\u203c\u203d\u2047-\u2049\u061f\u06d4\u0964\u3002\uff01\uff1f]"),
    "ellipsis": (r"\.{3}(?=\.(?!\.))", r"\.{3,100}", r"…{1,100}"),
    "closer": (r"''|[\"'”’»›)\]}]", r"_{1,100}", r"\*{1,100}"),
    "dash": (r"-{1,100}", r"[—―–]{1,100}"),
    "mark": (
        r"``|={2,100}|~{2,100}",
        r"[\x00-\x08\x0e-\x1b\x7f]{1,100}",
        r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]{1,100}",  # direction and byte order marks
        r"[\U0001f1e6-\U0001f1ff]{2}",  # flags
        rf"{_EMOJI}(?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|\u200d{_EMOJI}){{0,32}}",
        r"\S",
    ),
}

# White space belongs to the word that follows it; a run that is too long for that is a match without a group.
WORD = re.compile(
    r"\s{0,64}(?:" + "|".join(f"(?P<{kind}>{'|'.join(patterns)})" for kind, patterns in _KINDS.items()) + r")|\s{1,64}"
)

# The `lastindex` of a match tells its kind.
PLAIN, ADDRESS, INITIALS, DOTTED, JOINED, STOP, ELLIPSIS, CLOSER, DASH, MARK = WORD.groupindex.values()
