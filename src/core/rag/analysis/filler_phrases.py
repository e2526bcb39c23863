"""Phrases of a question that say nothing of what is asked for: those that only ask, and courtesies.

In most languages function words ("what", "how") do so, but for "wie hoch" (how much) and the like. Without spaces
between words, and in Korean, they are cut into pieces like all else, and the pieces are rarer than those of what is
asked for: 教えてください, "please tell me", would find whatever says "please". So would "bitte".
"""

from __future__ import annotations

import re
from typing import Final

from libs.regexes import regex

_CHINESE: Final = (
    r"什[么麼][是叫]|(?:指的)?(?:是|有)什[么麼](?:作用|用[处處途]|意思)?|[为為]什[么麼]|什[么麼](?:时候|時候|地方)?|怎[么麼](?:样|[办辦])?|怎[样樣]|如何|[为為]何|何[时時](?![间間])"
    r"|(?:有)?哪(?:些|[个個]|里|裡|一[个個年天]|[种種年天])|(?:是|有)?多少|(?:有)?[几幾](?:[个個种種次位项項]|点)|多[久长長](?:时间|時間)?"
    r"|(?:有[没沒]有|有什[么麼])(?:[办辦]法|方法)(?:可以|能)?|[应應][该該]怎[么麼样樣]做|麻[烦煩][问問]?一?下|有[没沒]有|是否|能不能|可不可以|是不是|[请請][问問](?:一下)?|(?:[请請])?告[诉訴]我|我?想(?:知道|[问問]一下)|[谁誰]|(?:多)?[谢謝][谢謝]|[吗嗎呢](?=\W*\Z)"
)
_JAPANESE: Final = (
    r"(?:とは|は|って|というのは)どういう(?:意味|もの|こと)(?:です)?か?|の意味は?(?=\W*\Z)"
    r"|(?:とは|は|って|というのは)?(?:何|なん|なに)(?:です|でしょう|なの)か|(?:とは|って)(?:何|なん|なに)?か?(?=\W*\Z)|(?<![几幾任如为為])何(?:のために|が|を|で|に)"
    r"|どう(?:すれば|したら)(?:いい|よい|良い)?|どうやって|どのように(?:して)?|どうして|どんな|どういう|(?:どこ|どれ|どちら|いつ|いくら|いくつ|誰|だれ)(?![かも]|でも)|なぜ"
    r"|(?:する)?には(?=\W*\Z)|(?:する)?方法(?:は|を|が)?(?=\W*\Z|教えて|知りた)"
    r"|(?:を|について)?(?:教えて|知りた(?:い|く))(?:ください|下さい|です|のですが|いただけますか|もらえますか)?"
    r"|(?:です|ます|ました|ません|でしょう|べき|の)か(?=\W*\Z)|たい(?:の|ん)ですが"
    r"|(?:よろしく|宜しく)?お願い(?:いたし|致し|し)ます|ありがとう(?:ございます)?|すみません"
)
_KOREAN: Final = (
    r"(?:이?란\s*)?무슨\s*(?:뜻|의미)(?:인가요|입니까|이에요)?|의\s*뜻은?(?=\W*\Z)"
    r"|(?:이?란\s*)?무엇(?:인가요|인지|입니까|이에요|이야)?|(?:이?란\s*)?(?<!\w)(?:뭐(?:예요|에요|야|죠)?|뭔가요)|어떻게|어디(?:서|에서)?|언제|누[구가]|얼마(?:나)?"
    r"|(?<!\w)(?:왜|어떤|어느)(?!\w)|(?<!\w)몇\s*(?:개|명|번|가지)?"
    r"|방법(?:은|을|이)?(?=\W*\Z|\s*(?:알려|가르쳐))|(?:알려|가르쳐)\s*(?:주세요|줘요?|주실\s*수\s*있나요)|부탁(?:드립니다|드려요|합니다|해요)|감사합니다"
    r"|(?:인가|하나|되나|한가|나|까|가)요(?=\W*\Z)|(?:입|합|습|됩)니까(?=\W*\Z)"
)
_THAI: Final = (
    r"(?:คือ)?อะไร(?:บ้าง)?|(?:ได้)?(?:อย่างไร|ยังไง)|ทำไม|เพราะอะไร|ที่ไหน|เมื่อ(?:ไร|ไหร่|ใด)|เท่า(?:ไร|ไหร่|ใด)|ใคร|หรือ(?:ไม่|เปล่า)|ไหม(?=\W*\Z)|ขอบคุณ"
    r"|(?:ครับ|ค่ะ|คะ)(?=\W*\Z)"
)
_UNSPACED: Final = regex("|".join((_CHINESE, _JAPANESE, _KOREAN, _THAI)))
_WITHOUT_SPACES: Final = regex("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
#: How much of what kind (what is said of it seldom has the same word), what happens, and which document tells it.
_FRAMES: Final = regex(
    r"\b(?:wie (?:viele?[nr]?|hoch|lange?|gro(?:ß|ss)|oft|häufig|weit|teuer|schnell|schwer|tief|breit|alt)"
    r"|hoe (?:lang|vaak|hoog|groot|ver|duur|snel|oud)|hur (?:lång|länge|ofta|stor|hög|dyr)"
    r"|hvor (?:lang|lenge|længe|ofte|stor|høj|høy|dyr|dyrt)"
    # What is asked for is a document, which seldom calls itself one.
    r"|(?:in )?(?:which|welche[ms]?) (?:documents?|files?|notebooks?|scripts?|Dokumente?|Datei(?:en)?|Skripte?)"
    r"(?: (?:uses?|contains?|mentions?|deals? with|(?:is|are) about))?"
    # What has to be done is said behind them.
    r"|wie (?:krieg|bekomm|schaff)e? (?:ich|wir)(?: es)?|wei(?:ß|ss) jemand|comment (?:(?:je|on) fait?s?|faire) pour"
    r"|comment (?:puis-je|peut-on|est-ce que (?:je peux|l['’]on peut|on peut))"
    r"|c[oó]mo (?:(?:le )?hago|hacer|(?:se )?puede|puedo|faço|fazer|posso)(?: (?:para|eu))?"
    r"|come (?:faccio|posso)(?: (?:a|per))?"
    r"|сделать так,? чтобы|как-то"
    r"|was (?:passiert|geschieht)|wat gebeurt er|que se passe-t-il|qué (?:pasa|sucede|ocurre)|(?:che )?cosa succede"
    r"|o que acontece|что (?:происходит|случится)|що (?:відбувається|станеться)|co się (?:stanie|dzieje))\b",
    re.IGNORECASE,
)
#: What a question begins with, and ends with, in other languages than English.
_POLITE: Final = regex(
    r"\A\W*(?:(?:hallo|hi|hey|hello|moin|servus|guten (?:tag|morgen|abend)|bonjour|bonsoir|salut|hola|buenas(?: \w+)?"
    r"|buenos días|olá|oi|b(?:om|oa) (?:dia|tarde|noite)|ciao|buongiorno|hoi|goedendag|здравствуйте|привет|добрый день"
    r"|доброе утро|добрый вечер|привіт|вітаю|cześć|dzień dobry|merhaba|你好|您好|大家好|こんにちは|안녕하세요)"
    r"(?: (?:zusammen|leute|all|everyone|there|à tous|a todos|a tutti|всем))?(?=\s*[,;.!，。！])"
    r"|(?:k(?:ö|oe|o)nnt?en sie|k(?:ö|oe|o)nntest du|kannst du) (?:mir |uns )?(?:bitte )?"
    r"(?:sagen|erklären|zeigen)"
    r"|ich (?:möchte|will|würde gerne?) wissen"
    r"|(?:pou(?:vez|rriez)-vous|peux-tu|pourrais-tu) (?:me |m['’]|nous )(?:dire|expliquer|indiquer)"
    r"|je (?:voudrais|veux|souhaite) savoir"
    r"|(?:me )?(?:puedes?|podrías?) (?:decir(?:me)?|explicar(?:me)?|indicar(?:me)?)|(?:quisiera|quiero) saber"
    r"|(?:puoi|può|potresti|potrebbe) (?:dirmi|spiegarmi)|vorrei sapere"
    r"|(?:pode(?:ria)?)(?: me)? (?:dizer|explicar)|gostaria de saber"
    r"|(?:kun je|kunt u|kan je) (?:me|mij) (?:vertellen|zeggen|uitleggen)"
    r"|(?:подскажите|скажите|объясните|расскажите)|(?:підкажіть|скажіть|поясніть|розкажіть)"
    r"|prosz[ęe] (?:mi )?(?:powiedzie[ćc]|wyja[śs]ni[ćc])"
    r"|bitte|пожалуйста|будь ласка|من فضلك|لو سمحت|कृपया|lütfen|בבקשה)\b"
    r"|\b(?:(?:vielen |besten )?dank(?:e(?: (?:schön|im voraus))?)?|bitte|s['’]il (?:vous|te) pla[iî]t"
    r"|merci(?: d['’]avance)?|por favor|(?:muchas )?gracias|per favore|grazie|obrigad[oa]|alstublieft"
    r"|alsjeblieft|bedankt|пожалуйста|(?:большое )?спасибо|будь ласка|дякую|prosz[ęe]|dziękuję|lütfen(?: yardım edin)?"
    r"|teşekkürler|من فضلك|لو سمحت|شكرا|בבקשה|תודה|कृपया(?: बताएं| बताइए)?|धन्यवाद)\W*\Z",
    re.IGNORECASE,
)
_IN_WORDS: Final = regex(r"\w")
#: Courtesies at each end of a question.
_MOST_COURTESIES: Final = 4


def without_asking(question: str) -> str:
    """Return a question without phrases that only ask; all of it if nothing is left, or if it has none.

    Example:
        >>> without_asking("useStateの使い方を教えてください"), without_asking("Wie hoch ist die Miete, bitte?")
        ('useStateの使い方 ', '  ist die Miete,  ')
    """
    subject = _FRAMES.sub(" ", question)
    for _ in range(_MOST_COURTESIES):
        subject, found = _POLITE.subn(" ", subject)
        if not found:
            break
    subject = without_phrases(subject)
    return subject if _IN_WORDS.search(subject) else question


def without_phrases(text: str) -> str:
    """Return a text without the phrases that only ask of languages that have no spaces between words, and of Korean."""
    return _UNSPACED.sub(" ", text) if _WITHOUT_SPACES.search(text) else text
