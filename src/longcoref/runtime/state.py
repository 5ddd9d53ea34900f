"""A half-read text in one file, so that reading can be continued another day.

The file is a line with the schema, a line with the SHA-256 of the rest, and the rest: a safetensors file with the
arrays of the memory and, as JSON in a tensor of bytes, the other fields listed below. Everything that follows from the
text (words, offsets, windows) is derived from it again, so it cannot contradict it. A file that was damaged, that does
not fit together, or that comes from another model or memory is refused with `ModelError`.

    model, memory   what it was saved with: the model's fingerprint; policy, capacity, and "recall" if it recalls
    text            all of the text that was fed
    mentions        those that are in an entity, as columns: start, end (in words), kind, type, entity, score, rivals
    clusterer       what `Clusterer.state` gives: its cells, the strings they match, the archive
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from longcoref.clusters import KINDS
from longcoref.document import Document, Sentence
from longcoref.english.lexicon import PRONOUN_CLASSES
from longcoref.errors import ModelError, quoted
from longcoref.features.pairs import FEATURES, SAME_STRING, SAME_TOKEN, EntityArrays
from longcoref.files import atomic_bytes
from longcoref.memory import MemoryPolicy
from longcoref.mention import MentionRecord
from longcoref.runtime.archive import NEAREST_AMONG
from longcoref.runtime.model import Model
from longcoref.runtime.stream import TextStream
from longcoref.spans import CharSpan, WordSpan

SCHEMA = b"longcoref-state/4\n"
_MOST = 2**53  # no count is larger

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class HalfRead:
    """A text as far as it was read: its mentions that are in an entity, and the stream that continues it."""

    text: str
    mentions: Sequence[MentionRecord]
    stream: TextStream


def save_state(path: str | Path, half: HalfRead, model: Model, policy: MemoryPolicy) -> None:
    """Writes a half-read text, from which `load_state` continues."""
    clusterer, arrays = half.stream.reader.clusterer.state()
    table = {
        **_identity(model, policy),
        "text": half.text,
        "mentions": {
            "start": [mention.words.start for mention in half.mentions],
            "end": [mention.words.end for mention in half.mentions],
            **{name: [getattr(mention, name) for mention in half.mentions] for name in _COLUMNS},
        },
        "clusterer": clusterer,
    }
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    whole["vectors"] = np.ascontiguousarray(half.stream.reader.vectors)
    content = save(whole | {"fields": np.frombuffer(json.dumps(table).encode(), dtype=np.uint8)})
    with atomic_bytes(path) as stream:
        stream.write(SCHEMA + _digest(content) + content)


_COLUMNS = ("kind", "type", "entity", "score", "rivals")


def load_state(path: str | Path, model: Model, policy: MemoryPolicy) -> HalfRead:
    """The half-read text that was saved."""
    arrays, table = _read(path)
    for key, expected in _identity(model, policy).items():
        if table.get(key) != expected:
            raise ModelError(
                f"{path}: was saved with another {key}: {quoted(table.get(key))}, but this one is {quoted(expected)}"
            )
    try:
        return _restored(table, arrays, model, policy)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelError(f"{path}: the parts of this saved state do not fit together ({error!r})"[:500]) from error


def _identity(model: Model, policy: MemoryPolicy) -> dict[str, Any]:
    return {
        "model": model.fingerprint,
        "memory": [policy.name, policy.capacity, *(["recall"] if policy.recalls else [])],
    }


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n"


def _read(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the other fields of a file whose checksum is right."""
    try:
        whole = Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if not whole.startswith(SCHEMA):
        raise ModelError(f"{path}: is not a saved state of this version of longcoref ({SCHEMA.decode().strip()})")
    content = whole[len(SCHEMA) + len(_digest(b"")) :]
    if whole[len(SCHEMA) :][: len(_digest(b""))] != _digest(content):
        raise ModelError(f"{path}: is damaged: its checksum does not match")
    try:
        arrays: Arrays = load(content)
        table = json.loads(arrays.pop("fields").tobytes())
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path}: is not a saved state of longcoref ({error!r})"[:500]) from error
    if not isinstance(table, dict):
        raise ModelError(f"{path}: is not a saved state of longcoref: expected an object, got {type(table).__name__}")
    return arrays, table


