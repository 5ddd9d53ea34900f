"""What corpora and results say: counts and figures from documents and records, without a model."""
