"""How many entities of modern text have a right type: python scripts/measure_types.py GUM [--model M]

GUM is a clone of gum; `examples/types.tsv` lists entities of its dev documents with their types. An entity is found if
one of its mentions is, and its type is that of the cluster which this mention is in.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from longcoref import WordSpan, load
from longcoref.formats import read_corpus

JUDGED = Path(__file__).parent.parent / "examples" / "types.tsv"


def main() -> None:
    """Reads the documents and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gum", type=Path)
    parser.add_argument("--model")
    options = parser.parse_args()
    judged: defaultdict[str, list[tuple[WordSpan, list[str]]]] = defaultdict(list)
    for line in JUDGED.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, start, end, types = line.split("\t")
            judged[name].append((WordSpan(int(start), int(end)), types.split(",")))
    resolver = load(options.model, threads=1)
    count, right, missing = Counter[str](), Counter[str](), 0
    for document in read_corpus(options.gum, format="ontogum", part="dev"):
        found = {mention.words: cluster.type for cluster in resolver.document(document) for mention in cluster}
        for span, wanted in judged[document.id]:
            entity = next(cluster for cluster in document.clusters or () if span in cluster.spans)
            type = next((found[one] for one in (span, *entity.spans) if one in found), None)
            if type is None:
                missing += 1
                continue
            count[wanted[0]] += 1
            right[wanted[0]] += type in wanted
    print("| type | entities found | right |\n|---|---:|---:|")
    for name in sorted(count, key=count.__getitem__, reverse=True):
        print(f"| {name} | {count[name]} | {100 * right[name] / count[name]:.1f} % |")
    print(f"| **all** | {count.total()} | {100 * right.total() / count.total():.1f} % |\n\nnot found: {missing}")


if __name__ == "__main__":
    main()
