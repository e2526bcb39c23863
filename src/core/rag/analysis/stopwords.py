"""Function words of the main European languages and of some in other scripts, by the names of the languages.

Two uses: they are left out of the keyword index, and their mix tells the language of a text (``language.py``). Words
are lower case with accents; the analysis folds them. A word stands here only if it hardly ever is what somebody looks
for: names of months, numbers and common nouns stay out.
"""

from __future__ import annotations

from functools import cache
from typing import Final

_WORDS: Final[dict[str, str]] = {
    "english": """
a about above after again against all also am an and any are aren as at be because been before being below between
both but by can cannot could couldn d did didn do does doesn doing don down during each either few for from further
had hadn has hasn have haven having he her here hers herself him himself his how however i if in into is isn it its
itself just ll may me might mine more most much must mustn my myself neither no nor not now of off on once only onto
or other ought our ours ourselves out over own per quite rather re s same shall shan she should shouldn since so some
such t than that the their theirs them themselves then there these they this those though through thus to too toward
under until up upon us ve very via was wasn we were weren what whatever when where whether which while who whom whose
why will with within without would wouldn yet you your yours yourself yourselves
""",
    "german": """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes andern anders auch auf aus
außerdem bei beide beiden beim bereits bin bis bist bzw da dabei dadurch dafür dagegen daher damit danach dann daran
darauf daraus darf darin darüber das dass daß davon dazu dein deine deinem deinen deiner dem den denen denn dennoch der
deren des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen
einer eines einige einigen einiger einiges er es etwa etwas euch euer eure eurem euren eurer für gegen gibt hab habe
haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede
jedem jeden jeder jedes jedoch jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines können
könnte man manche manchem manchen mancher manches mein meine meinem meinen meiner mich mir mit muss musste muß müssen
nach nachdem neben nicht nichts noch nun nur ob oder ohne sehr sei seien sein seine seinem seinen seiner seines seit
sich sie sind so sobald sofern solche solchem solchen solcher solches soll sollte sollten somit sondern sonst soweit
sowie um und uns unser unsere unserem unseren unserer unter über viel vom von vor während wann war waren warum was weder
wegen weil welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel
wieviele will wir wird wo wobei wodurch wofür woher wohin womit woran worin worum wovon wozu wurde wurden würde würden
zu zum zur zwar zwischen
""",
    "french": """
à afin ai ainsi alors après as au aucun aucune aujourd auquel aura aurait aussi autre autres aux auxquelles auxquels
avaient avait avant avec avez avoir avons ayant c ça car ce ceci cela celle celles celui cependant ces cet cette ceux
chaque chez ci combien comme comment d dans de depuis des desquelles desquels dès doit doivent dont donc du duquel elle
elles en encore entre es est et étaient étais était étant été être eu eux faut fut furent hors ici il ils j je jusqu
jusque l la laquelle là le lequel les lesquelles lesquels leur leurs lorsque lui m ma mais me même mêmes mes moi moins
mon n ne ni non nos notre nous on ont or ou où par parce pas pendant peu peut peuvent peux plus plusieurs pour pourquoi
puis puisque qu quand que quel quelle quelles quelque quelques quels qui quoi s sa sans se sera serait ses si sinon soi
soit son sont sous sur t ta tandis te tes toi ton tous tout toute toutes très tu un une vers voici voilà vos votre vous
y
""",
    "spanish": """
a acerca además adónde al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así
aún aunque bajo bien cada casi como cómo con contra cual cuál cuales cuáles cualquier cuando cuándo cuanta cuánta cuanto
cuánto cuántas cuantas cuántos cuantos de debe deben del desde donde dónde dos durante e el él ella ellas ellos en entre
era eran eres es esa esas ese eso esos esta está están estas este esto estos estaba estaban fue fueron ha había habían
han has hasta hay haya he incluso la las le les lo los luego más me mediante mi mí mis mientras mucho muchos muy nada ni
no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque puede pueden
puedo pues que qué quien quién quienes quiénes se sea según ser será si sí sido siempre sin sino sobre son su sus
también tan tanto te tenía tiene tienen ti toda todas todavía todo todos tras tu tú tus u un una unas uno unos usted
ustedes vosotros y ya yo
""",
    "italian": """
a abbia abbiamo ad agli ai al alcune alcuni alla alle allo allora altra altre altri altro anche ancora avere aveva
avevano avuto c che chi ci ciò cioè coi col com come con contro cos cosa così cui d da dagli dai dal dall dalla dalle
dallo degli dei del dell della delle dello dentro deve devono di dopo dov dove dunque durante e è ed egli entrambi era
erano essa esse essere essi esso fa fino fra fu fuori furono già gli ha hai hanno ho i il in infatti io l la là le lei
li lo loro lui ma me mentre mi mia mie miei mio molti molto ne negli nei nel nell nella nelle nello nessun nessuna no
noi non nostra nostre nostri nostro o ogni oltre oppure per perché però più poi poiché posso possono prima proprio può
qual quale quali quand quando quanta quante quanti quanto quell quella quelle quelli quello quest questa queste questi
questo qui quindi se sé secondo sei senza si sia siamo siano siete solo sono sopra sotto sta stata state stati stato su
sua sue sugli sui sul sull sulla sulle sullo suo suoi tale tali tra tu tua tue tuo tuoi tutta tutte tutti tutto un una
uno vi voi vostra vostre vostri vostro
""",
    "portuguese": """
a à ao aos ainda algum alguma algumas alguns além ante antes aonde após aquela aquelas aquele aqueles aquilo as às assim
até bem cada com como contra cuja cujas cujo cujos da das de dela delas dele deles depois desde dessa dessas desse
desses desta destas deste destes deve devem do dos e é ela elas ele eles em embora enquanto entre era eram essa essas
esse esses esta está estão estas estava estavam este estes eu foi foram haja há isso isto já la lhe lhes lo logo mais
mas me mesma mesmas mesmo mesmos meu meus minha minhas muita muitas muito muitos na não nas nem nenhum nenhuma nessa
nesse nesta neste no nos nós nossa nossas nosso nossos num numa o onde os ou outra outras outro outros para pela pelas
pelo pelos pode podem por porém porque posso pouco pois qual quais quando quanto quantas quantos que quê quem são se sem
sempre ser será seu seus sido só sob sobre sua suas também tão te tem têm tendo tenha ter teu teus tinha tinham toda
todas todo todos tu tua tuas tudo um uma umas uns você vocês vos
""",
    "dutch": """
aan al alle alleen als altijd ander andere anderen bij bijna binnen boven buiten daar daarbij daardoor daarmee daarna
daarom daarop dan dat de den der deze die dit doch door dus echter een eens eerder eigen elk elke en enige enkele er
eveneens geen geweest haar had hadden hebben hebt heeft hem hen het hier hij hoe hoeveel hun ieder iedere iemand iets ik
in indien is ja je jij jou jouw jullie kan konden kon kun kunnen maar me meer men met mij mijn moest moet moeten na naar
naast namelijk niet niets noch nog nu of om omdat onder ongeveer ons onze ook op over per reeds samen sinds slechts
sommige steeds te tegen ten ter terwijl tijdens toch toen tot totdat tussen u uit uw van vanaf vanuit vanwege veel
volgens voor voordat waar waarbij waardoor waarheen waarin waarmee waarom waarop waarvoor wanneer want waren was wat we
wegens wel welk welke werd werden wie wij wil worden wordt zal ze zeer zelf zich zij zijn zo zoals zonder zou zouden
zowel zullen
""",
    "swedish": """
alla allt alltså än andra att av bara bland blev bli blir blivit både då dem den denna dess dessa det detta dig din
dina ditt där därför därmed du efter eftersom eller en er era ert ett från för före genom gör ha hade han hans har
havt hela hennes henne hon honom hos hur här i icke ifrån in inför ingen inget inom inte inuti jag ju kan kunde kunna
man med medan mellan men mer mest mig min mina mitt mot mycket måste ni nu något några någon när nästan och också om
oss på redan samma samt sedan sig sin sina sitt själv skall skulle ska som så sådan sådana sådant till trots tack
under upp ut utan var vad vara varandra varför varit varje vars vart vem vems vi vid vilka vilken vilket vill åt är
över
""",
    "danish": """
ad af alle alt altså anden andet andre at bare blandt blev blive bliver både da de dem den denne der deres derfor
dermed des det dette dig din dine disse dog du efter eller en end endnu er et ellers flere for fordi forskellige fra
før gennem ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor
hvordan hvorfor hvornår i igen ikke ind inden ingen intet jeg jer jeres jo kan kunne lige man mange med meget mellem
men mens mere mest mig min mine mit mod må ned nej noget nogen nogle nu når og også om op os over på samme samt selv
ses siden sig sin sine sit skal skulle som stadig stor så sådan ud uden under var ved vi vil ville vor være været
""",
    "norwegian": """
alle alt altså andre annen annet at av bare ble blei bli blir blitt både båe da de deg dei deim deira deires dem den
denne der dere deres derfor dermed det dette di din disse ditt du dykk eg ein eit ei eller elles en enn er et ett
etter for fordi fra før gjennom ha hadde han hans har henne hennes her hjå ho hoe honom hos hoss hun hva hvem hver
hvilke hvilken hvis hvor hvordan hvorfor i ifra ikke ikkje imellom ingen inn inni innen ja jeg kan kom korleis korso
kun kunne kva kvar kvarhelst kven kvi kvifor man mange me med medan meg meget mellom men mens mer mest mi min mine
mitt mot mykje må ned no noe noen noka noko nokon nokor nokre nå når og også om opp oss over på samme samt seg selv si
sia sidan siden sin sine sitt sjøl skal skulle slik so som somme somt så sånn til um under upp ut uten var vart varte
ved vere verte vi vil ville vore vors vort være vært å
""",
    "finnish": """
ei eivät emme en enemmän ennen et ette että haluaa he heidän heidät heihin heille heillä heiltä heissä heistä heitä
hän häneen hänelle hänellä häneltä hänen hänessä hänestä hänet häntä ja jo johon joiden joihin joiksi joille joilla
joissa joista joita joka joko jokin joku jolla jolle jolloin jonka jos joskus jossa josta jota jotka jotta kaikki
kanssa keiden keitä ketkä kenen kenet ketä koska kuin kuinka kuka kun kuten kuitenkin kyllä lisäksi luo me meidän
meille meillä meitä mihin mikä mikäli mikään miksi millainen milloin minkä minulla minun minut minä missä mistä mitkä
mitä mukaan mukana mutta muun muut myös myöskin ne niiden niihin niiksi niille niillä niin niinkuin niissä niistä
niitä noiden noin nuo nyt näiden näille näin näissä näistä näitä nämä olemme olen olet olette oli olimme olin olisi
olit olivat olla olleet ollut on ovat paitsi poikki päälle sekä se sen siellä sieltä siihen siinä siitä siis sille
sillä siltä sinulla sinun sinä sitten sitä tai te teidän teitä tuo tuon tähän tällä tämä tämän tänä tässä tästä tätä
vaan vaikka vain vasta vielä voi voidaan voivat yli ympäri
""",
    "romanian": """
acea aceasta această aceea acei aceia acel acela acele acelea acest acesta aceste acestea acestei acestor acestui
acești aceștia acolo acum ai aia al ale alte altă alți am ar are așa asta astfel atât atunci au avea avut că când care
cărei căror cărui cât câte către ce cea cei cel cele celor cine ci cu cum da dacă dar de deci decât deși despre din
dintre doar după ea ei el ele era erau este eu face fără fi fie fiecare fiind foarte fost iar îi îl îmi în înainte
încă între întru își la le lor lui lângă mai mea mei mele mi mult mulți ne nici nimic noastră noi noștri nostru nu o
ori orice pe pentru peste poate prin până sa să sale sau săi său se și sub sunt suntem sunteți spre te tot toată toate
toți totuși tu un una unde unei unele uneia unii unor unora unui unul va vor voi vreo
""",
    "polish": """
aby ale ani az aż bardzo bez bo bowiem by być był była było były będzie będą chociaż co coś czego czemu czy czyli czym
dla dlaczego dlatego do dość dwa dziś gdy gdyby gdyż gdzie go i ich ile ilu im inna inne inny innych iż ja jak jaką
jakich jakie jaki jaka jakim jako je jeden jedna jednak jednego jego jej jemu jest jestem jeszcze jeśli jeżeli już każdy
kiedy kilka kim kogo komu która które którego której któremu który których którym którzy kto ktoś lecz lub ma mają mi
między mimo mnie mnieh moim może można mój mu my na nad nam nas nasz natomiast nawet nic nich nie niego niej nim niż o
od on ona one oni ono oraz pan po pod podczas ponad ponieważ poza przed przede przez przy raz również się są skąd sobie
swoich swoje swojej swój ta tak także taki takie tam te tego tej temu ten też to tobie tu tutaj twój ty tych tylko tym u
w wam was we więc według wiele wielu właśnie wszystkich wszystkie wszystko wy z za zaś ze że został została zostały
""",
    "czech": """
a aby ačkoli ale anebo ani ano asi až během bez bude budou byl byla byli bylo byly být co což či další do dokud ho i
ja já jak jaká jaké jaký jako je jeho jej jejich její jen ještě jehož jelikož jemu jenž jestliže ji jí jiné jiný již
jsem jsi jsme jsou jste k kam kde kdo kdy když ke která které kterého kterém kterou který kteří kvůli li má mají mezi
mě mimo mít mne mnou mohou moje moci může my na nad nám nás naše nebo neboť něco nejsou není než ni nic nich ním o od
on ona oni ono pak po pod podle pokud poté pouze proč pro proti proto protože před přes přesto při s se si sice své
svého svou svůj svým ta tak také takže tam tato te tě tedy ten tento ti to toho tohoto tom tomto tomu tu tuto tvůj ty
tyto tím u už v ve však všech všechny vy z za zda zde ze že
""",
    "hungarian": """
a abban ahhoz ahogy ahol aki akik akkor alatt által általában amely amelyek amelyekben amelyeket amelyet amelynek ami
amikor amit amíg annak arra arról az azért azok azon azonban azt aztán azután azzal be belül benne cikk csak de e
ebben eddig egy egyes egyéb egyik egyre egész ehhez ekkor el elég ellen előtt először elő ennek erre ez ezek ezen
ezért ezt ezzel fel felé hanem hiszen hogy hogyan igen ill így illetve ilyen ilyenkor is ismét itt jó jól kell kellett
keresztül ki kívül között közül le legalább legyen lehet lehetett lenne lenni lesz lett maga magát majd már más
második meg mellett mert mely melyek mi miért mikor milyen minden mindenki mindig mint mintha mit mivel most nagy
nagyon nekem neki nélkül nem nincs olyan ott össze ő ők őket pedig persze rá s sem semmi sok sokat számára szerint
szinte talán tehát több tovább továbbá többek úgy ugyanis új újra után utolsó vagy vagyis valaki valami valamint van
vannak vele vissza viszont volna volt voltak voltam
""",
    "turkish": """
acaba altında ama ancak arada aslında aynı az bana bazı belki ben benden beni benim bile bir biri birkaç birçok biz bize
bizi bizim böyle bu buna bunda bundan bunlar bunları bunların bunu bunun burada çok çünkü da daha dahi de defa değil
diğer diye dolayı dolayısıyla edilen en gibi göre hâlâ hangi hatta hem henüz hep hepsi her herhangi hiç hiçbir için ile
ilgili ise işte itibaren kaçtır kadar karşın kendi kendine kendini kez ki kim kimdir kime kimi kimin kimse midir mudur
mı mi mu mü mıdır nasıl ne neden nedenle nedir neler nelerdir nerde nerede nereye niçin niye o olan olarak oldu olduğu
olduğunu olmak olması olsa olup olur on ona ondan onlar onlardan onları onların onu onun orada oysa öyle pek rağmen
sadece sanki sen siz sizin şey şu şuna şunu tarafından tüm üzere üzerinde var ve veya ya yani yine yoksa zaten kaç
""",
    "russian": """
а без более будет будут бы был была были было быть в вам вас весь во вот все всё всего всех вы где да для до его ее её
если есть еще ещё же за зачем здесь и из или им их к как какая какие каким каких каков каково какой каком какую кем
когда ком которая которого которой которое которому которые которым которых который кто куда ли либо лишь между меня
мне может можно мы на над надо нам нами нас наш не него нее неё ней нельзя нет ни ним ними них но ну нужно о об один
однако он она они оно от откуда очень перед по под пока после потому почему поэтому при про с сам своё своего своей
своем свои свой своим своих свою себе себя сколько со собой среди так также такая такие таким таких такого такое такой
таком такую там те тем то того тоже той только том ты у уже хотя чего чей чем чём чему что чтобы чьи чья эта эти этих
это этого этой этом этот я
""",
    "greek": """
αλλά αν αντί από αυτά αυτές αυτή αυτήν αυτό αυτοί αυτόν αυτός αυτού αυτών για δεν εάν είμαι είναι είχαν είχε εκεί
εκείνη εκείνο εκείνος ένα έναν ένας ενώ επί έχει έχουν η ήταν θα και κατά κι κάθε με μετά μέχρι μη μην μία μια μου να
ο οι ό ότι όμως όπου όπως όταν ούτε παρά ποια ποιο ποιος ποιοι που πού πριν προς πως πώς σαν σας σε στη στην στο στον
στα στις στους τα τη την της τι τις το τον του τους των ως
""",
    "ukrainian": """
а або але б без би бо був була були було бути буде будуть в вам вас вже від він вона вони воно все всі всіх де для до
дуже є ж же з за зі звідки і із її їй їм їх його йому кого коли ким кому куди лише ми мені мене між можна може на
навіщо над нам нас наш наша наше наші не неї ні них нього ну о об один однак по під після перед при про себе свій своє
своєї своїх свої свою сам сама самі скільки та так такий така таке такі такого також там те ти тим тих то той тоді
того тому треба тут у усі уже хоча хто це цей ця ці цього цієї цим цих цьому чи чий чим чого чому через ще що щоб щодо
я як яка яке який які яким яких якій якої якого якому якщо
""",
    "arabic": """
أم أن أنا أنت أنتم أنه أنها أنهم أو أولئك أي أية أيضا أين إذ إذا إلى إليه إليها إليهم إن إنه إنها الآن التي الذي الذين
اللاتي اللتان اللذان بدون بعد بعض بل بما به بها بهم بين تحت تكون تلك تم ثم جميع حتى حول حيث حين خلال دون ذلك سوف سوى
ضد على عليه عليها عليهم عما عن عند عندما عنه عنها غير فضلك فوق في فيما فيه فيها قبل قد كأن كان كانت كانوا كذلك كل كم
كما كيف لأن لأنه لأنها لا لقد لك لكن لكنه لكنها لم لما لماذا لمن لن لنا له لها لهم لو لي ليس ليست ما ماذا متى مثل مع
معه معها مما ممن من منذ منه منها منهم نحن نحو هذا هذه هل هم هما هن هنا هناك هو هؤلاء هي وأن وإلى وإن وعلى وفي وقد وكان
وكانت ولا ولكن ولم وما ومن وهو وهي يتم يجب يكون يمكن
""",
    "persian": """
آن آنها آیا آیند از است اگر اما این ایشان او با باید بدون بر برای بود بودند به بین پس تا تو توان تواند چرا چطور چقدر
چگونه چند چه چی چیست خود خیلی دارد دارند داشت در دیگر را شد شده شما شود شوند کجا کجاست کدام کرد کرده کند کنم کنند کنیم
که کیست ما من می نه نمی نیز نیست ها های هر هست هستند هم همه و ولی یا یک
""",
    "hebrew": """
אבל או אז איזה איזו אילו איך אין איפה אך אל אלה אלו אם אני אנחנו אפשר אצל אשר את אתה אתם אתן אותה אותו אותם אותן בבקשה
בגלל בה בהם בו ביותר בין בלי גם האם הוא היא היה היו היכן הייתה היתה הם הן הרבה זאת זה זו יהיה יהיו יותר יכול יכולה
יכולים יש כאן כאשר כבר כדי כי כיצד ככה כך כל כמה כמו כן לא לאן לה להם לו לי ליד לך לכם לכן למה למרות לנו לפני מאוד
מאין מדוע מה מהו מהי מהם מהן מי מעל ממנה ממנו מתי נגד ניתן עד עוד על עם עצמה עצמו פה פחות צריך רק של שלה שלהם שלו שלי
שלך שלכם שלנו שם תהיה תחת אחרי
""",
    "hindi": """
अगर अधिक अनुसार अपना अपनी अपने अब आप आपका आपकी आपके इन इनके इन्हें इस इसका इसकी इसके इसे उन उनका उनकी उनके उन्हें उस
उसका उसकी उसके उसे एक और कब कर करता करती करते करना करने करें कहाँ कहां का कि कितना कितनी कितने किन किया किए किस किसका
किसकी किसके किसने किसी किसे की कुछ कृपया के कैसा कैसी कैसे को कोई कौन कौनसा कौनसी क्या क्यों गई गए गया चाहिए जब जहाँ
जहां जाता जाती जाते जिन जिन्हें जिस जिसका जिसकी जिसके जिसे जैसा जैसे जो तक तब तरह तुम तो था थी थे दिए दिया दौरान
द्वारा न नहीं ना ने पर परंतु पहले फिर बहुत बाद बारे बीच भी मगर मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ यहां या ये रहा
रही रहे लिए लेकिन वह वहाँ वहां वाला वाली वाले वे सकता सकती सकते सब सभी साथ से हम हमारा हमारी हमारे हमें ही हुआ हुई हुए
हूँ हूं है हैं हो होता होती होते होना होने
""",
}

#: Languages written in Latin letters, the default first. The order breaks ties when a language is detected.
LATIN_LANGUAGES: Final[tuple[str, ...]] = (
    "english",
    "german",
    "french",
    "spanish",
    "italian",
    "portuguese",
    "dutch",
    "swedish",
    "danish",
    "norwegian",
    "finnish",
    "romanian",
    "polish",
    "czech",
    "hungarian",
    "turkish",
)

#: Languages in other scripts. The function words of all count: a question is too short to tell those of one apart.
OTHER_SCRIPTS: Final[tuple[str, ...]] = tuple(name for name in _WORDS if name not in LATIN_LANGUAGES)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language (a Snowball name), in lower case with accents; none if it is unknown."""
    return frozenset(_WORDS.get(language, "").split())
