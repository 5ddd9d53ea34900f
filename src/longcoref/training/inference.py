"""A torch model run by the numpy runtime: for evaluation during training, and for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from longcoref.document import Document
from longcoref.evaluation import Evaluation, evaluate
from longcoref.memory import MemoryPolicy
from longcoref.nn.encoder import Encoder
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.model import Model
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window
from longcoref.training.cache import VectorCache
from longcoref.training.model import CorefModel, numpy_weights


class TorchVectors:
    """A torch encoder, or a cache of its vectors, behind the interface of the numpy runtime."""

    def __init__(self, source: Encoder | VectorCache) -> None:
        self._source = source

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        """The vectors of the pieces that the windows keep, as a numpy array."""
        with torch.inference_mode():
            return self._source.encode(ids, windows).float().numpy()


def runtime_model(model: CorefModel, source: Encoder | VectorCache | None = None) -> Model:
    """A torch model as a runtime model; its vectors come from `source`, or else from its own encoder."""
    encoder = model.encoder
    heads = Heads(numpy_weights(model.heads.state_dict()), model.config.model, encoder.width)
    return Model(model.config, encoder.tokenizer, TorchVectors(source or encoder), heads)


def evaluate_torch(
    model: CorefModel,
    documents: Sequence[Document],
    policy: MemoryPolicy,
    source: Encoder | VectorCache | None = None,
    keep_singletons: bool | None = None,
) -> Evaluation:
    """Scores a torch model with the runtime's reader, so that what is measured is what will run."""
    runtime = runtime_model(model, source)
    keep = model.config.data.keep_singletons if keep_singletons is None else keep_singletons
    return evaluate(documents, runtime, policy, keep_singletons=keep)
