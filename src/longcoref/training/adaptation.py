"""Adapting an encoder to a kind of text before it is taught coreference: it guesses words that are masked.

Names and pronouns are masked more often than other words: to guess "she", or a name that stands elsewhere in the
window, one must know who is meant. The text needs no annotation. A folder of an adaptation holds the checkpoint that a
killed one goes on from, a log, and at the end an encoder that a config can name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from longcoref.errors import ConfigError, UsageError
from longcoref.features.facts import is_pronoun
from longcoref.nn.encoder import Encoder, parameter_groups
from longcoref.runtime.pieces import Integers, Tokenizer
from longcoref.runtime.windows import Window, split
from longcoref.text import tokenize
from longcoref.training import checkpoints
from longcoref.training.schedule import schedule, without_denormals

TELLING, OTHER = 0.3, 0.12
"""How often a name or pronoun is masked, and any other word."""

UNTOUCHED, REPLACED = 0.1, 0.1
"""Of the masked words, the share left as it is and the share that becomes another word: a mask is rare in real text."""

HELD_OUT = 50
"""One stretch in this many is held out from training, to measure how well masked words are predicted."""

HELD_OUT_READ = 16
"""So many of them are read, before and after."""

CHECKPOINT_STEPS = 100


@dataclass(frozen=True, slots=True)
class AdaptationSettings:
    """How an encoder is adapted. A step reads `windows` windows of `window` pieces; all in all about `pieces`."""

    pieces: int = 3_000_000
    window: int = 256
    windows: int = 8
    rate: float = 2e-4
    warmup: float = 0.06
    weight_decay: float = 0.01
    seed: int = 0
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some consecutive windows of a text: pieces, the word of each, and whether that word is a name or pronoun."""

    ids: Integers
    words: npt.NDArray[np.int64]
    telling: npt.NDArray[np.bool_]  # (words,)
    windows: tuple[Window, ...]


def stretches(text: str, tokenizer: Tokenizer, settings: AdaptationSettings) -> list[Stretch]:
    """A text as stretches of an equal number of windows; what is left over at its end is dropped."""
    document = tokenize(text)
    pieces = tokenizer(document.words)
    marks = len(tokenizer.opening) + len(tokenizer.closing)
    windows = split(pieces.lengths, document.sentences, max_pieces=settings.window - marks, overlap=0.0)
    first_words = {start for start, _ in document.sentences}
    telling = np.array(
        [
            is_pronoun(word) or (word[:1].isupper() and number not in first_words)
            for number, word in enumerate(document.words)
        ],
        bool,
    )
    word_of = np.repeat(np.arange(len(document.words)), pieces.lengths)
    found = []
    for number in range(0, len(windows) - settings.windows + 1, settings.windows):
        group = windows[number : number + settings.windows]
        start, end = group[0].start, group[-1].end
        words = word_of[start:end]
        shifted = tuple(Window(*(place - start for place in window)) for window in group)
        found.append(Stretch(pieces.ids[start:end], words - words[0], telling[words[0] : words[-1] + 1], shifted))
    return found


def mask_words(
    stretch: Stretch, mask: int, vocabulary: int, random: np.random.Generator
) -> tuple[Integers, npt.NDArray[np.int64]]:
    """The pieces with some words masked, whole, and the places of the pieces that are to be guessed."""
    chosen = random.random(len(stretch.telling)) < np.where(stretch.telling, TELLING, OTHER)
    fate = random.random(len(chosen))[stretch.words]
    masked = chosen[stretch.words]
    others = random.integers(vocabulary, size=len(stretch.ids))
    ids = np.where(fate < UNTOUCHED, stretch.ids, np.where(fate < UNTOUCHED + REPLACED, others, mask))
    return np.where(masked, ids, stretch.ids).astype(np.int32), np.flatnonzero(masked)


