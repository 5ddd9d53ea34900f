"""How much is extracted from a file."""

from __future__ import annotations

MOST_BYTES = 50_000_000
"""Bytes of text and markup that are unpacked or parsed, many times those of a novel. Plain text has no limit."""
