"""What is spelt like a name and names nothing: the usual headings of sections, numbered parts, literals, numerals.

Every manual has an Overview, a Figure 3 and a ``None`` of its own. As entities they would lead all lists of entities,
and connect documents that have nothing else in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from core.rag.extraction.words import normalize_name
from libs.regexes import regex

_LITERALS: Final = frozenset({"true", "false", "null", "nil", "none", "undefined"})
#: References to parts of a text: Figure 3, Listing 10-1, Table A. Not those that are also names of things elsewhere:
#: Chapter 11, Section 230, Article 5, Phase 2.
_PARTS: Final = (
    r"figures?|figs?|listings?|tables?|steps?|examples?|equations?|exercises?"
    r"|abbildung(?:en)?|tabellen?|schritte?|beispiele?|tableaux?|étapes?|exemples?"
    r"|figuras?|tablas?|pasos?|ejemplos?|figur[ae]|tabell[ae]|pass[oi]|esemp[io]|tabelas?|passos|exemplos?"
)
#: Parts of laws and contracts, which are words of their own without a number. Not Satz, a file format of some sort.
_CLAUSES: Final = (
    r"clauses?|(?:sub)?paragraphs?|subsections?|(?:unter)?abs(?:atz(?:es)?|ätzen?)|satz(?:es)?|sätzen?|nummern?"
    r"|buchstaben?|teils?|kapitels?|abschnitts?|anlagen?|anhangs?|punkte?|ziffern?|zeilen?|seiten?|alinéas?|paragraphes?|apartados?|párrafos?|commi?"
)
_PART: Final = regex(rf"(?:{_PARTS})|(?:{_PARTS}|{_CLAUSES}|eqs?|abb|tab)(?: (?:[a-z]|[a-z]?[0-9]+))+")
#: Headings that only count: § 32, 3., Chapter 2, Part IV, Erster Abschnitt. A year is more, and so is Section 508.
_COUNTED: Final = regex(
    r"(?:[0-9]{1,3}|§ ?[0-9]+)[a-z]?"
    r"|(?:chapter|part|kapitel|teil|(?:unter)?abschnitt|anlage|anhang|annex|appendix|chapitre|partie|annexe|capítulo"
    r"|parte|anexo|capitolo|allegato|hoofdstuk|deel) (?:[0-9]{1,3}|[a-z]|[ivxl]+)"
)
_ORDINAL: Final = regex(
    r"(?:erste|zweite|dritte|vierte|fünfte|sechste|sieb(?:en)?te|achte|neunte|zehnte|elfte|zwölfte)[nrs]?"
    r" (?:(?:unter)?abschnitt|teil|kapitel|titel|buch)e?s?"
)
#: What a heading in capitals of a manual ends with: GLOBAL FLAGS, POSITIONAL ARGUMENTS.
_KINDS: Final = frozenset("arguments commands examples flags operands options parameters switches".split())
#: Roman numerals alone, as of centuries and chapters; IV and VI have other meanings.
_NUMERAL: Final = regex(r"X{1,3}(?:I[XV]|V?I{0,3})|V?I{2,3}|IX")
#: As headings, these are numbers, too.
_CHAPTER: Final = regex(r"(?:IV|VI?|I)\.?")

_HEADINGS: Final = """
see also|also see|external links|further reading|related links|related topics|related articles|related documentation
related information|related resources|additional resources|more information|more info|learn more|resources|links
references|bibliography|notes|note|notes and references|remarks|remark|warning|warnings|caution|important|tip|tips|todo
overview|introduction|intro|summary|abstract|conclusion|conclusions|discussion|background|contents|table of contents|toc
in this article|on this page|in this section|appendix|acknowledgements|acknowledgments|colophon|preface|foreword
short description|long description|inputs|outputs
usage|how it works|when to use it|getting started|next steps|what's next|before you begin|prerequisites|requirements
frequently asked questions|faq|faqs|name|synopsis|syntax|description|parameters|params|arguments|args|returns|return
return value|return values|return type|raises|throws|exceptions|errors|bugs|author|authors|copyright|conforming to
standards|versions|attributes|elements|child elements|parent elements|attributes and elements|properties|methods|fields
constructors|type parameters|early life|personal life|biography
options|general options|commands|environment|environment variables|files|exit status|exit codes|diagnostics|history
reporting bugs|caveats|limitations|compatibility|credits|license|translation
flags|switches|operands|subcommands|return codes|exit code|api reference
ingredients|directions|method|preparation|servings|agenda|attendees|in attendance|present|participants|announcements
action items|minutes|next meeting|upcoming meetings
added|changed|deprecated|removed|fixed|security|unreleased|features|new features|bug fixes|bugfixes|fixes|changes
other changes|breaking changes|improvements|improved|enhancements|performance|internal|dependencies|miscellaneous|other
installation|installing|configuration|contributing|quick start|quickstart|maintainers|testing
results|results and discussion|materials and methods|related work|future work|experiments|evaluation
experimental setup|funding|acknowledgment|acknowledgement|data availability|conflict of interest|conflicts of interest
package contents|module contents|subpackages|submodules|method summary|method details|method detail|field summary
field details|constructor summary|constructor details|nested class summary|enum constant summary
enum constant details|class hierarchy|package hierarchy|all classes and interfaces|all packages|index
documentation|docs|what's new|what's changed|highlights|known issues|new contributors|contributors|release notes
example|examples|beispiel|beispiele|exemple|exemples|ejemplo|ejemplos|esempio|esempi|exemplos|przykłady|örnekler

