"""Words and sentences of raw English text, with exact offsets, in linear time."""

from longcoref.text.sentences import SentenceStream, tokenize

__all__ = ["SentenceStream", "tokenize"]
