"""Saved states: damaged and inconsistent ones are refused with our own error, and none gives wrong offsets."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from safetensors.numpy import load, save

import longcoref
from longcoref.errors import ModelError
from longcoref.runtime.state import SCHEMA
from model import write_tiny_model

STORY = "Ann saw the old mill. She left it, and Tom met her. “Tom liked the barn,” he said.\r\n\r\nRuth wept. "
TEXT = STORY * 6
REST = STORY * 2


@pytest.fixture(scope="module")
def resolver(tiny_model: Path) -> longcoref.Resolver:
    return longcoref.load(tiny_model, cells=2, threads=1, recall=True)


@pytest.fixture(scope="module")
def saved(resolver: longcoref.Resolver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("state") / "book.state"
    reading = resolver.open()
    reading.feed(TEXT)
    reading.save(path)
    return path


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a saved state, and its other fields."""
    arrays = load(path.read_bytes().split(b"\n", 2)[2])
    return arrays, json.loads(arrays.pop("fields").tobytes())


def write(path: Path, arrays: dict[str, Any], fields: Any) -> None:
    """Writes a state with a right checksum, whatever its content."""
    content = save({**arrays, "fields": np.frombuffer(json.dumps(fields).encode(), np.uint8)})
    path.write_bytes(SCHEMA + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def check_goes_on_or_is_refused(resolver: longcoref.Resolver, path: Path) -> bool:
    """Whether the state is accepted; if it is, every offset must be right."""
    try:
        reading = resolver.resume(path)
    except ModelError:
        return False
    text = parts(path)[1]["text"] + REST
    reading.feed(REST)
    result = reading.finish()
    for mention, _ in result.mentions:
        assert text[mention.start : mention.end] == mention.text
    result.to_json()
    return True


def test_what_was_saved_can_be_written_again_and_goes_on(
    resolver: longcoref.Resolver, saved: Path, tmp_path: Path
) -> None:
    path = tmp_path / "again.state"
    write(path, *parts(saved))
    assert path.read_bytes() == saved.read_bytes()
    assert check_goes_on_or_is_refused(resolver, path)


def test_every_flipped_byte_is_found(resolver: longcoref.Resolver, saved: Path, tmp_path: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "flipped.state"
    chance = random.Random(1)
    for place in [*range(200), *chance.sample(range(len(whole)), 300)]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(ModelError, match=r"flipped\.state"):
            resolver.resume(path)


def test_every_truncation_is_found(resolver: longcoref.Resolver, saved: Path, tmp_path: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "short.state"
    for length in [*range(100), *random.Random(2).sample(range(len(whole)), 100)]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"short\.state"):
            resolver.resume(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(ModelError, match="checksum"):
        resolver.resume(path)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    found = [path] if path else []
    for key in range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ():
        found += places(value[key], (*path, key))
    return found


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 40),
    st.sampled_from([2**31, 2**63, -(2**70), 10**400]),
    st.floats(allow_nan=True),
    st.text(max_size=3),
    st.sampled_from([[], {}, [[]], [[0, 1]], ["PER"], "\ud800", "He met Ann. "]),
)


@settings(max_examples=150)
@given(data=st.data())
def test_an_edited_field_is_refused_or_harmless(resolver: longcoref.Resolver, saved: Path, data: st.DataObject) -> None:
    arrays, fields = parts(saved)
    *way, last = data.draw(st.sampled_from(places(fields)))
    owner = fields
    for key in way:
        owner = owner[key]
    edit: Callable[[], None] = data.draw(
        st.sampled_from(
            [
                lambda: owner.pop(last),
                lambda: owner.__setitem__(last, data.draw(VALUES)),
                lambda: owner.__setitem__(last, [owner[last], owner[last]]),
                lambda: owner.insert(last, owner[last]) if isinstance(owner, list) else owner.pop(last),
            ]
        )
    )
    edit()
    path = saved.with_name("edited.state")
    write(path, arrays, fields)
    check_goes_on_or_is_refused(resolver, path)


@pytest.mark.parametrize("edit", ["drop", "shape", "type", "nan", "zero", "large"])
def test_an_edited_array_is_refused_or_harmless(
    resolver: longcoref.Resolver, saved: Path, tmp_path: Path, edit: str
) -> None:
    arrays, fields = parts(saved)
    for name, array in arrays.items():
        edited = {
            "drop": lambda array=array: array[:-1],
            "shape": lambda array=array: array.reshape(-1),
            "type": lambda array=array: array.astype(np.float64),
            "nan": lambda array=array: np.full_like(array, np.nan if array.dtype.kind == "f" else -7),
            "zero": lambda array=array: np.zeros_like(array),
            "large": lambda array=array: np.full_like(array, 10**9),
        }[edit]()
        path = tmp_path / "array.state"
        if edited.dtype == array.dtype and np.array_equal(edited, array):
            continue
        write(path, {**arrays, name: np.ascontiguousarray(edited)}, fields)
        accepted = check_goes_on_or_is_refused(resolver, path)
        assert not (accepted and edit in ("drop", "type", "nan")), name
    write(path, {}, fields)
    assert not check_goes_on_or_is_refused(resolver, path)
    write(path, arrays, [fields])
    assert not check_goes_on_or_is_refused(resolver, path)


def test_a_state_of_another_model_or_memory_is_refused(
    resolver: longcoref.Resolver, tiny_model: Path, saved: Path, tmp_path: Path
) -> None:
    other = longcoref.load(write_tiny_model(tmp_path / "other", seed=5), cells=2, recall=True)
    with pytest.raises(ModelError, match="another model"):
        other.resume(saved)
    with pytest.raises(ModelError, match=r"another memory: \['learned', 2, 'recall'\]"):
        longcoref.load(tiny_model, cells=4).resume(saved)
    with pytest.raises(ModelError, match="cannot be read"):
        resolver.resume(tmp_path / "nowhere")
    (tmp_path / "old").write_bytes(b"longcoref-state/1")
    with pytest.raises(ModelError, match="longcoref-state/4"):
        resolver.resume(tmp_path / "old")