class WordGuesser(nn.Module):
    """Scores of all pieces of the vocabulary from a vector: a layer, then the encoder's own embeddings."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.layer = nn.Sequential(nn.Linear(encoder.width, encoder.width), nn.GELU(), nn.LayerNorm(encoder.width))
        self.bias = nn.Parameter(torch.zeros(encoder.config.vocab_size))

    def forward(self, ids: Integers, windows: Sequence[Window], places: npt.NDArray[np.int64]) -> Tensor:
        """Scores at these places, (places, vocabulary)."""
        vectors = self.encoder.encode(ids, windows)[torch.from_numpy(places)]
        return functional.linear(self.layer(vectors), self.encoder.model.get_input_embeddings().weight, self.bias)


class Adaptation:
    """One adaptation. `run()` goes to its end; with `resume` it goes on from the last checkpoint."""

    def __init__(
        self,
        encoder_name: str,
        texts: Iterable[str],
        folder: Path,
        settings: AdaptationSettings,
        *,
        report: Callable[[dict[str, Any]], None] = lambda event: None,
        resume: bool = False,
    ) -> None:
        if settings.threads:
            torch.set_num_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.settings, self.folder, self._listener = settings, folder, report
        encoder = Encoder.load(encoder_name, frozen=False)
        self._mask = encoder.tokenizer.mask
        self.model = WordGuesser(encoder)
        found = [stretch for text in texts for stretch in stretches(text, encoder.tokenizer, settings)]
        order = np.random.default_rng(settings.seed).permutation(len(found))
        held = max(1, len(found) // HELD_OUT)
        if len(found) <= held:
            raise ConfigError(f"too little text to adapt to: {len(found)} stretches of {settings.windows} windows")
        self._held, self._stretches = [found[number] for number in order[:held]], [found[n] for n in order[held:]]
        self.steps = max(1, settings.pieces // (settings.windows * settings.window))
        groups = parameter_groups(encoder, rate=settings.rate, decay=1.0, weight_decay=settings.weight_decay)
        own = [*self.model.layer.parameters(), self.model.bias]
        groups.append({"params": own, "lr": settings.rate, "weight_decay": 0.0})
        self._optimiser = torch.optim.AdamW(groups, eps=1e-6, fused=True)
        self._step = 0
        folder.mkdir(parents=True, exist_ok=True)
        checkpoint = folder / "last.safetensors"
        if resume and checkpoint.exists():
            self._resume(checkpoint)
        else:
            (folder / "log.jsonl").write_text("", encoding="utf-8")
            self._report("settings", **asdict(settings), encoder=encoder_name, stretches=len(found))

    def run(self) -> dict[str, Any]:
        """Learns, writes the encoder, and gives the loss on held-out words before the first and after the last step."""
        if self._step == 0:
            self._report("held_out", step=0, **self.held_out())
        with without_denormals():
            self._learn()
        facts = self.held_out()
        self._report("held_out", step=self._step, **facts)
        self.model.encoder.save(self.folder)
        (self.folder / "last.safetensors").unlink(missing_ok=True)
        return facts

    def _learn(self) -> None:
        self.model.train()
        while self._step < self.steps:
            # A generator for each step: a resumed run sees the words that a whole one would have seen.
            random = np.random.default_rng((self.settings.seed, self._step))
            stretch = self._stretches[self._step % len(self._stretches)]
            loss = self._loss(stretch, random)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            for group in self._optimiser.param_groups:
                group["lr"] = self.settings.rate * schedule(self._step / self.steps, self.settings.warmup)
            self._optimiser.step()
            self._optimiser.zero_grad(set_to_none=True)
            self._step += 1
            self._report("step", step=self._step, steps=self.steps, loss=loss.item())
            if self._step % CHECKPOINT_STEPS == 0:
                self._save()

    def held_out(self) -> dict[str, float]:
        """Loss per masked piece, and the share guessed right, on the stretches not learned from."""
        self.model.eval()
        losses, right, places = 0.0, 0, 0
        with torch.no_grad():
            for number, stretch in enumerate(self._held[:HELD_OUT_READ]):
                ids, masked = mask_words(stretch, self._mask, len(self.model.bias), np.random.default_rng(number))
                scores = self.model(ids, stretch.windows, masked)
                gold = torch.from_numpy(stretch.ids[masked]).long()
                losses += functional.cross_entropy(scores, gold, reduction="sum").item()
                right += int((scores.argmax(dim=1) == gold).sum())
                places += len(masked)
        self.model.train()
        return {"held_out_loss": losses / places, "held_out_accuracy": right / places}

    def _loss(self, stretch: Stretch, random: np.random.Generator) -> Tensor:
        ids, masked = mask_words(stretch, self._mask, len(self.model.bias), random)
        scores = self.model(ids, stretch.windows, masked)
        return functional.cross_entropy(scores, torch.from_numpy(stretch.ids[masked]).long())

    def _save(self) -> None:
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        optimiser = checkpoints.optimiser_tensors(self._optimiser, self.model)
        tensors |= {f"optimiser/{name}": value for name, value in optimiser.items()}
        facts = {"step": self._step, "settings": asdict(self.settings)}
        checkpoints.save(self.folder / "last.safetensors", tensors, facts)

    def _resume(self, path: Path) -> None:
        written = checkpoints.load(path)
        if written.facts["settings"] != asdict(self.settings):
            raise UsageError(f"{path} was made with other settings: {written.facts['settings']}")
        self.model.load_state_dict(written.part("model"))
        checkpoints.restore_optimiser(self._optimiser, self.model, written.part("optimiser"))
        self._step = written.facts["step"]

    def _report(self, event: str, **facts: Any) -> None:
        line = {"event": event, **facts}
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        self._listener(line)
