"""The memory policies, the oracle and decoding: the paper's rules as cases, the design's laws as properties."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.errors import UsageError
from longcoref.memory import (
    Action,
    ActionKind,
    Cells,
    LearnedMemory,
    MemoryPolicy,
    RuleMemory,
    TrackAllMemory,
    UnboundedMemory,
    decode,
    memory_policy,
    oracle_actions,
)

# A mention sequence is written as a string: a letter is a gold entity, a dot a mention that is not gold.


def read(sequence: str) -> list[int | None]:
    return [None if letter == "." else ord(letter) - ord("a") for letter in sequence]


def taught(sequence: str, policy: MemoryPolicy, unproposed: str = "") -> str:
    """The oracle's actions as a string: L0 links to cell 0, N1 opens it, E1 evicts it, I ignores, X is invalid."""
    entities = read(sequence)
    sizes = Counter(entity for entity in entities + read(unproposed) if entity is not None)
    letters = {"link": "L", "new": "N", "evict": "E", "ignore": "I", "invalid": "X"}
    actions = oracle_actions(entities, sizes, policy)
    return " ".join(letters[a.kind.value] + ("" if a.cell is None else str(a.cell)) for a in actions)


def test_unbounded_memory_opens_every_entity_and_rejects_what_is_not_gold() -> None:
    assert taught("ab.ba", UnboundedMemory()) == "N0 N1 X L1 L0"


def test_track_all_memory_opens_what_is_not_gold_too() -> None:
    assert taught("a.b.a", TrackAllMemory()) == "N0 N1 N2 N3 L0"


def test_a_memory_with_room_behaves_like_an_unbounded_one() -> None:
    assert taught("ab.ba", LearnedMemory(2)) == taught("ab.ba", UnboundedMemory())


def test_the_entity_with_the_fewest_remaining_mentions_goes() -> None:
    assert taught("aabbcbbc", LearnedMemory(2)) == "N0 L0 N1 L1 E0 L1 L1 L0"


def test_a_newcomer_that_has_as_many_mentions_left_as_the_poorest_cell_takes_it() -> None:
    # When b comes, a has one mention left and b, this one included, has one: one is less than or equal to one.
    assert taught("aba", LearnedMemory(1)) == "N0 E0 E0"


def test_a_newcomer_with_fewer_mentions_left_is_ignored() -> None:
    assert taught("abaa", LearnedMemory(1)) == "N0 I L0 L0"


def test_ties_are_broken_by_the_least_recently_seen_cell() -> None:
    assert taught("abacd", LearnedMemory(2)) == "N0 N1 L0 E1 E0"


def test_mentions_that_were_never_proposed_stay_counted_as_remaining() -> None:
    assert taught("ab", LearnedMemory(1)) == "N0 E0"
    assert taught("ab", LearnedMemory(1), unproposed="aa") == "N0 I"


def test_an_ignored_mention_counts_as_processed() -> None:
    # b is ignored (a has three left, b two); then a has one left and b one: b takes the cell.
    assert taught("abaaba", LearnedMemory(1)) == "N0 I L0 L0 E0 E0"


def test_an_entity_that_returns_after_eviction_is_a_new_cluster() -> None:
    entities = read("aba")
    actions = oracle_actions(entities, {0: 2, 1: 1}, LearnedMemory(1))
    assert decode("aba", actions) == [("a",), ("b",), ("a",)]


def test_rule_memory_looks_at_the_least_recently_seen_cell_only() -> None:
    # a was seen longest ago but has two mentions left; b has none. Only the learned memory may evict b.
    assert taught("abcaa", RuleMemory(2)) == "N0 N1 I L0 L0"
    assert taught("abcaa", LearnedMemory(2)) == "N0 N1 E1 L0 L0"


def test_decode_drops_ignored_and_invalid_mentions() -> None:
    actions = [
        Action(ActionKind.NEW, 0),
        Action(ActionKind.INVALID),
        Action(ActionKind.LINK, 0),
        Action(ActionKind.IGNORE),
    ]
    assert decode("vwxy", actions) == [("v", "x")]


def test_a_memory_without_cells_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one cell"):
        LearnedMemory(0)


def test_an_unknown_memory_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'learned'"):
        memory_policy("learnt")


sequences = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=80)
capacities = st.integers(1, 7)
policies = st.one_of(
    st.builds(UnboundedMemory),
    st.builds(TrackAllMemory),
    st.builds(LearnedMemory, capacities),
    st.builds(RuleMemory, capacities),
)
unproposed = st.lists(st.integers(0, 9), max_size=20)


def sizes_of(entities: list[int | None], extra: list[int]) -> Counter[int]:
    return Counter([entity for entity in entities if entity is not None] + extra)


