"""Words and sentences of raw English text, with exact offsets, in linear time."""

from longcoref.text.sentences import Sentence, SentenceStream, tokenize

__all__ = ["Sentence", "SentenceStream", "tokenize"]
