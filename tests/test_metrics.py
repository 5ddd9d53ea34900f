"""The metrics: laws over all of them at once, hand-worked cases, and two independent implementations."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from itertools import combinations, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scorch import scores as scorch

from longcoref import errors
from longcoref.errors import MissingExtraError
from longcoref.metrics import Counts, Score, Scores, count_document, score_documents
from longcoref.metrics.ceaf import best_assignment

Clusters = list[list[Hashable]]

METRICS = ("muc", "b_cubed", "ceaf_e", "ceaf_m", "lea", "blanc", "mentions")


def score(key: Sequence[Sequence[Hashable]], response: Sequence[Sequence[Hashable]], **options: bool) -> Scores:
    return score_documents([(key, response)], **options)


def letters(text: str) -> Clusters:
    """Clusters written as words: 'a bc def'."""
    return [list(word) for word in text.split()]


def values(score: Score) -> tuple[float, float, float]:
    return score.recall, score.precision, score.f1


@st.composite
def clusterings(draw: st.DrawFn, *, disjoint: bool = True, fewest: int = 0) -> Clusters:
    """A clustering of small numbers; where clusters need not be disjoint, a number may stand in several."""
    mentions = draw(st.lists(st.integers(0, 9), min_size=fewest, max_size=10, unique=disjoint))
    labels = draw(st.lists(st.integers(0, 4), min_size=len(mentions), max_size=len(mentions)))
    clusters: dict[int, dict[Hashable, None]] = {}
    for mention, label in zip(mentions, labels, strict=True):
        clusters.setdefault(label, {})[mention] = None
    return [list(cluster) for cluster in clusters.values()]


def generated_pairs(number: int, seed: int) -> list[tuple[Clusters, Clusters]]:
    """Random clusterings of many shapes: of the same or other mentions, coarse, fine, all singletons."""
    source = random.Random(seed)

    def clustering() -> Clusters:
        mentions = source.sample(range(20), source.randint(2, 20))
        shape = source.choice(["singletons", "fine", "coarse", "one"])
        if shape == "singletons":
            return [[mention] for mention in mentions]
        number_of_clusters = {"fine": 12, "coarse": 3, "one": 1}[shape]
        clusters: dict[int, list[Hashable]] = {}
        for mention in mentions:
            clusters.setdefault(source.randrange(number_of_clusters), []).append(mention)
        return list(clusters.values())

    pairs: list[tuple[Clusters, Clusters]] = []
    while len(pairs) < number:
        key, response = clustering(), clustering()
        if set().union(*key) & set().union(*response):
            pairs.append((key, response))  # scorch divides by zero where nothing is shared
    return pairs


# Cases of the reference scorer's test suite, in its letters: name, key, response, and recall and precision by metric.
CASES = {
    "A1": ("a bc def", "a bc def", dict.fromkeys(METRICS, (1, 1))),
    "A2": (
        "a bc def",
        "a de",
        {
            "muc": (1 / 3, 1),
            "b_cubed": (7 / 18, 1),
            "ceaf_m": (0.5, 1),
            "ceaf_e": (0.6, 0.9),
            "blanc": ((1 / 4 + 2 / 11) / 2, 1),
            "lea": (2 / 6, 1),
            "mentions": (3 / 6, 1),
        },
    ),
    "A3": (
        "a bc def",
        "a bcx defy z",
        {
            "muc": (1, 3 / 5),
            "b_cubed": (1, 55 / 108),
            "ceaf_m": (1, 6 / 9),
            "ceaf_e": (93 / 35 / 3, 93 / 35 / 4),
            "blanc": (1, (4 / 9 + 11 / 27) / 2),
            "lea": (1, 4 / 9),
        },
    ),
    "A4": (
        "a bc def",
        "a bcx dy z",
        {
            "muc": (1 / 3, 1 / 3),
            "b_cubed": (5 / 9, 17 / 42),
            "ceaf_m": (4 / 6, 4 / 7),
            "ceaf_e": (2.2 / 3, 2.2 / 4),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
            "lea": (3 / 6, 2 / 7),
        },
    ),
    "A7, a mention twice in one cluster": (
        "a bc def",
        "a bcxb dy z",
        {
            "muc": (1 / 3, 1 / 3),
            "b_cubed": (5 / 9, 17 / 42),
            "ceaf_m": (4 / 6, 4 / 7),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
            "lea": (3 / 6, 2 / 7),
            "mentions": (4 / 6, 4 / 7),
        },
    ),
    "A8, a mention in two clusters": (
        "a bc def",
        "a bcx dy bz",
        {
            "muc": (1 / 3, 1 / 3),
            "b_cubed": (5 / 9, 17 / 42),
            "ceaf_m": (4 / 6, 4 / 7),
            "ceaf_e": (2.2 / 3, 2.2 / 4),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
            "lea": (3 / 6, 2 / 7),
        },
    ),
    "A10": (
        "a bc def",
        "a b c d e f",
        {"muc": (0, 0), "b_cubed": (0.5, 1), "blanc": (0.5, 11 / 30), "lea": (1 / 6, 1 / 6)},
    ),
    "A11": (
        "a bc def",
        "abcdef",
        {"muc": (1, 3 / 5), "b_cubed": (1, 7 / 18), "blanc": (0.5, 4 / 30), "lea": (5 / 6, 4 / 15)},
    ),
    "A12": (
        "a bc def",
        "a x y c d e z",
        {"muc": (0, 0), "b_cubed": (13 / 36, 4 / 7), "blanc": (5 / 22, 5 / 42), "lea": (1 / 6, 1 / 7)},
    ),
    "A13": (
        "a bc def",
        "axycdez",
        {"muc": (1 / 3, 1 / 6), "b_cubed": (17 / 36, 6 / 49), "blanc": (1 / 8, 1 / 42), "lea": (1 / 6, 1 / 21)},
    ),
    "B1": ("ab cde", "bcx de", {"blanc": (7 / 24, 7 / 24), "lea": (1 / 5, 2 / 5)}),
    "C1": ("ab cde fg", "bcx de fg", {"blanc": (0.5125, 0.5125), "lea": (3 / 7, 4 / 7)}),
    "D1": (
        "12345 67 89ABC",
        "12345 6789ABC",
        {"muc": (1, 9 / 10), "b_cubed": (1, 16 / 21), "lea": (1, (5 + 11 / 3) / 12)},
    ),
    "E1": (
        "12345 67 89ABC",
        "1234589ABC 67",
        {"muc": (1, 9 / 10), "b_cubed": (1, 7 / 12), "lea": (1, (40 / 9 + 2) / 12)},
    ),
    "F1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (1 / 3, 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6), "lea": (1 / 7, 3 / 9)}),
    "L1": ("ABC DEFG", "AB CD FGH", {"muc": (2 / 5, 2 / 4), "lea": ((1 + 4 / 6) / 7, 3 / 7)}),
    "M2": ("abcdef", "a b c d e f", {"muc": (0, 0), "blanc": (0, 0), "lea": (0, 0)}),
    "M3": ("abcdef", "ab cde f", {"blanc": (4 / 15, 1), "lea": (4 / 15, 5 / 6)}),
    "M4": ("abcdef", "abcxyz", {"blanc": (3 / 15, 3 / 15), "lea": (0.2, 0.2)}),
    "M6": ("abcdef", "ab cxy z", {"blanc": (1 / 15, 1 / 4), "lea": (1 / 15, 2 / 6)}),
    "N1": ("a b c d e f", "a b c d e f", {"muc": (0, 0), "b_cubed": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1)}),
    "N2": ("a b c d e f", "abcdef", {"blanc": (0, 0), "lea": (0, 0)}),
    "N3": ("a b c d e f", "ab cde f", {"blanc": (11 / 15, 1), "lea": (1 / 6, 1 / 6)}),
    "N4": ("a b c d e f", "a b c x y z", {"muc": (0, 0), "blanc": (3 / 15, 3 / 15), "lea": (0.5, 0.5)}),
    "N6": ("a b c d e f", "ab cxy z", {"blanc": (2 / 15, 2 / 11), "lea": (0, 0)}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_reference_scorers_own_cases(case: str) -> None:
    key, response, expected = CASES[case]
    scores = score(letters(key), letters(response))
    found = {metric: values(getattr(scores, metric))[:2] for metric in expected}
    assert found == {metric: pytest.approx(pair) for metric, pair in expected.items()}


def test_blanc_averages_f1_rather_than_taking_it_of_the_averages() -> None:
    assert score(letters("a bc def"), letters("a de")).blanc.f1 == pytest.approx(0.35385, abs=1e-5)


def test_the_conll_average_is_of_muc_b_cubed_and_ceaf_e() -> None:
    scores = score(letters("a bc def"), letters("a de"))
    assert scores.conll_f1 == pytest.approx((0.5 + 0.56 + 0.72) / 3)


SCORCH = {
    "muc": scorch.muc,
    "b_cubed": scorch.b_cubed,
    "ceaf_e": scorch.ceaf_e,
    "ceaf_m": scorch.ceaf_m,
    "blanc": scorch.blanc,
}


@pytest.mark.parametrize("seed", range(4))
def test_scorch_gives_the_same_values(seed: int) -> None:
    for key, response in generated_pairs(1000, seed):
        scores = score(key, response)
        sets = [set(cluster) for cluster in key], [set(cluster) for cluster in response]
        for metric, theirs in SCORCH.items():
            assert values(getattr(scores, metric)) == pytest.approx(theirs(*sets)), (metric, key, response)
        assert 100 * scorch.conll2012(*sets) == pytest.approx(scores.as_json()["conll_f1"])


class PlainTwin:
    """The official scorer's definitions spelled out by lists of links and by trying every assignment."""

    def __init__(self, key: Clusters, response: Clusters) -> None:
        known = {mention for cluster in key for mention in cluster}
        taken: set[Hashable] = set()
        self.key, self.response = key, []
        for cluster in response:
            kept = [mention for mention in cluster if mention not in taken]
            taken |= known & set(kept)
            self.response += [kept] if kept else []
        self.key_of = {mention: cluster for cluster in self.key for mention in cluster}
        self.response_of = {mention: cluster for cluster in self.response for mention in cluster}

    def muc(self) -> Counts:
        common = sum(
            any(self.key_of[first] is self.key_of.get(second) for second in cluster[place + 1 :])
            for cluster in self.response
            for place, first in enumerate(cluster)
            if first in self.key_of
        )
        links = [sum(len(cluster) - 1 for cluster in side) for side in (self.key, self.response)]
        return Counts(common, links[0], common, links[1])

    def b_cubed(self) -> Counts:
        recall = precision = 0.0
        for cluster in self.response:
            for mention in set(cluster) & set(self.key_of):
                common = len(set(cluster) & set(self.key_of[mention]))
                recall += common / len(self.key_of[mention])
                precision += common / len(cluster)
        return Counts(recall, sum(map(len, self.key)), precision, sum(map(len, self.response)))

    def ceaf_e(self) -> Counts:
        best = self._best(lambda one, other: 2 * len(one & other) / (len(one) + len(other)))
        return Counts(best, len(self.key), best, len(self.response))

    def ceaf_m(self) -> Counts:
        best = self._best(lambda one, other: len(one & other))
        return Counts(best, sum(map(len, self.key)), best, sum(map(len, self.response)))

    def _best(self, value) -> float:  # type: ignore[no-untyped-def]
        few, many = sorted((self.key, self.response), key=len)
        return max(
            sum(value(set(one), set(other)) for one, other in zip(few, choice, strict=True))
            for choice in permutations(many, len(few))
        )

    def lea(self) -> Counts:
        sides = (self.key, self.response_of), (self.response, self.key_of)
        recall, precision = (
            sum(len(cluster) * self._resolved(cluster, other) for cluster in clusters) for clusters, other in sides
        )
        return Counts(recall, sum(map(len, self.key)), precision, sum(map(len, self.response)))

    @staticmethod
    def _resolved(cluster: list[Hashable], other: dict[Hashable, list[Hashable]]) -> float:
        if len(cluster) == 1:
            return len(other.get(cluster[0], [])) == 1
        links = list(combinations(cluster, 2))
        return sum(a in other and other[a] is other.get(b) for a, b in links) / len(links)

    def blanc(self) -> tuple[Counts, Counts]:
        counts = []
        for links in (self._inside, self._between):
            key, response = links(self.key), links(self.response)
            counts.append(Counts(len(key & response), len(key), len(key & response), len(response)))
        return counts[0], counts[1]

    @staticmethod
    def _inside(clusters: Clusters) -> set[frozenset[Hashable]]:
        return {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}

    @staticmethod
    def _between(clusters: Clusters) -> set[frozenset[Hashable]]:
        return {frozenset(pair) for one, other in combinations(clusters, 2) for pair in product(one, other)}

    def mentions(self) -> Counts:
        key, response = set(self.key_of), set(self.response_of)
        return Counts(len(key & response), len(key), len(key & response), len(response))