@given(sequences, unproposed, policies)
def test_the_oracle_only_takes_what_is_offered_and_keeps_to_the_capacity(
    entities: list[int | None], extra: list[int], policy: MemoryPolicy
) -> None:
    cells = Cells()
    for index, action in enumerate(oracle_actions(entities, sizes_of(entities, extra), policy)):
        if action.kind is not ActionKind.LINK:
            assert action in policy.options(cells).actions()
        cells.apply(action, index)
        assert policy.capacity is None or len(cells) <= policy.capacity
        assert len(set(cells.entities)) == len(cells)


@given(sequences, unproposed, policies, st.data())
def test_after_wrong_actions_the_oracle_still_takes_only_what_is_offered(
    entities: list[int | None], extra: list[int], policy: MemoryPolicy, data: st.DataObject
) -> None:
    """A link goes to an entity most of whose mentions are the mention's own; without one, no link is right."""
    sizes, cells, taken = sizes_of(entities, extra), Cells(), []
    held: dict[int, list[int | None]] = {}  # the gold entities in each entity
    for index, entity in enumerate(entities):
        links = [Action(ActionKind.LINK, cell) for cell in range(len(cells))]
        action = data.draw(st.sampled_from([*links, *policy.options(cells).actions()]))
        right = oracle_actions(entities[: index + 1], sizes, policy, [*taken, action])[-1]
        counts = [Counter(gold for gold in held[number] if gold is not None) for number in cells.entities]
        if right.kind is ActionKind.LINK:
            assert right.cell is not None
            assert counts[right.cell][entity] == max(counts[right.cell].values())
        else:
            assert right in policy.options(cells).actions()
            assert entity is None or all(count[entity] < sum(count.values()) for count in counts if count[entity])
        cells.apply(action, index)
        taken.append(action)
        if action.cell is not None:
            held.setdefault(cells.entities[action.cell], []).append(entity)


@given(sequences, unproposed, policies)
def test_the_oracle_after_its_own_actions_is_the_oracle(
    entities: list[int | None], extra: list[int], policy: MemoryPolicy
) -> None:
    sizes = sizes_of(entities, extra)
    actions = oracle_actions(entities, sizes, policy)
    assert oracle_actions(entities, sizes, policy, actions) == actions


@given(sequences, unproposed, policies)
def test_clusters_are_disjoint_pure_and_complete(
    entities: list[int | None], extra: list[int], policy: MemoryPolicy
) -> None:
    actions = oracle_actions(entities, sizes_of(entities, extra), policy)
    clusters = decode(range(len(entities)), actions)
    members = [mention for cluster in clusters for mention in cluster]
    assert sorted(members) == [index for index, action in enumerate(actions) if action.cell is not None]
    assert all(len({entities[mention] for mention in cluster}) == 1 for cluster in clusters)
    assert [cluster[0] for cluster in clusters] == sorted(cluster[0] for cluster in clusters)
    if policy.capacity is None:
        gold = {}
        for index, entity in enumerate(entities):
            if entity is not None:
                gold.setdefault(entity, []).append(index)
        assert [tuple(cluster) for cluster in gold.values()] == [c for c in clusters if entities[c[0]] is not None]


@given(sequences, unproposed, st.sampled_from([None, 10, 1000]))
def test_learned_memory_without_bound_is_unbounded_memory(
    entities: list[int | None], extra: list[int], capacity: int | None
) -> None:
    sizes = sizes_of(entities, extra)
    assert oracle_actions(entities, sizes, LearnedMemory(capacity)) == oracle_actions(
        entities, sizes, UnboundedMemory()
    )


@given(sequences, unproposed)
def test_rule_and_learned_memory_of_one_cell_are_the_same(entities: list[int | None], extra: list[int]) -> None:
    sizes = sizes_of(entities, extra)
    assert oracle_actions(entities, sizes, RuleMemory(1)) == oracle_actions(entities, sizes, LearnedMemory(1))


@given(sequences, unproposed, capacities)
def test_the_learned_memory_never_ignores_what_the_poorest_cell_would_give_way_to(
    entities: list[int | None], extra: list[int], capacity: int
) -> None:
    """A plain second oracle: walks the actions and checks every eviction and every refusal against the counts."""
    sizes = sizes_of(entities, extra)
    held: dict[int, int] = {}
    for index, (entity, action) in enumerate(
        zip(entities, oracle_actions(entities, sizes, LearnedMemory(capacity)), strict=True)
    ):
        left = {e: sizes[e] - sum(other == e for other in entities[:index]) for e in sizes}
        if action.kind is ActionKind.EVICT:
            assert entity is not None
            assert left[held[action.cell]] == min(left[e] for e in held.values()) <= left[entity]
        if action.kind is ActionKind.IGNORE:
            assert entity is not None
            assert min(left[e] for e in held.values()) > left[entity]
        if action.cell is not None and action.kind is not ActionKind.LINK:
            held[action.cell] = entity
