"""Sections that a question asks for by what they are for: "What do I need for a rye loaf?" asks for "Ingredients".

Recipes, manuals, runbooks and articles of a help centre have the same few sections, whose names share no word with what
people ask: nobody says "mitigation" who asks what to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from libs.regexes import regex


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a section, or a line with a label, is for.

    Attributes:
        asks: What of a question asks for it.
        names: What its heading or label is, in lower case.
    """

    asks: re.Pattern[str]
    names: re.Pattern[str]

    def is_of(self, name: str) -> bool:
        """Return whether a heading or label is of this kind: "2.1 Requirements", "Conclusion / Resolution"."""
        return any(self.names.fullmatch(part) is not None for part in _JOINED.split(name.casefold()))

    def above(self, headings: Sequence[str]) -> Sequence[str] | None:
        """Return the headings above the section of this kind, of those above a passage; ``None`` if none is of it."""
        return next((headings[:place] for place, name in enumerate(headings) if self.is_of(name)), None)

    def rest(self, question: str) -> str:
        """Return what is left of a question without what asks for it: what the section is to be about."""
        return self.asks.sub(" ", question)


def _purpose(asks: str, names: str) -> Purpose:
    named = rf"\W*(?:\d[\d.]*\s+)?(?:{names})(?:\s(?:for|of|to|für|zu[mr]?|pour|de|para|per)\b.*)?\W*"
    return Purpose(regex(asks, re.IGNORECASE), regex(named))


#: Between the names of a section that has several.
_JOINED: Final = regex(r"\s*[/&,]\s*|\s+(?:and|und|et|y|e)\s+")
_PERSON: Final = "(?:i|we|you|one)"
_TO_FIX: Final = "(?:fix|resolve|solve|mitigate|remedy|troubleshoot|recover from|respond to|react to|deal with)"

