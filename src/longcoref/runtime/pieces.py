"""Word pieces: what the encoder reads instead of words.

Words are tokenised one by one, so a piece belongs to exactly one word and every word has at least one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tokenizers

from longcoref.errors import ModelError
from longcoref.runtime.foreign import as_model_error

MAX_WORD_PIECES = 64
"""A longer word keeps only its first pieces, so that a line of dashes does not fill whole windows."""

_MAX_WORD_CHARACTERS = 1024
"""The rest of a longer word is not tokenized, so that the time stays linear in the text."""

_MAX_CACHED_WORDS = 10_000  # nearly all words of any stretch of text, in 2 MB
_ESCAPED = {"/.": ".", "/?": "?"}
"""Corpora in the style of OntoNotes put a slash before these marks when they are words of their own."""

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of consecutive words. Word `w` is made of pieces `first[w]` up to, not including, `end[w]`."""

    ids: Integers  # (pieces,) number of each piece in the vocabulary
    first: Integers  # (words,)
    end: Integers  # (words,)

    @property
    def lengths(self) -> Integers:
        """The number of pieces of each word, (words,); at least 1."""
        return self.end - self.first


class Tokenizer:
    """Splits words into pieces, as the `tokenizer.json` of a Hugging Face model says.

    `definition` is the text of that file. `opening` and `closing` are the ids that the encoder expects around every
    window ([CLS] and [SEP] for BERT), `unknown` is the id of words that are not in the vocabulary.
    """

    def __init__(self, definition: str, *, name: str = "tokenizer.json") -> None:
        self._name, self.definition = name, definition
        with as_model_error(f"{name}: is not the tokenizer.json of a model"):
            self._open(tokenizers.Tokenizer.from_str(definition))

    def _open(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer
        # The file of a sentence model may ask for both, but windows are neither cut nor padded.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # A text that contains the characters "[SEP]" is encoded like any other.
        self._tokenizer.encode_special_tokens = True
        # In byte-level vocabularies a word includes the space before it.
        splitter = self._tokenizer.pre_tokenizer
        if hasattr(splitter, "add_prefix_space"):
            splitter.add_prefix_space = True
        named = getattr(self._tokenizer.model, "unk_token", None)
        self.unknown = self._id("unknown words", named, "[UNK]", "<unk>")
        self._known: dict[str, tuple[int, ...]] = {}
        frame = self._tokenizer.encode("a")
        inside = [index for index, special in enumerate(frame.special_tokens_mask) if not special]
        self.opening: tuple[int, ...] = tuple(frame.ids[: inside[0]])
        self.closing: tuple[int, ...] = tuple(frame.ids[inside[-1] + 1 :])

    @classmethod
    def open(cls, path: str | Path) -> Tokenizer:
        """Reads a `tokenizer.json` file."""
        try:
            definition = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}: cannot be read ({error}); a model directory needs this file") from error
        return cls(definition, name=str(path))

    @property
    def mask(self) -> int:
        """The id of the mask piece; only models trained with masked words have one."""
        return self._id("masked words", "[MASK]", "<mask>")

    @property
    def largest_id(self) -> int:
        """The largest id in the vocabulary."""
        last = self._tokenizer.get_vocab_size(with_added_tokens=True) - 1
        if self._tokenizer.id_to_token(last) is not None:  # numbered from 0 without a gap; a list of all takes long
            return last
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=self.unknown)

    def _id(self, purpose: str, *pieces: str | None) -> int:
        for piece in pieces:
            number = None if piece is None else self._tokenizer.token_to_id(piece)
            if number is not None:
                return int(number)
        raise ModelError(f"{self._name}: has no piece for {purpose} ({' or '.join(filter(None, pieces))})")

    def word(self, word: str) -> tuple[int, ...]:
        """The ids of one word's pieces: at least one, at most `MAX_WORD_PIECES`."""
        ids = self._known.get(word)
        if ids is None:
            text = _ESCAPED.get(word, word)[:_MAX_WORD_CHARACTERS]
            text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is no character
            with as_model_error(f"{self._name}: cannot encode a word"):
                encoded = self._tokenizer.encode(text, add_special_tokens=False).ids
            ids = tuple(encoded[:MAX_WORD_PIECES]) or (self.unknown,)
            if len(self._known) >= _MAX_CACHED_WORDS:
                self._known.clear()
            if len(word) <= _MAX_WORD_CHARACTERS:
                self._known[word] = ids
        return ids

    def words(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The ids of the pieces of each word."""
        known = self._known.get
        return [known(word) or self.word(word) for word in words]

    def __call__(self, words: Sequence[str]) -> Pieces:
        """The pieces of these words, in order."""
        split = self.words(words)
        end = np.cumsum([len(ids) for ids in split], dtype=np.int32)
        first = np.concatenate((np.zeros(min(1, len(split)), np.int32), end[:-1]))
        return Pieces(np.array([id for ids in split for id in ids], np.int32), first, end)
