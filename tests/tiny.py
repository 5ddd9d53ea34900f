"""A tiny encoder and a tiny corpus for tests of training and running."""

from __future__ import annotations

import json
import random
from pathlib import Path

NAMES = {"Ann": "she", "Tom": "he", "Ruth": "she", "Carl": "he"}
PLACES = ("mill", "barn", "inn")
VERBS = ("saw", "met", "left", "liked")
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "the", "old", "##s", *PLACES, *VERBS, "[MASK]"]
VOCABULARY += [word.lower() for pair in NAMES.items() for word in pair if word.lower() not in VOCABULARY]
VOCABULARY = list(dict.fromkeys(VOCABULARY))


def tiny_documents(count: int, seed: int, sentences: int = 14) -> list[dict[str, object]]:
    """Stories such as "Ann saw the mill . She left it ." with their clusters, as jsonlines."""
    generator = random.Random(seed)
    documents = []
    for number in range(count):
        cast = generator.sample(sorted(NAMES), 3)
        story: list[list[str]] = []
        clusters: dict[str, list[list[int]]] = {}
        position, last = 0, ""
        for _ in range(sentences):
            name = generator.choice(cast)
            place = generator.choice(PLACES)
            subject = NAMES[name] if name == last else name
            sentence = [subject, generator.choice(VERBS), "the", place, "."]
            clusters.setdefault(name, []).append([position, position])
            clusters.setdefault(place, []).append([position + 2, position + 3])
            story.append(sentence)
            position, last = position + len(sentence), name
        documents.append({"doc_key": f"tiny_{seed}_{number}", "sentences": story, "clusters": list(clusters.values())})
    return documents


def write_tiny_corpus(folder: Path) -> dict[str, Path]:
    """Files train.jsonlines and dev.jsonlines."""
    paths = {}
    for part, (count, seed) in {"train": (6, 1), "dev": (3, 2)}.items():
        paths[part] = folder / f"{part}.jsonlines"
        lines = (json.dumps(document) + "\n" for document in tiny_documents(count, seed))
        paths[part].write_text("".join(lines), encoding="utf-8")
    return paths


def write_tiny_bert(folder: Path, vocabulary_size: int) -> Path:
    """The weights of a random BERT of two layers, as Hugging Face saves them."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def write_tiny_encoder(folder: Path) -> Path:
    """A directory with a random BERT and a tokenizer that knows the words of the tiny corpus."""
    import tokenizers

    model = tokenizers.models.WordPiece({piece: id for id, piece in enumerate(VOCABULARY)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    write_tiny_bert(folder, len(VOCABULARY))
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
