"""What programs add to messages of mailing lists is no part of their text."""

from __future__ import annotations

from tests.dataloader.filetools import convert

HEAD = "From: Ada Lane <ada@example.org>\nDate: Thu, 5 Mar 2026 09:00:00 +0000\nSubject: The weir\n\n"
LINE = "_" * 47


def _text(body: str) -> str:
    return convert("weir.eml", HEAD + body).content.partition("Subject: The weir\n\n")[2]


def test_signatures_of_pgp_are_left_out() -> None:
    body = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nIt leaks.\n\n- - a dash\n- --\nAda\n"
        "-----BEGIN PGP SIGNATURE-----\nVersion: X\n\niQCVAwUBTYzqlg==\n=jO3q\n-----END PGP SIGNATURE-----\n"
    )
    assert _text(body).split() == ["It", "leaks.", "-", "a", "dash", "--", "Ada"]


def test_a_text_about_signatures_is_one() -> None:
    body = "The line -----BEGIN PGP SIGNATURE----- begins it.\n\n- - is two dashes\n"
    assert _text(body).strip() == body.strip()


def test_footers_of_lists_are_left_out_also_in_quotations() -> None:
    footer = f"{LINE}\nweir-devel mailing list\nweir-devel at example.org\nhttp://example.org/mailman/listinfo/weir\n"
    quoted = "".join(f"> {line}\n" for line in footer.splitlines())
    body = f"> It leaks.\n{quoted}\nI see it.\n{footer}"
    assert _text(body).split() == [">", "It", "leaks.", "I", "see", "it."]


def test_notes_of_archives_on_html_are_left_out_and_on_files_are_not() -> None:
    note = "-------------- next part --------------\nAn HTML attachment was scrubbed...\nURL: <http://example.org/a.html>\n"
    file = note.replace("An HTML", "A non-text").replace("...", "...\nName: weir.patch")
    assert _text(f"It leaks.\n{note}").strip() == "It leaks."
    assert "Name: weir.patch" in _text(f"It leaks.\n{file}")
