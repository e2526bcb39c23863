"""A small file for every reader, as bytes."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from tests.dataloader.xlstools import number as cell_number
from tests.dataloader.xlstools import shape
from tests.dataloader.xlstools import stream as workbook_stream


def samples() -> dict[str, bytes]:
    """The files by their names; skips the test where what writes Office files is not installed."""
    docx = pytest.importorskip("docx")
    openpyxl = pytest.importorskip("openpyxl")
    pptx = pytest.importorskip("pptx")
    made: dict[str, bytes] = {}
    document = docx.Document()
    document.add_heading("Heading", 1)
    document.add_paragraph("words", style="List Bullet")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "Title"
    for name, thing in (("a.docx", document), ("a.xlsx", book), ("a.pptx", presentation)):
        made[name] = _saved(thing)
    made["a.pdf"] = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font"
        b"/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        b"4 0 obj<</Length 38>>stream\nBT /F1 12 Tf 10 10 Td (words) Tj ET\n"
        b"endstream endobj\ntrailer<</Root 1 0 R>>\n"
    )
    made["a.ipynb"] = b'{"cells": [{"cell_type": "code", "source": "x", "outputs": [{"text": "y"}]}], "metadata": {}}'
    made["a.eml"] = b"From: a@b.c\nSubject: s\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nwords\n--x--\n"
    made["a.ics"] = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:a\\, b c\r\n d\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    made["a.srt"] = b"1\n00:00:01,000 --> 00:00:02,500\n<i>words</i>\nagain.\n"
    made["a.rtf"] = rb"{\rtf1\ansi{\info{\title T}}{\pard\outlinelevel0 Heading\par}caf\'e9 \u8364?\par}"
    made["a.html"] = b"<title>t</title><main><h1>h</h1><table><tr><th>a<td>b<tr><td>c<td>d</table><ul><li>x</main>"
    made["a.xml"] = (
        b"<article article-type='x'><front><article-meta><title-group><article-title>t</article-title></title-group>"
        b"</article-meta></front><body><sec><label>1</label><title>h</title><p>words<sup>2</sup></p></sec></body></article>"
    )
    made["books.xml"] = (
        b"<books><book id='1'><title>Words</title><by>Ada Lane</by></book>"
        b"<book id='2'><title>More</title><by>Bo Reed</by></book></books>"
    )
    made["a.bib"] = b"@article{key, title = {Words {of} it}, author = {Lane, Ada and Bo}, year = 2001}\n"
    made["a.ris"] = b"TY  - JOUR\nTI  - Words\nAU  - Lane, Ada\nPY  - 2001\nER  - \n"
    made["a.md"] = b"---\ntitle: t\n---\n# h\n[a](b.md) `c` <!-- d -->\n\n```py\ne\n```\n[r]: http://x.y\n"
    made["a.adoc"] = b"= t\n:author: x\n\n== h\nlink:b.adoc[b] {author}\n\n----\ne\n----\n"
    made["a.tex"] = b"\\documentclass{article}\n\\begin{document}\n\\section{h}\nwords\n\\end{document}\n"
    made["a.mediawiki"] = (
        b"== h ==\n{{Box\n|a=b\n|c={{d|e}}\n}}\n'''f''' [[g|h]]<ref>i</ref>\n* j\n{|\n! k\n|-\n| l\n|}\n<pre>m</pre>\n"
    )
    made["export.xml"] = (
        b"<mediawiki><siteinfo><base>http://a/b</base></siteinfo><page><title>t</title><ns>0</ns><revision>"
        b"<timestamp>2025-01-01T00:00:00Z</timestamp><text>== h ==\n''a''</text></revision></page></mediawiki>"
    )
    made["law.xml"] = (
        b"<section><num>1</num><heading>h</heading><para><num>(a)</num><text>b <i>c</i></text></para></section>"
    )
    made["a.enex"] = (
        b"<en-export><note><title>t</title><content>&lt;en-note>words&lt;/en-note></content></note></en-export>"
    )
    made["a.org"] = b"#+TITLE: t\n* h :tag:\n[[file:b.org][b]]\n#+begin_src py\ne\n#+end_src\n"
    made["a.rst"] = (
        b"Title\n=====\n\n.. note:: x\n\n   y\n\n`a <http://b.c>`_ ``d``\n\n"
        b"+--+--+\n|a |b |\n+--+--+\n|c |d |\n+--+--+\n"
    )
    made["a.csv"] = b'a,b\n1,"2\n3"\n4,5\n'
    made["a.json"] = b'[{"a": 1, "b": [1, {"c": 2}]}, {"a": "x"}]'
    made["a.jsonl"] = b'{"a": 1}\n{"a": 2}\n'
    made["a.tsv"] = b"a\tb\n1\t2\n3\t4\n"
    made["a.py"] = b"def f(x):\n    return x\n"
    made["a.txt"] = b"Just words.\n"
    text = "xmlns:office='o' xmlns:text='t'"
    made["a.odt"] = _zipped(
        {"content.xml": f"<x {text}><office:body><office:text><text:p>words</text:p></office:text></office:body></x>"}
    )
    cell = "<table:table-cell table:number-columns-repeated='2'><text:p>words</text:p></table:table-cell>"
    rows = f"<table:table table:name='s'><table:table-row>{cell}</table:table-row></table:table>"
    made["a.ods"] = _zipped(
        {
            "content.xml": f"<x {text} xmlns:table='b'><office:body><office:spreadsheet>{rows}</office:spreadsheet>"
            "</office:body></x>"
        }
    )
    page = "<draw:page><draw:frame><draw:text-box><text:p>words</text:p></draw:text-box></draw:frame></draw:page>"
    made["a.odp"] = _zipped(
        {
            "content.xml": f"<x {text} xmlns:draw='d'><office:body><office:presentation>{page}</office:presentation>"
            "</office:body></x>"
        }
    )
    made["a.xls"] = workbook_stream({"s": shape(1, "words") + cell_number(0, 0, 5, 2) + cell_number(1, 1, 5)})
    chapter = "<html><body><h1>Chapter</h1><p>words</p></body></html>"
    package = (
        "<package><manifest><item id='c' href='c.xhtml' media-type='application/xhtml+xml'/></manifest>"
        "<spine><itemref idref='c'/></spine></package>"
    )
    made["a.epub"] = _zipped({"a.opf": package, "c.xhtml": chapter})
    return made


def _saved(thing: Any) -> bytes:
    stream = io.BytesIO()
    thing.save(stream)
    return stream.getvalue()


def _zipped(parts: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()
