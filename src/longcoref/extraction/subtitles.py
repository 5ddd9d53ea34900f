"""The text of subtitles and transcripts: WebVTT and SubRip.

What one speaker says in several cues becomes one paragraph, `NAME: ...` if the file names the speaker, so that
sentences are whole and `text.turns` finds the speakers.
"""

from __future__ import annotations

import re
from html import unescape

_TIMING = re.compile(r"\s*[0-9:.,]+\s+-->\s+[0-9:.,]+")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z0-9.:_ -]*[^<>]*>|\{\\[^}]*\}")
_CHANGE = re.compile(r"\s*(?:-|–|—|>>+)\s*")
_LABEL = re.compile(r"(?:[A-Z][\w.'’ -]{0,40}|[a-z][\w-]{0,30}):\s|\[[^\]]{1,40}\]:?\s")


def subtitle_text(text: str) -> str:
    """The words of a subtitle file, without numbers and times."""
    paragraphs: list[list[str]] = []
    speaker, last = "", ("", "")
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.strip("\n").split("\n")
        timing = next((number for number, line in enumerate(lines[:2]) if _TIMING.match(line)), None)
        if timing is None:
            continue  # the header, a style or a note
        for raw in lines[timing + 1 :]:
            voice = _VOICE.search(raw)
            line = unescape(_TAG.sub("", raw)).strip()
            named = " ".join(unescape(voice[1]).split()) if voice else speaker
            if not line or (named, line) == last:  # live captions repeat the line before
                continue
            last = named, line
            changes = named != speaker or _CHANGE.match(line) is not None or _LABEL.match(line) is not None
            line = line[found.end() :] if (found := _CHANGE.match(line)) else line
            if changes or not paragraphs:
                paragraphs.append([f"{named}: {line}" if named else line])
            else:
                paragraphs[-1].append(line)
            speaker = named
    return "".join(f"{' '.join(lines)}\n\n" for lines in paragraphs)
