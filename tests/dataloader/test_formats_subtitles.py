"""Subtitles and transcripts."""

from __future__ import annotations

from itertools import pairwise

from tests.dataloader.filetools import convert, places, reason

MEETING = """WEBVTT
Kind: captions

STYLE
::cue { color: red }

NOTE checked by Ann

62357a1d-d250/15-0
00:00:04.963 --> 00:00:08.571 align:left size:50%
<v Ann Lane>Now the mill
can be</v>

62357a1d-d250/15-1
00:00:08.571 --> 00:00:09.403
<v Ann Lane>opened &amp; <i>run</i>.</v>

00:00:09.500 --> 00:00:11.000
<v.loud Bob>Who pays?</v>

01:00:12.000 --> 01:00:13.000
<v Bob>And when?
"""


def test_a_transcript_tells_who_said_what_and_when() -> None:
    read = convert("meeting.vtt", MEETING)
    assert read.content == "Ann Lane: Now the mill can be opened & run.\n\nBob: Who pays?\n\nBob: And when?"
    assert places(read, "time") == [
        ("00:00:04", "Ann Lane: Now the mill can be opened & run."),
        ("00:00:09", "Bob: Who pays?"),
        ("01:00:12", "Bob: And when?"),
    ]
    assert (read.mime_type, read.format) == ("text/vtt", "text")


def test_names_before_each_cue_are_those_of_the_speakers() -> None:
    cues = ("Ann Lane: Good morning.", "Ann Lane: The sluice is open.", "Bob: Note this: it leaks.", "It does.")
    text = "".join(f"{n}\n00:00:{n:02}.000 --> 00:00:{n + 1:02}.000\n{cue}\n\n" for n, cue in enumerate(cues, 1))
    assert convert("zoom.vtt", f"WEBVTT\n\n{text}").content == (
        "Ann Lane: Good morning. The sluice is open.\n\nBob: Note this: it leaks.\n\nIt does."
    )


def test_subtitles_are_sentences_without_numbers_and_tags() -> None:
    text = (
        '\ufeff1\r\n00:00:01,500 --> 00:00:03,000\r\n{\\an8}<font color="#fff">The tide</font>\r\n\r\n'
        "2\r\n00:00:03,100 --> 00:00:04,000\r\nturns at 1 < 2.\r\n12 <b>times</b>.\r\n\r\n"
        "3\r\n00:00:04,000 --> 00:00:05,000\r\n- Déjà vu?\r\n- No.\r\n\r\n\r\n"
        "4\r\n00:00:06,000 --> 00:00:07,000\r\nThe mill\r\nturned.\r\n"
    )
    assert (
        convert("film.srt", text).content == "The tide turns at 1 < 2. 12 times.\n- Déjà vu?\n- No.\nThe mill turned."
    )
    assert convert("film.srt", text.encode("cp1252", "ignore")).content == convert("film.srt", text).content


def test_captions_that_roll_up_are_read_once() -> None:
    words = [f"line number {n}" for n in range(12)]
    cues: list[str] = []
    for n, (above, below) in enumerate(pairwise(words)):
        timed = below.replace(" number", f"<00:00:{n:02}.500><c> number</c>")
        cues.append(f"00:00:{n:02}.000 --> 00:00:{n + 1:02}.000\n{above}\n{timed}\n\n")
        cues.append(f"00:00:{n + 1:02}.000 --> 00:00:{n + 1:02}.010\n{below}\n \n\n")
    assert convert("auto.vtt", "WEBVTT\n\n" + "".join(cues)).content == " ".join(words)
    spoken = "".join(f"{n}\n00:00:{n:02},000 --> 00:00:{n + 1:02},000\nNo!\n\n" for n in range(2))
    assert convert("film.srt", spoken).content == "No! No!"


def test_long_speech_is_cut_into_paragraphs_after_sentences() -> None:
    cue = "the water runs over the wheel, and the wheel drives the stones."
    text = "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\nIn year {n} {cue}\n\n"
        for n in range(40)
    )
    paragraphs = convert("talk.srt", text).content.split("\n\n")
    assert len(paragraphs) == 6
    assert all(paragraph.endswith("stones.") for paragraph in paragraphs)
    without = text.replace(".\n", "\n").replace(",", " ,").replace(" ,000", ",000").replace(" ,900", ",900")
    assert max(map(len, convert("talk.srt", without).content.split("\n\n"))) < 1200


def test_what_is_no_subtitles_is_read_as_text() -> None:
    assert convert("notes.srt", "SRT stands for SubRip Text.").content == "SRT stands for SubRip Text."
    assert "WEBVTT" in convert("empty.vtt", "WEBVTT\n").content
    assert reason("a.vtt", b"") == "it is empty"