#: In English, German, French, Spanish, Italian, Portuguese, Russian, Chinese and Japanese.
_PURPOSES: Final = (
    _purpose(
        rf"\bwhat (?:do|will|would|should) {_PERSON} need\b(?! to (?:know|do)\b)|\b(?:what|which) ingredients\b"
        rf"|\b(?:what|which) \w+ (?:do|will|would) {_PERSON} need (?:for|to)\b|\bwhat is (?:needed|required)\b"
        r"|\bwas (?:brauche?t?n?|benötige?t?n?) (?:ich|wir|man)\b|\bwelche zutaten\b|\bwas wird benötigt\b"
        r"|\bde quoi (?:ai-je|a-t-on|avons-nous) besoin\b|\bqu['’]est-ce qu['’]il (?:me )?faut\b|\bque faut-il\b"
        r"|\bquels ingrédients\b|\bqu[eé] (?:necesito|se necesita)\b|\bqué ingredientes\b|\bcosa (?:serve|mi serve)\b"
        r"|\bquali ingredienti\b"
        r"|\b(?:o que|do que) (?:eu )?(?:preciso|é (?:preciso|necessário))\b"
        r"|\bчто (?:мне )?(?:понадобится|требуется|нужно)\b"
        r"|需要(?:准备|準備)?(?:什[么麼]|哪些)|(?:何|なに)が(?:必要|要)|必要なもの(?=は|を)",
        r"ingredients?|what you(?:['’]ll| will)? need|requirements?|pre-?requisites?|materials?|equipment|supplies"
        r"|before you (?:begin|start)|zutaten(?:liste)?|voraussetzungen|anforderungen|ausrüstung|ingrédients?"
        r"|pré-?requis|matériel|ingredientes|requisitos|ingredienti|(?:pre)?requisiti"
        r"|pré-?requisitos|(?:предварительные )?(?:требования|условия)|ингредиенты|(?:前提|先决|前置)[条條]件"
        r"|(?:系统|环境)要求|准备工作|食材|材料|(?:前提|必要)条件|要件|必要なもの|動作環境",
    ),
    _purpose(
        rf"\bwhat (?:to do|(?:do|should|can|must|could) {_PERSON} do)\b|\bwhat is to be done\b"
        rf"|\bhow (?:to|(?:do|can|should|could) {_PERSON}) {_TO_FIX}\b"
        r"|\bhow (?:is|are|can) \b(?=.*\b(?:fixed|resolved|solved)\b)"
        r"|\bwas (?:tun|ist zu tun|(?:mache?n?|kann|können|muss|müssen|sollen?) (?:ich|wir|man)(?: (?:tun|machen))?)\b"
        r"|\bwie (?:behebe|löse|beseitige)n? (?:ich|wir|man)\b"
        r"|\bwie (?:kann|können) (?:ich|wir|man)\b(?=.*\b(?:beheben|lösen|beseitigen)\b)"
        r"|\bque (?:faire|dois-je faire|puis-je faire)\b|\bcomment (?:résoudre|corriger|réparer|régler)\b"
        r"|\bqué (?:hacer|hago|debo hacer)\b|\bc[oó]mo (?:soluciono|solucionar|resolver|arreglar)\b"
        r"|\bcosa (?:fare|faccio|devo fare)\b|\bcome (?:risolvere|risolvo)\b"
        r"|\bo que (?:fazer|faço|devo fazer|posso fazer)\b|\bcomo (?:resolver|resolvo|corrigir|corrijo)\b"
        r"|\bчто (?:мне )?делать\b|\bкак (?:мне )?(?:исправить|устранить|решить)\b|怎[么麼][办辦]"
        r"|(?:如何|怎[么麼樣样])(?:解[决決]|[处處]理|修[复復])|(?:解決|対処|修正)(?:する(?:には|方法)|方法)",
        r"mitigations?|resolutions?|solutions?|remed(?:y|iation)|fix(?:es)?|workarounds?|what to do"
        r"|recommended actions?|how to (?:fix|resolve|solve).*|lösung(?:en)?|abhilfe|(?:fehler)?behebung"
        r"|(?:gegen)?maßnahmen|résolution|contournement|soluci[oó]n(?:es)?|soluzion[ei]|solução|soluções|correção"
        r"|решени[ея]|исправление|устранение|(?:解[决決]|[处處]理|修[复復])(?:方案|方法|[办辦]法)|解決策|対処(?:法|方法)|対策|回避策",
    ),
    _purpose(
        r"\bwhy\b|\bwhat (?:causes|caused|is the (?:cause|reason))\b|\bwarum\b|\bweshalb\b|\bwieso\b|\bpourquoi\b"
        r"|\bpor qu[eêé]\b|\bperché\b|\bпочему\b|[为為](?:什[么麼]|何)|なぜ|どうして|原因(?:は|是)",
        r"(?:root |possible )?causes?|reasons?|(?:mögliche )?ursachen?|gründe?|causes? possibles?|raisons?|causas?"
        r"|motivos?|razões|(?:возможн\w+ )?причин[аы]|(?:可能(?:的|な)?|考えられる)?原因(?:分析)?|理由",
    ),
    _purpose(
        r"\b(?:which|what are the|what) symptoms\b|\bhow (?:do|can|will|would) i (?:notice|recogni[sz]e)\b"
        r"|\b(?:welche|was sind die) (?:symptome|anzeichen)\b|\bworan (?:erkenne|merke)\b"
        r"|\bquels (?:sont les )?symptômes\b|\b(?:cuáles son los|qué) síntomas\b|\bquali (?:sono i )?sintomi\b",
        r"symptoms?|problem|issue|symptome?|anzeichen|symptômes?|síntomas?|sintom[oi]",
    ),
    _purpose(
        r"\bwho (?:all )?(?:attended|participated|took part|joined|was (?:present|there|at|in))\b"
        r"|\bwho were the (?:attendees|participants)\b"
        r"|\b(?:which|what) people (?:attended|participated|took part|joined|were)\b"
        r"|\bwer (?:nahm|war (?:anwesend|dabei|bei|auf))\b|\bqui (?:était présent|a (?:participé|assisté))\b"
        r"|\bquién(?:es)? (?:asisti|particip|estuv)\w+|\bchi (?:era presente|ha partecipato)\b",
        r"(?:\w+ )?(?:present|attendees|participants|attendance|anwesend(?:e|heit)?|teilnehmer(?:innen)?|teilnehmende)"
        r"|(?:introduction|list) of (?:attendees|participants)|roll call|présents|asistentes|participantes|presenti"
        r"|partecipanti",
    ),
    _purpose(
        r"\bwhat (?:was|were|has been|did .{1,60}?) (?:decided?|agreed?|resolved?|concluded?)\b"
        r"|\bwhat (?:was|were|is|are) the (?:decisions?|conclusions?|resolutions?|outcomes?|results?|consensus)\b"
        r"|\bwas (?:wurde|haben .{1,60}?) (?:.{1,90} )?(?:beschlossen|entschieden|vereinbart)\b"
        r"|\bqu['’]a-t-(?:il|on) (?:été )?décidé\b|\bqu[eé] se (?:decidió|acordó)\b|\bcosa (?:è stato|si è) deciso\b",
        r"conclusions?|resolutions?|decisions?|outcomes?|consensus|beschl(?:uss|üsse)|entscheidung(?:en)?|ergebnis(?:se)?"
        r"|décisions?|decisi[oó]n(?:es)?|acuerdos|decision[ei]",
    ),
    _purpose(
        r"\bwhen (?:is|are|will|was) (?:.{1,40} )?next (?:meeting|call|session)s?\b"
        r"|\bwann ist (?:.{1,40} )?nächste \w*sitzung\b",
        r"(?:upcoming|next|future) (?:meeting|call|session)s?|(?:dates? .{0,20}of )?(?:the )?next meeting"
        r"|nächste \w*(?:sitzung|treffen)",
    ),
    _purpose(
        r"\bhow (?:long|much time)\b(?: (?:do|does|will|would)\b)?(?=.*\b(?:takes?|needs?|last|cook|bake|boil|rest)\b)"
        r"|\bwie lange\b|\bcombien de temps\b|\bcuánto (?:tiempo|tarda)\b|\bquanto tempo\b"
        r"|\bсколько времени\b|\bкак долго\b|多[长長](?:时间|時間)|多久"
        r"|(?:どのくらい|どれくらい|どれぐらい)(?:の時間|かかる)|何(?:分|時間)",
        r"(?:(?:cook|cooking|prep|preparation|baking|resting|total|working) )?time|duration"
        r"|(?:gesamt|zubereitungs|arbeits|koch|back|ruhe)?zeit|(?:gesamt)?dauer|durée|temps|tiempo|duración|tempo|durata"
        r"|duração|время(?: приготовления)?|(?:продолжи|дли)тельность|(?:所需|耗费)?时间|耗时|(?:所要|調理)?時間",
    ),
)


def purpose_asked(question: str) -> Purpose | None:
    """Return which sections a question asks for by what they are for; ``None`` if it does not.

    Example:
        >>> purpose = purpose_asked("What do I need for French crêpes?")
        >>> purpose.is_of("Ingredients"), purpose.is_of("Directions"), purpose.rest("What do I need for pie?").strip()
        (True, False, 'for pie?')
    """
    return next((purpose for purpose in _PURPOSES if purpose.asks.search(question)), None)
