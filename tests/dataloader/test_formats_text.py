"""Text in every encoding, and files that are known by what is in them: source code, and what has no known ending."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.dataloader.encodings import decode_bytes
from libs.dataloader.text import clean_text
from tests.dataloader.filetools import URI, convert, reason

GERMAN = "Die schöne Müllerin aß Äpfel für 3,50 € – „köstlich“, sagte sie.\n"
FRENCH = "L'été était très chaud cette année à Besançon. Où est le café ?\n"
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。\n"
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах.\n"
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. Zażółć gęślą jaźń.\n"
CHINESE = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。\n"


# -- encodings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GERMAN, FRENCH, JAPANESE, RUSSIAN, POLISH, CHINESE, "plain ASCII text\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_a_byte_order_mark_or_as_utf8(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text


@pytest.mark.parametrize("text", [GERMAN, FRENCH, JAPANESE, RUSSIAN, POLISH, CHINESE, "plain ASCII text\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_byte_order_mark(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text
    assert convert("a.txt", (codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b"") + text.encode(encoding)).content


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (FRENCH, "latin-1"),
        (FRENCH, "cp1252"),
        ("Señor Núñez pagó 25 por el café.\n", "latin-1"),
        ("El molino gira con la marea. ¿Cuándo? Mañana, señor Núñez.\n", "latin-1"),
        ("¿Cuándo abre el molino?\n¡Mañana por la mañana!\n", "cp1252"),
        ("Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj.\n", "iso-8859-3"),
        ("It’s “quoted” – and costs £3.\n", "cp1252"),
        ("Kvinnan åt köttbullar.\n", "latin-1"),
        ("größer", "cp1252"),
        (GERMAN, "mac-roman"),
        (FRENCH, "mac-roman"),
        ("The café owner doesn’t know – “really”.\n", "mac-roman"),
        ("La información está en la montaña.\n", "mac-roman"),
        ("Møllen er åben på lørdag.\n", "mac-roman"),
        ("Déjà vu à la forêt: élève, hôtel. Où êtes-vous allés cet été? Ça va très bien, merci.\n", "latin-1"),
        (JAPANESE, "shift-jis"),
        ("日本語のテキスト\n", "cp932"),
        ("BMWの新型車が港の近くで発表された。\n", "shift-jis"),
        ("BMW는 항구 근처에서 새 차를 발표했다.\n", "euc-kr"),
        ("MZ世代的年轻人喜欢在海边散步。\n", "gb18030"),
        ("ﾃｽﾄです。カタカナ\n", "cp932"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso-2022-jp"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        ("Щоб установити програму, слід завантажити архів.\n", "cp1125"),
        (POLISH, "cp1250"),
        ("A fűnyíró nem működik, mert elromlott az öregebbik kötél.\n", "cp1250"),
        ("Dnes večer půjdeme do divadla, těšíme se.\n", "cp1250"),
        (POLISH, "iso-8859-2"),
        ("Žluťoučký kůň úpěl ďábelské ódy. Dnes večer půjdeme do divadla, těšíme se.\n", "iso-8859-2"),
        ("Šest tisoč ljudi je včeraj prišlo na koncert; začel se je že ob štirih.\n", "iso-8859-2"),
        (RUSSIAN, "iso-8859-5"),
        ("フォルダー C:\\Users\\山田\\書類 にあります。", "cp932"),
        ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n", "iso-2022-kr"),
        (CHINESE, "gb18030"),
    ],
)
def test_old_encodings_are_detected(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text


@pytest.mark.parametrize(
    "text",
    [
        "naïve", "El Niño", "voilà!", "“x”", "‘x’", "«oui»", "«oui» – “x”…", "Où est-il ?", "½ cup", "Noël", "pâté",
        "città", "AÇÃO", "EDIÇÃO 2", "1\n00:00:01,000 --> 00:00:02,000\nGrüße!\n",
        "He was naïve.", "“El Niño” – a naïve view", "Menu: piñata party, jalapeño dip – 5 €",
    ],
)  # fmt: skip
def test_few_words_with_an_accent_are_western(text: str) -> None:
    assert decode_bytes(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize(
    ("comment", "encoding"),
    [
        ("Вчера мы получили", "cp1251"),
        ("параметр функции", "koi8-r"),
        ("Цена товара", "cp866"),
        ("Θερμοκρασία νερού", "cp1253"),
        ("הערה חשובה", "cp1255"),
    ],
)
def test_a_comment_in_another_script_among_code(comment: str, encoding: str) -> None:
    code = "".join(f"def function_{number}(value, other):\n    return value * other\n" for number in range(20))
    text = f"{code}# {comment}\nx = 1\n"
    assert convert("a.py", text.encode(encoding)).content == text


@pytest.mark.parametrize(
    "line",
    [
        'x = re.sub("[äöüß]", "", text)', 'VOWELS = "aàáâãäåæeèéêëiìíîï"', "translate('ÁÉÍÓÚÜÑ', 'AEIOUUN')",
        "-- ÅÄÖ åäö", "# »ÖÄÜ« – …", "# 20 °C ±½…", "——— Seite 3 ———",
        "LETTERS = 'ŠŽšžŸÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïðñòóôõöùúûüýÿ'",
    ],
)  # fmt: skip
def test_accented_letters_in_a_row_among_code_are_western(line: str) -> None:
    text = "def function(value, other):\n    return value * other\n" * 20 + line
    assert convert("a.py", text.encode("cp1252")).content == text


@pytest.mark.parametrize("encoding", ["cp1257", "iso-8859-4", "iso-8859-13"])
@pytest.mark.parametrize(
    "text",
    [
        "Latvijas galvaspilsēta ir Rīga.",
        "Vilnius yra Lietuvos sostinė.",
        "Šiandien graži diena, einame į mišką uogauti.",
    ],
)
def test_sentences_of_baltic_languages_stay_what_they_are(text: str, encoding: str) -> None:
    assert decode_bytes(text.encode(encoding)).text == text


def test_several_languages_in_one_file() -> None:
    text = (
        GERMAN + FRENCH + "El niño comió paella con ñoquis. ¡Qué rico!\nKvinnan åt köttbullar.\nO João: não é ótimo?\n"
    )
    assert convert("a.txt", text.encode("cp1252")).content == text


def test_utf8_with_a_broken_byte_stays_utf8() -> None:
    data = (GERMAN * 5).encode() + b"\xff broken \xe4\n" + (FRENCH * 5).encode()
    text = convert("a.txt", data).content
    assert text.startswith(GERMAN)
    assert text.endswith(FRENCH)
    assert "�" in text


@pytest.mark.parametrize("words", ["\n", "follows\n", "follows here and there\n", "follows here and there\n" * 4])
@pytest.mark.parametrize(
    "start", ["a\x00b normal text ", "a\x00b\x07c normal text with words that ", "\x00a b c d e f g "]
)
def test_a_control_character_makes_no_other_script(start: str, words: str) -> None:
    text = start + words
    assert convert("a.txt", text).content == text.replace("\x00", "").replace("\x07", "")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_what_was_encoded_twice_is_read_as_it_was_meant(encoding: str) -> None:
    text = "1986–1990: the café’s “Größe”, 5 € … 日本 😀 à la carte, £3."
    once = "".join(bytes((byte,)).decode(encoding, "ignore") or chr(byte) for byte in text.encode())
    assert once != text
    assert convert("a.txt", once).content == text
    assert convert("a.html", f"<meta charset=utf-8><p>{once}</p>").content == text
    mixed = f"{once} IRMÃ» costs £3."
    assert convert("a.txt", mixed).content.startswith(text)


@pytest.mark.parametrize("text", ["“donâ€™t” is shown instead of ’", "«IRMÃ» à «NÃO» Â° â la", "Ã¼ber"])
def test_what_may_be_meant_as_it_is_written_stays(text: str) -> None:
    assert convert("a.txt", text).content == text


def test_an_encoding_that_the_user_insists_on() -> None:
    assert convert("a.txt", "žluťoučký".encode("cp1250"), encoding="cp1250").content == "žluťoučký"
    assert "not ascii text" in reason("a.txt", GERMAN, encoding="ascii")


def test_a_declared_charset_counts_where_the_bytes_are_not_utf8() -> None:
    assert decode_bytes("Łódź".encode("cp1250"), declared="windows-1250").text == "Łódź"
    assert decode_bytes("größer".encode(), declared="iso-8859-1").text == "größer"
    assert decode_bytes(b"caf\xe9", declared="no-such-charset").text == "café"
    assert decode_bytes(JAPANESE.encode("iso-2022-jp"), declared="iso-2022-jp").text == JAPANESE
    assert decode_bytes(b"aGFsbG8=", declared="base64").text == "aGFsbG8="


def test_an_xml_declaration_counts_where_the_bytes_are_not_utf8() -> None:
    for words, encoding in (("Łódź", "iso-8859-2"), ("мир", "ibm866"), ("größer", "UTF-16")):
        text = f'<?xml version="1.0" encoding="{encoding}"?>\n<a>{words}</a>'
        data = text.encode("utf-8" if encoding == "UTF-16" else encoding)
        assert convert("a.xml", data).content == text
    assert decode_bytes(b'<?xml version="1.0" encoding="ibm866"?>\xd0', declared="cp1251").text.endswith("Р")


@given(st.text())
def test_every_text_survives_as_utf8_up_to_cleaning(text: str) -> None:
    assert clean_text(decode_bytes(text.encode("utf-8", "surrogatepass")).text).encode() is not None
    clean = clean_text(text)
    assert clean_text(clean) == clean


@given(st.binary(max_size=400))
def test_decoding_never_fails_and_cleaned_text_can_be_stored(data: bytes) -> None:
    text = clean_text(decode_bytes(data).text)
    text.encode("utf-8")
    assert "\x00" not in text
    assert "\r" not in text


def test_cleaning() -> None:
    assert (
        convert("a.txt", b"\xef\xbb\xbfa\r\nb\rc\x00d\x1b[31mred\x1b[0m\xe2\x80\xa8e\xef\xbb\xbff").content
        == "a\nb\ncdred\nef"
    )
    assert clean_text("a\ud800b\ud83d\ude00c") == "a\ufffdb😀c"
    assert clean_text("Donau\u00addampf") == "Donaudampf"
    # cp1252 that was taken for Latin-1 before it was saved as UTF-8
    assert convert("a.txt", "It\x92s \x93late\x94\x85 at \x805\x81".encode()).content == "It’s “late”… at €5"
    assert clean_text("one\x85two") == "one\ntwo"
    decomposed = "e\u0301"
    assert clean_text(decomposed) == decomposed


# -- code and names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("a.rs", "rust"),
        ("a.TS", "typescript"),
        ("Makefile", "make"),
        ("Dockerfile", "dockerfile"),
        ("a.h", "cpp"),
        ("a.yaml", "yaml"),
        ("a.m", "matlab"),
        ("CMakeLists.txt", "cmake"),
        ("nginx.conf.j2", "ini"),
        ("mill.env.example", "ini"),
        ("mill.service", "ini"),
        ("Dockerfile.template", "dockerfile"),
    ],
)
def test_code_keeps_its_text_and_its_language(name: str, language: str) -> None:
    text = "x = 1\n\tindented # kept\n"
    document = convert(name, text)
    assert (document.content, document.format, document.title) == (text, f"code:{language}", None)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("shop/compose.yaml", "services:\n  web:\n    title: none\n", "shop/compose.yaml"),
        ("a/shop/main.tf", 'title = "x"\n', "a/shop/main.tf"),
        ("z/a/shop/Dockerfile", "FROM scratch\n", "a/shop/Dockerfile"),
        ("ci/a.yml", "# Checks\nname: 'All  checks' # daily\non: push\n", "All checks"),
        ("a.yaml", "asyncapi: 3.0.0\ninfo:\n  version: 1\n  title: Mills\n", "Mills"),
        ("a/chart.yaml", "name: {{ .Values.name }}\n", "a/chart.yaml"),
        ("shop/main.py", "name: str = 'mill'\n", None),
    ],
)
def test_what_is_called_alike_in_each_folder_is_called_by_itself_or_by_that(name: str, text: str, title: str) -> None:
    document = convert(name, text)
    assert (document.content, document.title) == (text, title)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        (
            "a.xml",
            "<p>p&#xF3;s &#233; &#x1F600; &lt; &#60; &#x26;#233; &#9999999;</p>",
            "<p>pós é 😀 &lt; &#60; &#x26;#233; &#9999999;</p>",
        ),
        ("de.properties", r"close=Schlie\u00dfen \u003d \\u00df \ud83d\ude00", r"close=Schließen \u003d \\u00df 😀"),
        ("a.java", r'String close = "Schlie\u00dfen";', r'String close = "Schlie\u00dfen";'),
    ],
)
def test_letters_that_are_written_in_ascii_are_letters(name: str, data: str, text: str) -> None:
    assert convert(name, data).content == text


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("README", "just words", "text"),
        ("page", "<!DOCTYPE html><html><body><p>words</p></body></html>", "markdown"),
        ("data", '[{"a": 1}, {"a": 2}]', "records"),
        ("script", "#!/usr/bin/env python3\nprint(1)\n", "code:python"),
        ("mail", "From: a@b.c\nSubject: Hi\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\nbody", "markdown"),
        ("a.unknown", "words in an unknown format", "text"),
        ("feed", "<?xml version='1.0'?><rss><item>words</item></rss>", "code:xml"),
    ],
)
def test_what_has_no_known_ending_is_looked_at(name: str, data: str, kind: str) -> None:
    assert convert(name, data).format == kind


@pytest.mark.parametrize(
    ("name", "mime_type", "kind"),
    [
        ("data", "text/csv; charset=utf-8", "table"),
        ("data", "application/octet-stream", "text"),
        ("data.php", "text/html", "markdown"),
        ("data.csv", "text/plain", "table"),
        ("data", "application/vnd.api+json", "text"),
        ("data", "application/atom+xml", "code:xml"),
        ("data", "application/no-such-thing", "text"),
    ],
)
def test_a_media_type_helps_where_it_says_something(name: str, mime_type: str, kind: str) -> None:
    from libs.dataloader.formats import FileData, read_document

    file = FileData(f"https://example.org/{name}", b"a,b\n1,2\n")
    assert read_document(file, mime_type).format == kind


def test_labels_of_myst_are_not_text_and_its_documents_are_links() -> None:
    text = "(mill)=\n# The mill\n\nSee {doc}`guide/dam` and {doc}`the gate </gate.md>`.\n\n(f.w:1)=\n## Wheel\n"
    code = "\n```\n(mill)=\n{doc}`none`\n```\n"
    document = convert("a.md", text + code)
    assert document.content == "# The mill\n\nSee guide/dam and the gate.\n\n## Wheel\n" + code
    assert [(link.target, link.text) for link in document.links] == [
        (f"{URI}guide/dam.md", ""),
        (f"{URI}gate.md", "the gate"),
    ]
    assert convert("a.md", "f(x)=1\n(x)= 2\n").content == "f(x)=1\n(x)= 2\n"


# -- books ---------------------------------------------------------------------------------------------------------


BOOK = """The Project Gutenberg eBook of The Lock

You may copy it under the terms of the license. There is no fee.

Title: The Lock
        or, A River in Spring

Author: Ida Brandt

*** START OF {} PROJECT GUTENBERG EBOOK THE LOCK ***

CHAPTER I

The keeper opened the lock. The end of the project was near.
{}
*** END OF {} PROJECT GUTENBERG EBOOK THE LOCK ***

1.F.3. LIMITED RIGHT OF REPLACEMENT OR REFUND
"""


@pytest.mark.parametrize(
    ("the", "last"), [("THE", ""), ("THIS", "\n\nEnd of Project Gutenberg's The Lock, by\nIda Brandt\n\n")]
)
def test_a_book_of_project_gutenberg_has_no_licence(the: str, last: str) -> None:
    document = convert("pg1.txt", BOOK.format(the, last, the).encode())
    assert document.content == "CHAPTER I\n\nThe keeper opened the lock. The end of the project was near."
    assert document.title == "The Lock or, A River in Spring"
    assert document.metadata["author"] == "Ida Brandt"


def test_a_text_that_mentions_the_mark_of_a_book_stays_as_it_is() -> None:
    text = "Books begin with *** START OF THE PROJECT GUTENBERG EBOOK.\n"
    assert convert("a.txt", text.encode()).content == text
