"""The same small story in every file format, and what the tests of formats share."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from longcoref.document import Document
from longcoref.formats import FORMATS, Format
from longcoref.formats.source import Source

# Two sentences, Anna = 0 (twice), the dog of Anna = 1 (nested, twice).
ID = "nw/tale/00/tale_0001"
SENTENCES = [["Anna", "'s", "dog", "slept", "."], ["She", "woke", "it", "."]]
SPANS = [((0, 2), (5, 6)), ((0, 3), (7, 8))]
EXAMPLES = {
    "conll": """#begin document (nw/tale/00/tale_0001); part 002
nw/tale/00/tale_0001   2   0   Anna    NNP  (TOP*  -  -  -  Teller  *  (1|(0
nw/tale/00/tale_0001   2   1   's      POS  *      -  -  -  Teller  *  0)
nw/tale/00/tale_0001   2   2   dog     NN   *      -  -  -  Teller  *  1)
nw/tale/00/tale_0001   2   3   slept   VBD  *      -  -  -  Teller  *  -
nw/tale/00/tale_0001   2   4   .       .    *)     -  -  -  Teller  *  -

nw/tale/00/tale_0001   2   0   She     PRP  (TOP*  -  -  -  -  *  (V*)  (0)
nw/tale/00/tale_0001   2   1   woke    VBD  *      -  -  -  -  *  (V*)  -
nw/tale/00/tale_0001   2   2   it      PRP  *      -  -  -  -  *  (V*)  (1)
nw/tale/00/tale_0001   2   3   .       .    *)     -  -  -  -  *  (V*)  -

#end document
""",
    "litbank": "#begin document (tale); part 0\n"
    + "\n".join(
        f"tale\t0\t{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\t{cell}" if word else ""
        for number, word, cell in [
            *[(0, "Anna", "(1|(0"), (1, "'s", "0)"), (2, "dog", "1)"), (3, "slept", ""), (4, ".", ""), (0, "", "")],
            *[(0, "She", "(0)"), (1, "woke", ""), (2, "it", "(1)"), (3, ".", ""), (0, "", "")],
        ]
    )
    + "\n#end document\n",
    "ontogum": "# begin document \n0\tAnna\t(1(0\n1\t's\t0)\n2\tdog\t1)\n3\tslept\t_\n4\t.\t_\n"
    "5\tShe\t(0)\n6\twoke\t_\n7\tit\t(1)\n8\t.\t_\n# end document\n",
    "json": """{
  "schema": "longcoref/1",
  "id": "tale",
  "text": "Anna's dog slept. She woke it.",
  "words": [[0, 4], [4, 6], [7, 10], [11, 16], [16, 17], [18, 21], [22, 26], [27, 29], [29, 30]],
  "sentences": [[0, 17], [18, 30]],
  "speakers": [{"speaker": "Teller", "start": 0, "end": 17}],
  "clusters": [
    {"id": 0, "type": "PER", "mentions": [
      {"start": 0, "end": 6, "text": "Anna's", "kind": "PROP", "sentence": 0},
      {"start": 18, "end": 21, "text": "She", "kind": "PRON", "sentence": 1}]},
    {"id": "dog", "mentions": [
      {"start": 0, "end": 10, "text": "Anna's dog", "sentence": 0},
      {"start": 27, "end": 29, "text": "it", "type": "PER", "sentence": 1}]}
  ]
}
""",
    "jsonl": '{"schema": "longcoref/1", "id": "tale", "text": "Anna\'s dog slept. She woke it.", "words": [[0, 4], '
    "[4, 6], [7, 10], [11, 16], [16, 17], [18, 21], [22, 26], [27, 29], [29, 30]], "
    '"sentences": [[0, 17], [18, 30]], "clusters": [{"mentions": [{"start": 0, "end": 6}, {"start": 18, "end": 21}]},'
    ' {"mentions": [{"start": 0, "end": 10}, {"start": 27, "end": 29}]}]}\n',
    "jsonlines": '{"doc_key": "nw/tale/00/tale_0001_2", "sentences": [["Anna", "\'s", "dog", "slept", "."], '
    '["She", "woke", "it", "."]], "clusters": [[[0, 1], [5, 5]], [[7, 7], [0, 2]]], '
    '"speakers": [["A", "A", "A", "A", "A"], ["-", "-", "-", "-"]]}\n',
    "corefud": """# newdoc id = tale
# global.Entity = eid-etype-head-other
# sent_id = tale-1
# text = Anna's dog slept.
1-2\tAnna's\t_\t_\t_\t_\t_\t_\t_\t_
1\tAnna\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2-animal-3(e1-person-1-kind:PROP
2\t's\t_\t_\t_\t_\t_\t_\t_\tEntity=e1)
3\tdog\t_\t_\t_\t_\t_\t_\t_\tBridge=e1<e2|Entity=e2)
4\tslept\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
4.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e3-person-1)
5\t.\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = tale-2
1\tShe\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1-person-1-kind:PRON)
2\twoke\t_\t_\t_\t_\t_\t_\t_\t_
3\tit\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2-animal-1)|SpaceAfter=No
4\t.\t_\t_\t_\t_\t_\t_\t_\t_

""",
    "text": "Anna's dog slept. She woke it.",
}

EACH = pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
WITH_CLUSTERS = pytest.mark.parametrize(
    "format",
    [format for format in FORMATS.values() if "clusters" in format.holds],
    ids=[format.name for format in FORMATS.values() if "clusters" in format.holds],
)


def source_of(content: str | bytes, name: str = "tale") -> Source:
    return Source(name, io.BytesIO(content.encode() if isinstance(content, str) else content))


def read_text(format: Format, content: str | bytes, *, lenient: bool = False) -> list[Document]:
    return [document for _, document in format.read(source_of(content), lenient=lenient)]


def write_text(format: Format, documents: Sequence[Document]) -> str:
    stream = io.StringIO(newline="")
    format.write(documents, stream)
    return stream.getvalue()