def assert_same(ours: Counts, plain: Counts) -> None:
    assert ours.recall_numerator == pytest.approx(plain.recall_numerator)
    assert ours.precision_numerator == pytest.approx(plain.precision_numerator)
    assert ours.recall_denominator == plain.recall_denominator
    assert ours.precision_denominator == plain.precision_denominator


@settings(max_examples=400)
@given(clusterings(disjoint=False), clusterings(disjoint=False))
def test_the_plain_twin_gives_the_same_counts_even_where_clusters_overlap(key: Clusters, response: Clusters) -> None:
    ours, plain = count_document(key, response), PlainTwin(key, response)
    for metric in METRICS:
        if metric != "blanc":
            assert_same(getattr(ours, metric), getattr(plain, metric)())
    for kind, counts in zip((ours.blanc.coreference, ours.blanc.non_coreference), plain.blanc(), strict=True):
        assert_same(kind, counts)


@given(clusterings(), clusterings(), st.randoms(use_true_random=False))
def test_the_order_of_clusters_and_mentions_does_not_matter(
    key: Clusters, response: Clusters, source: random.Random
) -> None:
    def shuffled(clusters: Clusters) -> Clusters:
        return [source.sample(cluster, len(cluster)) for cluster in source.sample(clusters, len(clusters))]

    assert_close(score(key, response), score(shuffled(key), shuffled(response)))


