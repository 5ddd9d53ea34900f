"""Counts the paragraphs that two characters share, chapter by chapter, and writes the network as GraphML.

    longcoref resolve examples/story.txt -o out/story.json
    python examples/who_with_whom.py examples/story.txt out/story.json out/story.graphml

Needs nothing but Python. The JSON may have been corrected in the reader page. CHAPTER and PARAGRAPH below define what
counts as a chapter and a paragraph: change them for your text.
"""

import json
import re
import sys
from bisect import bisect_right
from collections import Counter
from itertools import combinations
from pathlib import Path
from xml.sax.saxutils import escape

CHAPTER = re.compile(r"^CHAPTER .*$", re.MULTILINE)
PARAGRAPH = re.compile(r"\n\s*\n")
MIN_MENTIONS = 10  # characters with fewer mentions are ignored


def main(text_path, result_path, graph_path):
    text = Path(text_path).read_bytes().decode("utf-8-sig")
    clusters = json.loads(Path(result_path).read_text(encoding="utf-8"))["clusters"]
    people = [c for c in clusters if c["type"] == "PER" and len(c["mentions"]) >= MIN_MENTIONS]
    chapters = [found.start() for found in CHAPTER.finditer(text)]
    paragraphs = [found.end() for found in PARAGRAPH.finditer(text)]

    # The characters in each paragraph, as indices into `people`, by chapter and paragraph.
    present = {}
    for number, person in enumerate(people):
        for mention in person["mentions"]:
            place = bisect_right(chapters, mention["start"]), bisect_right(paragraphs, mention["start"])
            present.setdefault(place, set()).add(number)
    together = Counter()
    for (chapter, _), numbers in present.items():
        together.update((chapter, *pair) for pair in combinations(sorted(numbers), 2))

    total = Counter()
    for (_, first, second), count in together.items():
        total[first, second] += count
    print("paragraphs together  in chapter " + " ".join(f"{n:>3}" for n in range(1, len(chapters) + 1)))
    for (first, second), count in total.most_common(10):
        row = [together[chapter, first, second] for chapter in range(1, len(chapters) + 1)]
        names = f"{people[first]['name']} and {people[second]['name']}"
        print(f"{count:>4} {names:<27}" + " ".join(f"{n or '·':>3}" for n in row))

    with Path(graph_path).open("w", encoding="utf-8") as graph:
        graph.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        graph.write('<key id="name" for="node" attr.name="name" attr.type="string"/>\n')
        graph.write(
            '<key id="weight" for="edge" attr.name="weight" attr.type="int"/>\n<graph edgedefault="undirected">\n'
        )
        for number, person in enumerate(people):
            graph.write(f'<node id="{number}"><data key="name">{escape(person["name"])}</data></node>\n')
        for (first, second), count in sorted(total.items()):
            graph.write(f'<edge source="{first}" target="{second}"><data key="weight">{count}</data></edge>\n')
        graph.write("</graph>\n</graphml>\n")


main(*sys.argv[1:])