def _restored(table: dict[str, Any], arrays: Arrays, model: Model, policy: MemoryPolicy) -> HalfRead:
    """Builds everything from checked fields; raises `ValueError` and the like if one of them is wrong."""
    stream, text = TextStream(model, policy), _string(table["text"])
    document = _document(text, stream.skip(text))
    reader = stream.reader
    _check_memory(table["clusterer"], arrays, model, policy, sentences=reader.sentences)
    reader.vectors = _floats(arrays["vectors"], reader.vectors.shape)
    reader.clusterer.restore(table["clusterer"], arrays)
    entities = table["clusterer"]["cells"]["opened"]
    mentions = _mentions(table["mentions"], document, model, words=reader.words, entities=entities)
    return HalfRead(text, mentions, stream)


def _document(text: str, sentences: Iterable[Sentence]) -> Document:
    words: list[str] = []
    offsets: list[CharSpan] = []
    spans: list[WordSpan] = []
    for sentence in sentences:
        spans.append(WordSpan(len(words), len(words) + len(sentence.words)))
        words += sentence.words
        offsets += sentence.offsets
    return Document("", text, tuple(words), tuple(offsets), tuple(spans))


def _mentions(
    columns: dict[str, Any], document: Document, model: Model, *, words: int, entities: int
) -> list[MentionRecord]:
    types = (*model.config.model.types, None) if not model.config.model.types else model.config.model.types
    mentions: list[MentionRecord] = []
    rows = zip(columns["start"], columns["end"], *(columns[name] for name in _COLUMNS), strict=True)
    for start, end, kind, type, entity, score, rivals in rows:
        span = WordSpan(_integer(start, 0, words), _integer(end, 1, words + 1))
        _expect(span.start < span.end, f"a mention from word {start} to {end}")
        _expect(not mentions or mentions[-1].words < span, f"mention {start}:{end} comes too late")
        _expect(kind in KINDS and type in types, f"a mention of kind {quoted(kind)} and type {quoted(type)}")
        record = MentionRecord.of(
            document,
            span,
            kind=kind,
            type=type,
            entity=_integer(entity, 0, entities),
            score=_number(score, 0, 1),
        )
        _expect(document.sentence_of(end - 1) == record.sentence, f"mention {start}:{end} crosses a sentence end")
        found = tuple((_integer(rival, 0, entities), _number(link, -math.inf, math.inf)) for rival, link in rivals)
        mentions.append(replace(record, rivals=found))
    return mentions


def _check_memory(table: dict[str, Any], arrays: Arrays, model: Model, policy: MemoryPolicy, *, sentences: int) -> None:
    """Raises `ValueError` if the state of a clusterer is not one that reading can lead to."""
    heads, cells = model.heads, table["cells"]
    seen, opened = _integer(table["seen"], 0, _MOST), _integer(cells["opened"], 0, _MOST)
    _integer(table["last_action"], 0, FEATURES["last_action"])
    count = len(cells["entities"])
    _expect(policy.capacity is None or count <= policy.capacity, f"{count} entities in {policy.capacity} cells")
    _integers(cells["entities"], 0, opened, count, distinct=True)
    _integers(cells["counts"], 1, seen + 1, count)
    _integers(cells["last_seen"], 0, seen, count)
    for cell, level, string in table["match"]:
        _integer(cell, 0, count)
        _key(level, string)
    hidden, width = heads.config.hidden, heads.span_width
    shapes = {"vectors": (count, width), "link_parts": (count, hidden), "fertility_parts": (count, hidden)}
    for name, shape in {**shapes, "weights": (count,)}.items():
        _floats(arrays[f"memory.{name}"], shape)
    _expect(bool((arrays["memory.weights"] > 0).all()), "the weight of an entity is not positive")
    facts = arrays["memory.facts"]
    _expect(facts.dtype == np.int64 and facts.shape == (len(EntityArrays.__slots__), count), "the facts of cells")
    for row in facts.T.tolist():
        _entity_facts(row, seen, sentences)
    _expect(set(cells) == {"entities", "counts", "last_seen", "opened", "archive"}, "unknown fields of cells")
    _expect((cells["archive"] is not None) == policy.recalls, "an archive where none should be")
    if policy.recalls:
        _floats(arrays["archive.vectors"], (len(cells["archive"]), width))
        _floats(arrays["archive.link_parts"], (len(cells["archive"]), hidden))
        _floats(arrays["archive.near"], (NEAREST_AMONG, width))
        _check_archive(table, arrays, opened=opened, seen=seen, sentences=sentences)