@given(clusterings(), clusterings())
def test_the_names_of_mentions_do_not_matter(key: Clusters, response: Clusters) -> None:
    def renamed(clusters: Clusters) -> Clusters:
        return [[(mention, "name") for mention in cluster] for cluster in clusters]

    assert_close(score(key, response), score(renamed(key), renamed(response)))


def assert_close(one: Scores, other: Scores) -> None:
    for metric in METRICS:
        assert values(getattr(one, metric)) == pytest.approx(values(getattr(other, metric))), metric


@given(clusterings(disjoint=False), clusterings(disjoint=False))
def test_values_are_parts_of_one_and_f1_lies_between_precision_and_recall(key: Clusters, response: Clusters) -> None:
    scores = score(key, response)
    for metric in METRICS:
        recall, precision, f1 = values(getattr(scores, metric))
        assert 0 <= f1 <= 1 + 1e-12, metric
        assert 0 <= recall <= 1 + 1e-12, metric
        assert 0 <= precision <= 1 + 1e-12, metric
        if metric != "blanc":  # whose F1 is a mean of two
            assert min(recall, precision) - 1e-12 <= f1 <= max(recall, precision) + 1e-12, metric


@given(clusterings(), clusterings())
def test_exchanging_key_and_response_exchanges_precision_and_recall(key: Clusters, response: Clusters) -> None:
    ours, exchanged = count_document(key, response), count_document(response, key)
    for metric in METRICS:
        if metric == "blanc":  # only its counts: which of them enter the mean is for the key to say
            pairs = [
                (ours.blanc.coreference, exchanged.blanc.coreference),
                (ours.blanc.non_coreference, exchanged.blanc.non_coreference),
            ]
        else:
            pairs = [(getattr(ours, metric), getattr(exchanged, metric))]
        for one, other in pairs:
            recall, precision, f1 = values(one.score)
            assert values(other.score) == pytest.approx((precision, recall, f1)), metric


