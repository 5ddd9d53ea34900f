"""Whole corpora: many documents in, Parquet tables out; runs that finish, resume, and use a cluster.

    import longcoref.corpus
    summary = longcoref.corpus.run(["novels/"], "out/", to=["html"])

docs/corpus.md describes the inputs, the tables and the guarantees.
"""

from longcoref.corpus.engine import SHARD_BYTES, Progress, Summary, run
from longcoref.corpus.report import write_report
from longcoref.corpus.tables import SCHEMAS

__all__ = ["SCHEMAS", "SHARD_BYTES", "Progress", "Summary", "run", "write_report"]
