"""Subtitles and transcripts of what was said (WebVTT, SubRip)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from libs.dataloader.formats.base import Content, FileData, TextBuilder
from libs.dataloader.formats.registry import Format
from libs.regexes import regex

_TIME = r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]\d)[.,](\d{1,3})"
_TIMES = regex(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_NOT_SHOWN = regex(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_VOICE = regex(r"<v(?:\.[^\s<>]*)?[ \t]++([^<>]*)>|</v>")
_MARKUP = regex(r"</?(?:b|c|i|s|u|v|font|lang|ruby|rt)(?:[.\s][^<>]*)?>|<\d[\d:.]*>|\{\\[^{}]*\}", re.IGNORECASE)
_SPEAKER = regex(r"(\w[^:<>\n]{0,59}):[ \t]+(?=\S)")
_ENDS_SENTENCE = regex(r"[.!?…。！？][\"'”’»)\]]*$")
# A paragraph ends at a pause of so many seconds, or where it has so many characters, after a sentence if possible.
_PAUSE = 4.0
_LONG = 500
_TOO_LONG = 1000
_ROLLED = 4  # lines that captions show at a time, at most


class _Cue(NamedTuple):
    start: float
    end: float
    lines: list[str]


class _Said(NamedTuple):
    start: float
    end: float
    who: str
    text: str


def read(file: FileData, kind: Format) -> Content:
    """Return what was said as paragraphs, with who said it where that is told, and where in time each begins."""
    text = file.text()
    builder = TextBuilder()
    for paragraph in _paragraphs(_said(_without_repeats(list(_cues(text))), kind.mime_type == "text/vtt")):
        builder.separate()
        builder.mark("time", _clock(paragraph.start))
        builder.add(f"{paragraph.who}: {paragraph.text}" if paragraph.who else paragraph.text)
    if not builder.position:
        return Content(text)
    return Content(builder.text(), locations=builder.locations)


def _cues(text: str) -> Iterator[_Cue]:
    cue: _Cue | None = None
    shown = True
    after_blank = True
    for line in text.split("\n"):
        if (times := _TIMES.fullmatch(line)) is not None:
            if cue is not None:
                yield _without_name(cue)
            cue = _Cue(_seconds(*times.groups()[:4]), _seconds(*times.groups()[4:]), [])
            shown = True
        elif after_blank and _NOT_SHOWN.match(line):
            shown = False
        elif cue is not None and shown:
            cue.lines.append(line.strip())
        after_blank = not line.strip()
        shown = shown or after_blank
    if cue is not None:
        yield cue


def _without_name(cue: _Cue) -> _Cue:
    """Return a cue without the number or name of the next one, which stands alone before its times."""
    lines = cue.lines
    if lines and lines[-1] and (lines[-1].isdecimal() or (len(lines) > 1 and not lines[-2])):
        return cue._replace(lines=lines[:-1])
    return cue


def _without_repeats(cues: list[_Cue]) -> list[_Cue]:
    """Return the cues without the lines that each repeats from the one before, as where captions roll up the screen."""
    shown = [[text for line in cue.lines if (text := _plain(line))] for cue in cues]
    rolling = sum(bool(before and after and before[-1] == after[0]) for before, after in pairwise(shown))
    if rolling < 3 or rolling * 3 < len(cues):
        return cues
    kept: list[_Cue] = []
    before: list[str] = []
    for cue, lines in zip(cues, shown, strict=True):
        same = next((n for n in range(min(len(before), len(lines), _ROLLED), 0, -1) if before[-n:] == lines[:n]), 0)
        spoken = [line for line in cue.lines if _plain(line)]
        kept.append(cue._replace(lines=spoken[same:]))
        before = lines or before
    return kept


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub("", line).split())


def _said(cues: Sequence[_Cue], has_entities: bool) -> Iterator[_Said]:
    named = [_SPEAKER.match(cue.lines[0]) if cue.lines else None for cue in cues]
    all_named = sum(name is not None for name in named) * 2 > len(cues)  # as meetings are transcribed
    for cue, name in zip(cues, named, strict=True):
        who = " ".join(name[1].split()) if all_named and name else ""
        parts = _VOICE.split("\n".join(cue.lines)[name.end() if name and who else 0 :])
        for index, part in enumerate(parts):
            if index % 2:
                who = " ".join((part or "").split())
                continue
            lines = [text for line in part.split("\n") if (text := _plain(line))]
            text = "".join(f"{_gap(line)}{line}" for line in lines).strip()
            if text:
                yield _Said(cue.start, cue.end, who, unescape(text) if has_entities else text)


def _paragraphs(said: Iterable[_Said]) -> Iterator[_Said]:
    current: _Said | None = None
    for piece in said:
        if current is not None and not _ends(current, piece):
            in_dialogue = current.text.rpartition("\n")[2].startswith("-")
            text = f"{current.text}{'\n' if in_dialogue else _gap(piece.text)}{piece.text}"
            current = current._replace(end=max(current.end, piece.end), text=text)
            continue
        if current is not None:
            yield current
        current = piece
    if current is not None:
        yield current


def _ends(paragraph: _Said, following: _Said) -> bool:
    length = len(paragraph.text)
    return (
        paragraph.who != following.who
        or following.start - paragraph.end >= _PAUSE
        or length >= _TOO_LONG
        or (length >= _LONG and _ENDS_SENTENCE.search(paragraph.text) is not None)
    )


def _gap(text: str) -> str:
    """Return what stands before a line: those of a dialogue begin with a dash each."""
    return "\n" if text.startswith("-") else " "


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction}")


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