def _check_archive(table: dict[str, Any], arrays: Arrays, *, opened: int, seen: int, sentences: int) -> None:
    archive, counts = table["archive"], table["cells"]["archive"]
    entities = archive["entities"]
    _integers(entities, 0, opened, len(archive["archived"]), distinct=True)
    _expect(set(counts) == {str(entity) for entity in entities}, "the archive has other entities than the cells say")
    _expect(not set(entities) & set(table["cells"]["entities"]), "an entity is in a cell and in the archive")
    _integers(list(counts.values()), 1, seen + 1, len(entities))
    for archived in archive["archived"]:
        _expect(set(archived) == {"weight", "facts", "keys"} and archived["weight"] > 0, "an archived entity")
        _number(archived["weight"], 0, math.inf)
        _entity_facts(archived["facts"], seen, sentences)
        for level, string in archived["keys"]:
            _key(level, string)
    for string, found in archive["strings"]:
        _integers([*found], 0, opened, len(found))
        _string(string)
    _integer(archive["next"], 0, NEAREST_AMONG)
    latest = arrays["archive.latest"]
    _expect(latest.dtype == np.int64 and latest.shape == (NEAREST_AMONG,), "the latest entities of the archive")
    _expect(set(latest.tolist()) <= {-1, *entities}, "the latest entities are not in the archive")


def _entity_facts(row: list[int], seen: int, sentences: int) -> None:
    """What a cell knows of its entity, in the order of `EntityArrays`."""
    limits = (seen + 1, seen, sentences, 2, 2**PRONOUN_CLASSES, 16, 2, 2, _MOST, _MOST)
    for value, limit in zip(row, limits, strict=True):
        _integer(value, 0, limit)


def _key(level: Any, string: Any) -> None:
    _integer(level, SAME_TOKEN, SAME_STRING + 1)
    _string(string)


def _expect(condition: bool, wrong: str) -> None:
    if not condition:
        raise ValueError(wrong)


def _string(value: Any) -> str:
    _expect(isinstance(value, str), f"expected a string, got {type(value).__name__}")
    return str(value)


def _integer(value: Any, low: int, high: int) -> int:
    """A whole number from `low` up to, not including, `high`."""
    _expect(type(value) is int and low <= value < high, f"expected a number from {low} to {high - 1}")
    return int(value)


def _integers(values: list[Any], low: int, high: int, count: int, *, distinct: bool = False) -> None:
    _expect(len(values) == count, f"expected {count} numbers, got {len(values)}")
    for value in values:
        _integer(value, low, high)
    _expect(not distinct or len(set(values)) == count, "a number occurs twice")


def _number(value: Any, low: float, high: float) -> float:
    fine = type(value) in (int, float) and math.isfinite(value) and low <= value <= high
    _expect(fine, f"expected a number from {low} to {high}")
    return float(value)


def _floats(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    _expect(array.dtype == np.float32 and array.shape == shape, f"expected numbers of shape {shape}, got {array.shape}")
    _expect(bool(np.isfinite(array).all()), "an array has values that are not finite")
    return array