@given(clusterings(fewest=2))
def test_a_perfect_response_gets_everything(key: Clusters) -> None:
    scores = score(key, key)
    for metric in METRICS:
        if metric == "muc" and all(len(cluster) == 1 for cluster in key):
            assert values(scores.muc) == (0, 0, 0)  # no links at all
        else:
            assert values(getattr(scores, metric)) == pytest.approx((1, 1, 1)), metric


@given(st.lists(st.tuples(clusterings(), clusterings()), max_size=4))
def test_a_corpus_sums_the_counts_of_its_documents(pairs: list[tuple[Clusters, Clusters]]) -> None:
    # MUC, B³, CEAF, LEA and mentions see no difference between documents and one document of renamed mentions,
    # except that the assignment of CEAF could not do better across documents: they share no mention.
    key = [[(number, mention) for mention in c] for number, (side, _) in enumerate(pairs) for c in side]
    response = [[(number, mention) for mention in c] for number, (_, side) in enumerate(pairs) for c in side]
    corpus, joined = score_documents(pairs), score(key, response)
    for metric in METRICS:
        if metric != "blanc":  # which sees links between the documents
            assert values(getattr(corpus, metric)) == pytest.approx(values(getattr(joined, metric))), metric


def test_blanc_of_a_corpus_has_no_links_between_documents() -> None:
    pairs = [(letters("ab c"), letters("a bc")), (letters("ab"), letters("ab"))]
    # Coreference links: 1 of 2 is found; non-coreference links: ac, of ac and bc.
    assert values(score_documents(pairs).blanc) == pytest.approx((0.5, 0.5, 0.5))