siehe auch|weblinks|einzelnachweise|literatur|literaturverzeichnis|quellen|quellenverzeichnis|inhalt|inhaltsverzeichnis
einleitung|einführung|übersicht|überblick|zusammenfassung|fazit|ausblick|zusammenfassung und ausblick|voraussetzungen
hinweis|hinweise|anmerkung|anmerkungen|beschreibung|verwendung|parameter|rückgabewert|nächste schritte|erste schritte
bezeichnung|optionen|allgemeine optionen|befehle|umgebung|umgebungsvariablen|dateien|exit-status|rückgabewerte|fehler
fehler melden|diagnose|geschichte|autor|autoren|urheberrecht|übersetzung|lizenz|kompatibilität|einschränkungen
zutaten|zubereitung|tagesordnung|teilnehmer|anwesend|protokoll|eingangsformel|schlussformel
häufige fragen|weiterführende informationen|weitere informationen|weitere infos|vorwort|anhang|schritt für schritt

voir aussi|sommaire|table des matières|résumé|prérequis|pré-requis|remarque|remarques|références|bibliographie
paramètres|valeur renvoyée|valeur de retour|utilisation|prochaines étapes|étapes suivantes|pour aller plus loin
nom|commandes|environnement|variables d'environnement|fichiers|code de retour|état de sortie|diagnostics|historique
ingrédients|préparation|ordre du jour|compte rendu
bogues|signalement de bogues|signaler des bogues|auteur|auteurs|traduction|licence|limitations|compatibilité
ressources|ressources officielles|ressources communautaires|liens externes|notes et références|syntaxe|aperçu

véase también|ver también|introducción|resumen|conclusión|conclusiones|contenido|contenidos|índice|requisitos previos
prerrequisitos|requisitos|notas|nota|referencias|bibliografía|parámetros|descripción|descripción general|uso|sintaxis
nombre|sinopsis|opciones|órdenes|entorno|variables de entorno|ficheros|archivos|estado de salida|valor devuelto
diagnósticos|historia|errores|fallos|informar de errores|informe de errores|autor|autores|traducción|licencia|ejemplos
ingredientes|preparación|elaboración|orden del día|asistentes
próximos pasos|siguientes pasos|recursos|recursos oficiales|recursos de la comunidad|enlaces externos

vedi anche|voci correlate|introduzione|sommario|indice|riepilogo|conclusione|conclusioni|prerequisiti|requisiti|note
nome|opzioni|comandi|ambiente|variabili d'ambiente|file|stato d'uscita|valore restituito|diagnostica|storia|bug
segnalare i bug|autore|autori|traduzione|licenza
riferimenti|bibliografia|parametri|descrizione|utilizzo|sintassi|collegamenti esterni|panoramica|passaggi successivi
risorse|ingredienti|preparazione|ordine del giorno|partecipanti

veja também|introdução|resumo|sumário|conclusão|conteúdo|pré-requisitos|referências|parâmetros|descrição|sintaxe
sinopse|opções|comandos|variáveis de ambiente|arquivos|ficheiros|valor de retorno|diagnóstico|histórico|autor|tradução
licença|relatando bugs
próximos passos|ligações externas|visão geral

zie ook|inleiding|overzicht|samenvatting|conclusie|inhoud|voorbeeld|voorbeelden|opmerkingen|referenties|vereisten
beschrijving|gebruik|externe links|naam|opties|omgeving|bestanden|fouten|auteur|auteurs|vertaling

nazwa|składnia|opis|opcje|środowisko|pliki|zobacz też|zobacz także|autorzy|błędy|zgłaszanie błędów|tłumaczenie
isim|kullanım|açıklama|seçenekler|ortam değişkenleri|dosyalar|yazan|çeviren|ilgili belgeler|hata bildirimi
ayrıca bakınız

см. также|введение|обзор|заключение|содержание|оглавление|пример|примеры|примечание|примечания|литература|ссылки
имя|название|опции|команды|переменные среды|переменные окружения|окружение|файлы|код завершения|возвращаемое значение
диагностика|история|ошибки|дефекты|сообщения об ошибках|автор|авторы|перевод|лицензия|смотрите также
параметры|описание|использование|требования|синтаксис|замечания

