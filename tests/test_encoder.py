"""The encoder gives every piece its vector, in torch and in onnxruntime alike, frozen, cached or fine-tuned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from longcoref.errors import ModelError, UsageError
from longcoref.nn.encoder import Encoder, parameter_groups
from longcoref.nn.export_encoder import WEIGHTS, _Graph, _integer_products, export_encoder
from longcoref.nn.import_encoder import imported_weights
from longcoref.nn.layers import Linear
from longcoref.nn.quantize import InputSample, extreme_inputs, integer_weights, smoothing
from longcoref.runtime.encoder import OnnxEncoder
from longcoref.runtime.onnx_file import with_branch
from longcoref.runtime.pieces import MAX_WORD_PIECES, Pieces, Tokenizer
from longcoref.runtime.processor import multiplies_bytes
from longcoref.runtime.windows import Window, split
from longcoref.spans import WordSpan
from longcoref.training.cache import VectorCache
from tiny import write_tiny_bert

BOTH_WAYS = pytest.mark.parametrize(
    "in_bytes",
    [False, pytest.param(True, marks=pytest.mark.skipif(not multiplies_bytes(), reason="no dot products of bytes"))],
)

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "dog",
    "saw",
    "##s",
    "##ed",
    "-",
    ".",
    "?",
    "[",
    "]",
    "s",
]


def tokenizer_definition() -> str:
    """A word-piece tokenizer that, like some published ones, asks for truncation and padding."""
    special = [
        {"id": id, "content": VOCABULARY[id], "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for id in range(4)
    ]
    frame = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    frame.append({"SpecialToken": {"id": "[SEP]", "type_id": 0}})
    return json.dumps(
        {
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_id": 0, "pad_type_id": 0}
            | {"pad_token": "[PAD]", "pad_to_multiple_of": None},
            "added_tokens": special,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
            | {"strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": frame,
                "pair": frame,
                "special_tokens": {
                    name: {"id": name, "ids": [VOCABULARY.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")
                },
            },
            "decoder": None,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
            | {"max_input_chars_per_word": 100, "vocab": {piece: id for id, piece in enumerate(VOCABULARY)}},
        }
    )


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer(tokenizer_definition())


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a tiny random BERT as Hugging Face saves one."""
    path = write_tiny_bert(tmp_path_factory.mktemp("encoder"), len(VOCABULARY))
    (path / "tokenizer.json").write_text(tokenizer_definition(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def encoder(folder: Path) -> Encoder:
    return Encoder.load(folder)


SENTENCES = [["The", "cats", "saw", "dogs", "."], ["Dogs", "?"] * 20, ["the"], ["cat", "sawed", "the", "dog"] * 3] * 2


@pytest.fixture(scope="session")
def pieces(tokenizer: Tokenizer) -> Pieces:
    return tokenizer([word for sentence in SENTENCES for word in sentence])


def windows_of(pieces: Pieces, max_pieces: int = 30, overlap: float = 0.5) -> list[Window]:
    ends = np.cumsum([len(sentence) for sentence in SENTENCES]).tolist()
    spans = [WordSpan(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return split(pieces.lengths, spans, max_pieces=max_pieces, overlap=overlap)


@given(words=st.lists(st.text(min_size=1, max_size=8) | st.sampled_from(["cats", "[SEP]", "-" * 500, "x" * 5000])))
def test_every_word_has_its_own_pieces(tokenizer: Tokenizer, words: list[str]) -> None:
    pieces = tokenizer(words)
    assert pieces.first.tolist() == [0, *pieces.end.tolist()][: len(words)]
    assert all(1 <= length <= MAX_WORD_PIECES for length in pieces.lengths)
    assert len(pieces.ids) == pieces.lengths.sum()
    for word, first, end in zip(words, pieces.first, pieces.end, strict=True):
        assert tuple(pieces.ids[first:end]) == tokenizer.word(word)


def test_pieces_of_ordinary_and_of_strange_words(tokenizer: Tokenizer) -> None:
    def names(word: str) -> list[str]:
        return [VOCABULARY[id] for id in tokenizer.word(word)]

    assert names("Cats") == ["cat", "##s"]
    assert names("the-cat.") == ["the", "-", "cat", "."]  # more than the four that the file's truncation allows
    assert names("\x00") == ["[UNK]"]
    assert names("[SEP]") == ["[", "[UNK]", "]"]
    assert names("/.") == ["."]
    assert names("-" * 100_000) == ["-"] * MAX_WORD_PIECES
    assert (tokenizer.opening, tokenizer.closing) == ((2,), (3,))


def test_a_damaged_tokenizer_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ModelError, match=r"tokenizer\.json: cannot be read"):
        Tokenizer.open(path)
    path.write_text(tokenizer_definition()[:100], encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json: is not the tokenizer"):
        Tokenizer.open(path)


def alone(encoder: Encoder, pieces: Pieces, window: Window) -> torch.Tensor:
    """What the model says of one window, read by itself, for the pieces that the window keeps."""
    ids = torch.tensor([[2, *pieces.ids[window.start : window.end].tolist(), 3]])
    hidden: torch.Tensor = encoder.model(input_ids=ids)[0][0, 1:-1]
    return hidden[window.keep_start - window.start : window.keep_end - window.start]


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5])
def test_a_piece_has_the_vector_of_the_window_that_keeps_it(encoder: Encoder, pieces: Pieces, overlap: float) -> None:
    windows = windows_of(pieces, overlap=overlap)
    assert len({window.end - window.start for window in windows}) > 2  # lengths differ, so padding is at work
    vectors = encoder.encode(pieces.ids, windows)
    assert vectors.shape == (len(pieces.ids), encoder.width)
    with torch.no_grad():
        expected = torch.cat([alone(encoder, pieces, window) for window in windows])
        middle = torch.cat([alone(encoder, pieces, window) for window in windows[1:3]])
    torch.testing.assert_close(vectors, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(encoder.encode(pieces.ids, windows[1:3]), middle, rtol=1e-5, atol=1e-5)
    assert encoder.encode(pieces.ids, []).shape == (0, encoder.width)


def test_frozen_means_evaluation_mode_and_no_gradient(folder: Path, pieces: Pieces) -> None:
    frozen = Encoder.load(folder, frozen=True, dropout=0.5)
    torch.nn.ModuleList([frozen]).train()
    windows = windows_of(pieces)
    first, second = (frozen.encode(pieces.ids, windows) for _ in range(2))
    assert torch.equal(first, second)
    assert not first.requires_grad
    assert parameter_groups(frozen, rate=1.0, decay=0.5, weight_decay=0.1) == []


def test_fine_tuning_reaches_every_weight_and_only_hidden_states_drop(folder: Path, pieces: Pieces) -> None:
    tuned = Encoder.load(folder, frozen=False, dropout=0.5)
    assert tuned.config._attn_implementation == "sdpa"
    assert tuned.config.attention_probs_dropout_prob == 0
    windows = windows_of(pieces)
    first, second = (tuned.encode(pieces.ids, windows) for _ in range(2))
    assert not torch.equal(first, second)
    first.square().sum().backward()
    missing = [name for name, weight in tuned.named_parameters() if weight.grad is None or not weight.grad.any()]
    # A key's bias adds the same to all scores of a row, which softmax does not see; float noise may remain.
    assert [name for name in missing if "key.bias" not in name] == []


def test_training_in_half_precision_changes_vectors_a_little_and_dev_not_at_all(folder: Path, pieces: Pieces) -> None:
    whole, half = (Encoder.load(folder, frozen=False) for _ in range(2))
    half.train_in_half()
    windows = split(pieces.lengths, [WordSpan(0, len(pieces.lengths))], max_pieces=6, overlap=0.5)
    assert len({window.end - window.start for window in windows}) > 1  # some are padded
    exact, rounded = whole.encode(pieces.ids, windows), half.encode(pieces.ids, windows)
    assert rounded.dtype == torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.05 * exact.abs().max()
    rounded.sum().backward()
    assert all(weight.grad is None or weight.grad.dtype == torch.float32 for weight in half.parameters())
    whole.eval(), half.eval()
    torch.testing.assert_close(half.encode(pieces.ids, windows), whole.encode(pieces.ids, windows))


def test_lower_layers_learn_more_slowly(folder: Path) -> None:
    tuned = Encoder.load(folder, frozen=False)
    groups = parameter_groups(tuned, rate=1e-4, decay=0.5, weight_decay=0.1)
    owner = {id(weight): group for group in groups for weight in group["params"]}
    for name, weight in tuned.model.named_parameters():
        group = owner[id(weight)]
        depth = 2 if ".layer.1." in name else 1 if ".layer.0." in name else 0
        assert group["lr"] == pytest.approx(1e-4 * 0.5 ** (2 - depth))
        assert group["weight_decay"] == (0.1 if weight.ndim > 1 else 0.0)
    assert sum(len(group["params"]) for group in groups) == len(list(tuned.parameters()))


def test_an_encoder_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no encoder"):
        Encoder.load(tmp_path)
    with pytest.raises(ModelError, match=r"installed package 'pytest' holds no config\.json"):
        Encoder.load("pytest")


class CountingEncoder(Encoder):
    """Counts how often it has to work."""

    calls = 0

    def encode(self, ids, windows):
        self.calls += 1
        return super().encode(ids, windows)


@pytest.fixture
def counting(encoder: Encoder) -> CountingEncoder:
    return CountingEncoder(encoder.model, encoder.tokenizer, frozen=True)


@pytest.mark.parametrize("half", [True, False])
def test_cached_vectors_are_the_encoders(counting: CountingEncoder, pieces: Pieces, tmp_path: Path, half: bool) -> None:
    windows = windows_of(pieces)
    expected = counting.encode(pieces.ids, windows)
    for _ in range(2):  # the second cache finds the first one's file
        vectors = VectorCache(tmp_path, counting, half=half).encode(pieces.ids, windows)
        assert vectors.dtype == torch.float32
        torch.testing.assert_close(vectors, expected, rtol=1e-3 if half else 0, atol=1e-3 if half else 0)
    assert counting.calls == 2


def test_cache_tells_apart_what_vectors_depend_on(
    counting: CountingEncoder, folder: Path, pieces: Pieces, tmp_path: Path
) -> None:
    windows = windows_of(pieces)
    cache = VectorCache(tmp_path, counting)
    other = pieces.ids.copy()
    other[3] = 5
    cache.encode(pieces.ids, windows)
    cache.encode(other, windows)
    cache.encode(pieces.ids, windows_of(pieces, 40))
    cache.encode(pieces.ids, windows[:2])
    VectorCache(tmp_path, counting, half=False).encode(pieces.ids, windows)
    changed = Encoder.load(folder)
    with torch.no_grad():
        changed.model.embeddings.LayerNorm.bias[0] += 1
    VectorCache(tmp_path, changed).encode(pieces.ids, windows)
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_cache_file_is_made_anew(
    counting: CountingEncoder, pieces: Pieces, tmp_path: Path, damage: str
) -> None:
    windows = windows_of(pieces)
    cache = VectorCache(tmp_path, counting)
    expected = cache.encode(pieces.ids, windows)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    flipped = whole[:-1] + bytes([whole[-1] ^ 1])
    path.write_bytes({"cut": whole[: len(whole) // 2], "flip": flipped, "empty": b""}[damage])
    assert torch.equal(cache.encode(pieces.ids, windows), expected)
    assert counting.calls == 2
    assert path.read_bytes() == whole


def test_an_interrupted_write_leaves_no_file(
    counting: CountingEncoder, pieces: Pieces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(tensors, path, metadata):
        Path(path).write_bytes(b"half of the ")
        raise KeyboardInterrupt

    monkeypatch.setattr("longcoref.training.cache.save_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        VectorCache(tmp_path, counting).encode(pieces.ids, windows_of(pieces))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="session")
def exported(encoder: Encoder, pieces: Pieces, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tiny encoder as an ONNX file in every format."""
    folder = tmp_path_factory.mktemp("onnx")
    for weights in WEIGHTS:
        export_encoder(encoder, folder / weights, weights=weights, sample=[(pieces.ids, windows_of(pieces))])
    return {weights: folder / weights for weights in WEIGHTS}


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5])
@pytest.mark.parametrize(("weights", "tolerance"), [("float32", 1e-5), ("float16", 1e-2), ("compact", 0.1)])
def test_onnxruntime_gives_the_vectors_of_torch(
    encoder: Encoder, exported: dict[str, Path], pieces: Pieces, weights: str, tolerance: float, overlap: float
) -> None:
    opened = OnnxEncoder(exported[weights], threads=1)
    windows = windows_of(pieces, overlap=overlap)
    expected = encoder.encode(pieces.ids, windows).numpy()
    vectors = opened.encode(pieces.ids, windows)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=tolerance)
    assert opened.encode(pieces.ids, []).shape == (0, encoder.width)
    assert (opened.width, opened.max_pieces, opened.weights) == (encoder.width, encoder.max_pieces, weights)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_weights_in_a_file_are_those_of_its_vectors(
    folder: Path, exported: dict[str, Path], pieces: Pieces, weights: str
) -> None:
    other = Encoder.load(folder)
    with torch.no_grad():
        for parameter in other.parameters():  # what is read must not depend on what was there
            parameter.mul_(0.5).add_(0.1)
    other.model.load_state_dict(imported_weights(exported[weights], other))
    vectors = OnnxEncoder(exported[weights], threads=1, in_bytes=False).encode(pieces.ids, windows_of(pieces))
    np.testing.assert_allclose(other.encode(pieces.ids, windows_of(pieces)).numpy(), vectors, atol=1e-4)


def test_an_embedding_table_that_was_only_rounded_is_not_read(encoder: Encoder, exported: dict[str, Path]) -> None:
    name = "embeddings.word_embeddings.weight"
    exact = encoder.model.state_dict()[name]
    for weights in WEIGHTS:
        assert torch.equal(imported_weights(exported[weights], encoder)[name], exact)


def test_the_weights_of_another_encoder_are_refused(folder: Path, exported: dict[str, Path]) -> None:
    shallow = Encoder.load(folder)
    shallow.model.encoder.layer = shallow.model.encoder.layer[:1]
    with pytest.raises(ModelError, match="is not an encoder like bert"):
        imported_weights(exported["int8"], shallow)


@BOTH_WAYS
def test_8_bits_stay_close_to_floats(
    encoder: Encoder, exported: dict[str, Path], pieces: Pieces, in_bytes: bool
) -> None:
    windows = windows_of(pieces)
    expected = encoder.encode(pieces.ids, windows)
    opened = OnnxEncoder(exported["int8"], threads=1, in_bytes=in_bytes)
    vectors = torch.from_numpy(opened.encode(pieces.ids, windows))
    assert torch.cosine_similarity(vectors, expected, dim=1).min() > 0.999
    # Without the graph, which in a real model is a small part of the file.
    sizes = [
        sum(len(constant.raw_data) for constant in onnx.load(exported[weights]).graph.initializer)
        for weights in ("int8", "compact", "float16", "float32")
    ]
    assert sizes == sorted(sizes)


def test_a_branch_is_taken_before_onnxruntime_sees_it(exported: dict[str, Path], pieces: Pieces) -> None:
    assert with_branch(exported["compact"], True) is None
    written = onnx.load(exported["int8"])
    for in_bytes in (True, False):
        taken = onnx.load_from_string(with_branch(exported["int8"], in_bytes))
        operators = {node.op_type for node in taken.graph.node}
        assert ("MatMulIntegerToFloat" in operators) == in_bytes
        assert "If" not in operators
        for field in ("initializer", "input", "output"):
            assert getattr(taken.graph, field) == getattr(written.graph, field)
        assert (taken.metadata_props, taken.opset_import) == (written.metadata_props, written.opset_import)


@pytest.mark.skipif(not multiplies_bytes(), reason="no dot products of bytes")
def test_the_processor_decides_and_the_file_is_a_model_of_its_own(exported: dict[str, Path], pieces: Pieces) -> None:
    window = windows_of(pieces)[0]
    chosen, told = OnnxEncoder(exported["int8"]), OnnxEncoder(exported["int8"], in_bytes=True)
    vectors = chosen.encode(pieces.ids, [window])
    assert np.array_equal(vectors, told.encode(pieces.ids, [window]))
    assert not np.array_equal(vectors, OnnxEncoder(exported["int8"], in_bytes=False).encode(pieces.ids, [window]))
    session = onnxruntime.InferenceSession(exported["int8"], providers=["CPUExecutionProvider"])
    ids = np.concatenate(([2], pieces.ids[window.start : window.end], [3]))[None].astype(np.int64)
    keep = {"keep_start": np.array([1 + window.keep_start]), "keep_end": np.array([1 + window.keep_end])}
    np.testing.assert_allclose(session.run(None, {"ids": ids, **keep})[0][0], vectors, atol=1e-4)


@BOTH_WAYS
def test_an_extreme_neuron_does_not_coarsen_the_others(
    folder: Path, pieces: Pieces, tmp_path: Path, in_bytes: bool
) -> None:
    encoder, windows = Encoder.load(folder), windows_of(pieces)
    with torch.no_grad():
        for layer in encoder.model.encoder.layer:
            layer.output.dense.weight[:, 7] *= 300
            layer.intermediate.dense.weight[7] *= 1 / 300
    export_encoder(encoder, tmp_path / "encoder.onnx", weights="int8", sample=[(pieces.ids, windows)])
    opened = OnnxEncoder(tmp_path / "encoder.onnx", threads=1, in_bytes=in_bytes)
    vectors = torch.from_numpy(opened.encode(pieces.ids, windows))
    expected = encoder.encode(pieces.ids, windows)
    assert ((vectors - expected).norm(dim=1) / expected.norm(dim=1)).max() < 0.02


@pytest.mark.skipif(not multiplies_bytes(), reason="no dot products of bytes")
@pytest.mark.parametrize(("count", "tolerance"), [(1, 0.02), (2, 1e-4)])
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(-3, 3), activated=st.booleans())
def test_two_bytes_leave_only_the_error_of_the_weights(
    count: int, tolerance: float, seed: int, size: float, activated: bool
) -> None:
    generator = torch.Generator().manual_seed(seed)
    weight, inputs = torch.randn(24, 32, generator=generator), torch.randn(1, 50, 32, generator=generator) * 10**size
    inputs = torch.nn.functional.gelu(inputs) if activated else inputs
    sample = InputSample(32)
    sample.add(inputs)
    integers = integer_weights(weight, sample, smoothing([weight], sample))
    graph = _Graph("int8")
    layer = Linear(weight, torch.zeros(24), integers, count)
    ((product, bias),) = _integer_products(graph, "inputs", layer, lowest=-0.171 if activated else None)
    value = onnx.helper.make_tensor_value_info
    whole = onnx.helper.make_graph(
        graph.nodes,
        "product",
        [value("inputs", onnx.TensorProto.FLOAT, [1, 50, 32])],
        [value(product, onnx.TensorProto.FLOAT, [1, 50, 24])],
        list(graph.constants.values()),
    )
    domains = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(whole, opset_imports=domains, ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = torch.from_numpy(session.run(None, {"inputs": inputs.numpy()})[0]) + bias
    expected = inputs @ integers.floats()
    # Small activated inputs are small beside the bound below them, from which the byte counts.
    size_of_byte = (inputs.abs().amax(2) + 0.171 * activated).norm() / inputs.abs().amax(2).norm()
    assert (found - expected).norm() < tolerance * size_of_byte * expected.norm()


def test_extreme_inputs_have_large_values_or_large_weights() -> None:
    generator = torch.Generator().manual_seed(4)
    weight, inputs = torch.randn(40, 31, generator=generator), torch.randn(500, 31, generator=generator)
    weight[:, 20] *= 30
    inputs[:, 5] *= 40
    sample = InputSample(31)
    sample.add(inputs)
    assert extreme_inputs(weight, sample, 2).tolist() == [5, 20]
    assert extreme_inputs(weight, sample, 0).tolist() == []
    others = torch.tensor([3, 20, 30])
    part, whole = sample.of(others), InputSample(3)
    whole.add(inputs[:, others])
    torch.testing.assert_close((part.largest, part.products), (whole.largest, whole.products))
    assert part.count == whole.count == 500


@BOTH_WAYS
@pytest.mark.parametrize("weights", WEIGHTS)
def test_vectors_depend_on_their_window_alone(
    exported: dict[str, Path], pieces: Pieces, weights: str, in_bytes: bool
) -> None:
    one, three = (OnnxEncoder(exported[weights], threads=threads, in_bytes=in_bytes) for threads in (1, 3))
    windows = windows_of(pieces)
    whole = one.encode(pieces.ids, windows)
    assert np.array_equal(three.encode(pieces.ids, windows), whole)
    assert np.array_equal(np.concatenate([one.encode(pieces.ids, [window]) for window in windows]), whole)
    # A piece that no window of a run reads may be anything.
    last = windows[-1]
    other = np.where(np.arange(len(pieces.ids)) < last.start, 7, pieces.ids)
    assert np.array_equal(one.encode(other, [last]), whole[last.keep_start :])


def test_roberta_counts_positions_from_its_padding(tokenizer: Tokenizer, pieces: Pieces, tmp_path: Path) -> None:
    torch.manual_seed(2)
    config = transformers.RobertaConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=40, type_vocab_size=1, pad_token_id=1, initializer_range=0.2, hidden_act="gelu_new"
    )  # fmt: skip
    encoder = Encoder(transformers.RobertaModel(config, add_pooling_layer=False), tokenizer, frozen=True)
    assert encoder.max_pieces == 40 - 2 - 2
    windows = windows_of(pieces, encoder.max_pieces)
    export_encoder(encoder, tmp_path / "encoder.onnx")
    vectors = OnnxEncoder(tmp_path / "encoder.onnx").encode(pieces.ids, windows)
    np.testing.assert_allclose(vectors, encoder.encode(pieces.ids, windows).numpy(), atol=1e-5)
    encoder.model.load_state_dict(imported_weights(tmp_path / "encoder.onnx", encoder))
    np.testing.assert_allclose(vectors, encoder.encode(pieces.ids, windows).numpy(), atol=1e-5)


def test_rounded_weights_keep_the_output() -> None:
    generator = torch.Generator().manual_seed(3)
    weight = torch.randn(40, 31, generator=generator)
    mixing = torch.randn(31, 31, generator=generator)  # inputs go together, which is what the rounding makes use of
    inputs = torch.randn(500, 31, generator=generator) @ mixing
    inputs[:, 5] *= 50
    sample = InputSample(31)
    for part in inputs.split(200):
        sample.add(part)
    smooth = smoothing([weight], sample)
    integers = integer_weights(weight, sample, smooth)
    expected = inputs @ weight.T
    scaled = weight * smooth / integers.scale[:, None]
    nearest = inputs / smooth @ (scaled.round() * integers.scale[:, None]).T
    error = (inputs @ integers.floats() - expected).norm() / expected.norm()
    assert error < 0.01
    assert error < (nearest - expected).norm() / expected.norm()


def test_export_refuses_what_it_cannot_write(encoder: Encoder, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    with pytest.raises(UsageError, match="did you mean 'int8'"):
        export_encoder(encoder, path, weights="int4")
    with pytest.raises(UsageError, match="int8 weights need a sample"):
        export_encoder(encoder, path, weights="int8")
    config = transformers.DistilBertConfig(vocab_size=16, dim=8, n_layers=1, n_heads=1, hidden_dim=8)
    other = Encoder(transformers.DistilBertModel(config), tokenizer, frozen=True)
    with pytest.raises(ModelError, match="cannot export an encoder whose model_type is 'distilbert'"):
        export_encoder(other, path)
    assert not path.exists()


def test_a_file_that_is_no_encoder_is_named(exported: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    for content in (None, b"", b"not a graph", exported["float32"].read_bytes()[:2000]):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(ModelError, match=r"encoder\.onnx: is not an (ONNX file|encoder\.onnx)"):
            OnnxEncoder(path)