@given(clusterings(), clusterings())
def test_dropping_singletons_is_scoring_without_them(key: Clusters, response: Clusters) -> None:
    large = [[cluster for cluster in side if len(cluster) > 1] for side in (key, response)]
    assert score(key, response, keep_singletons=False) == score(*large)


NOTHING = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("key", "response"), [("", ""), ("ab c", ""), ("", "ab c"), ("ab", "cd"), ("a b", "c d")])
def test_empty_or_disjoint_sides_score_nothing(key: str, response: str) -> None:
    scores = score(letters(key), letters(response))
    assert {values(getattr(scores, metric)) for metric in METRICS} == {NOTHING}
    assert scores.conll_f1 == 0


def test_a_corpus_of_no_documents_scores_nothing() -> None:
    assert score_documents([]).conll_f1 == 0


def test_one_mention_has_no_links_for_blanc_and_muc_even_if_it_is_found() -> None:
    scores = score([["a"]], [["a"]])
    assert (values(scores.blanc), values(scores.muc)) == (NOTHING, NOTHING)
    assert values(scores.b_cubed) == (1, 1, 1)


def test_json_is_in_per_cent_with_a_key_for_each_metric() -> None:
    result = score(letters("a bc def"), letters("a de")).as_json()
    assert sorted(result) == sorted(["conll_f1", *METRICS])
    assert result["ceaf_e"] == pytest.approx({"precision": 90, "recall": 60, "f1": 72})


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.floats(0.01, 5), max_size=12))
def test_the_assignment_is_the_best_of_all(gains: dict[tuple[int, int], float]) -> None:
    every = max(sum(gains.get(pair, 0) for pair in enumerate(choice)) for choice in permutations(range(5)))
    assert best_assignment(gains) == pytest.approx(every)


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(errors.importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"longcoref\[eval\]"):
        score([["a"]], [["a"]])


def test_a_whole_novel() -> None:
    """100,000 mentions and 5,000 entities of very different sizes, a third of them in a wrong cluster."""
    source = random.Random(0)
    entities = [*range(5000), *source.choices(range(5000), [1 / (rank + 1) for rank in range(5000)], k=95_000)]
    guesses = [source.randrange(5000) if source.random() < 1 / 3 else entity for entity in entities]
    key, response = ([[] for _ in range(5000)] for _ in range(2))
    for mention, (entity, guess) in enumerate(zip(entities, guesses, strict=True)):
        key[entity].append(mention)
        response[guess].append(mention)
    scores = score(key, response)
    assert scores.mentions.f1 == 1
    assert scores.ceaf_m.recall == pytest.approx(2 / 3, abs=0.02)
    assert 0.4 < scores.conll_f1 < 0.7