名称|名字|总览|概要|描述|选项|命令|环境变量|文件|退出状态|诊断|历史|错误|报告错误|作者|翻译|版权
食材|原料|做法|步骤|议程|与会者
概述|简介|介绍|引言|前言|目录|总结|小结|结论|参考|参考资料|参考文献|参见|另请参阅|注意|备注|示例|例子|参数|返回值|语法|说明|常见问题
名前|書式|形式|オプション|コマンド|環境変数|ファイル|終了ステータス|返り値|診断|履歴|歴史|バグ|バグの報告|著者|作者|翻訳|著作権|解説
材料|作り方|手順|議題|議事録|出席者
概要|はじめに|目次|まとめ|参考資料|関連項目|備考|例|引数|戻り値|構文|説明|使い方|前提条件|脚注|外部リンク|出典
개요|소개|목차|요약|결론|참고|참고 자료|예제|매개변수|반환 값|설명|사용법|이름|옵션|환경 변수|파일
"""
#: What is done or how much of it there is: Sicherung von Daten, Vielzahl von Tools. Not Regierung von Schwaben
#: or Belagerung von Aachen.
_ABSTRACT: Final = regex(
    r"(?!Regierung|Verfassung|Belagerung|Eroberung|Befreiung|Verteidigung|Plünderung|Zerstörung|Besetzung|Teilung)"
    r".*(?:ung|ungen|heit|heiten|keit|keiten|tion|tionen|zahl|schaften)|Rahmen|Form|Formen|Art|Arten|Reihe|Menge"
    r"|Teil|Teile|Rolle|Fall|Beispiele?|Einsatz|Verhalten|Liste|Listen|Gruppe|Gruppen|Export|Import|Zugriff"
)
#: What is named after its place.
_EVENT: Final = regex(
    "(?:Schlacht|Gefecht|Belagerung|Massaker|Vertrag|Frieden|Edikt|Erdbeben|Abkommen|Protokoll)(?:e?s)?"
)
_PLURAL: Final = regex(r".{3,}(?:en|ern|eln)")
_NUMBERS: Final = regex(r"(?:[0-9]+ )+")
_QUESTION_MARKS: Final = ("?", "？", "\u037e")


def is_literal(name: str) -> bool:
    """Return whether a normalised name is a value that all code has: ``None``, ``true``."""
    return name in _LITERALS


def names_nothing(text: str, name: str) -> bool:
    """Return whether a phrase with capitals is no name: a literal, numbered part, numeral, or heading in capitals.

    Args:
        text: As it is spelt. In capitals, a single word for a part is a keyword (``TABLE``).
        name: The same, normalised.
    """
    if name in _LITERALS:
        return True
    if not text.isupper():
        return _PART.fullmatch(name) is not None or _ORDINAL.fullmatch(name) is not None
    if _NUMERAL.fullmatch(text) or is_usual_heading(name):
        return True
    return " " in name and (name.rpartition(" ")[2] in _KINDS or _PART.fullmatch(name) is not None)


def is_description(words: Sequence[str]) -> bool:
    """Return whether a German phrase with ``von`` or ``für`` joins two common nouns, as far as their endings tell.

    ``Sicherung von Daten`` and ``Repositorien für Dokumente`` do, ``Vertrag von Rom`` and ``Institut für Physik`` do
    not.
    """
    if len(words) != 3:
        return False
    first, joiner, last = words
    if joiner == "von":
        return _ABSTRACT.fullmatch(first) is not None and _PLURAL.fullmatch(last) is not None
    return joiner == "für" and _PLURAL.fullmatch(first) is not None


def is_of_name(words: Sequence[str]) -> bool:
    """Return whether a German phrase is a noun before ``von`` and a name of several words: ``Rekord von John Elway``.

    That noun belongs to the name of a battle or treaty, and so does a given name (``Annette von Droste zu Hülshoff``).
    """
    return (
        len(words) > 3
        and words[1] == "von"
        and words[2][0].isupper()
        and words[3][0].isupper()
        and _EVENT.fullmatch(words[0]) is None
    )


def is_usual_heading(name: str) -> bool:
    """Return whether this normalised heading is usual in documents of all sorts, with or without a number."""
    return name in _headings() or _NUMBERS.sub("", name, count=1) in _headings()


def heads_no_thing(heading: str, name: str) -> bool:
    """Return whether what a heading says is no name: a question, a numbered part, or what sections are usually called.

    Args:
        heading: As it is spelt.
        name: The same, normalised.
    """
    if heading.endswith(_QUESTION_MARKS) or is_usual_heading(name) or names_nothing(heading, name):
        return True
    return _COUNTED.fullmatch(name) is not None or _CHAPTER.fullmatch(heading) is not None


@cache
def _headings() -> frozenset[str]:
    return frozenset(normalize_name(heading) for line in _HEADINGS.splitlines() for heading in line.split("|")) - {""}
