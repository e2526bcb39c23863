"""Forms of irregular English verbs, which stemming does not bring together: who ran a mill runs it, or did."""

from __future__ import annotations

from typing import Final

from core.rag.analysis.analyzer import analyze

#: Verbs that relations are called by: the infinitive, then the forms that do not share its stem. Those with forms that
#: are other words as well (found, lay, bore, rose, wound) are left out.
_VERBS: Final = """
beat beaten|become became|begin began begun|break broke broken|breed bred|bring brought|build built|buy bought
catch caught|choose chose chosen|come came|deal dealt|dig dug|draw drew drawn|drink drank drunk|drive drove driven
eat ate eaten|feed fed|fight fought|fly flew flown|forget forgot forgotten|get got gotten|give gave given|go went gone
grow grew grown|hear heard|hide hid hidden|hold held|keep kept|know knew known|learn learnt|leave left|lend lent
lose lost|make made|meet met|oversee oversaw overseen|pay paid|rebuild rebuilt|ride rode ridden|run ran|say said
see saw seen|seek sought|sell sold|send sent|sing sang sung|sit sat|speak spoke spoken|spend spent|stand stood
steal stole stolen|strike struck|swear swore sworn|swim swam swum|take took taken|teach taught|tell told
throw threw thrown|undertake undertook undertaken|wear wore worn|win won|withdraw withdrew withdrawn
"""

#: The stem of the infinitive, by the stem of every form.
INFINITIVES: Final = {
    stem: stems[0]
    for stems in (analyze(forms) for forms in _VERBS.replace("\n", "|").split("|") if forms)
    for stem in stems[1:]
}
