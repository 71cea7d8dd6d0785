"""The language of a question, if it is not English: by its script, else by its function words.

Words of content say little here, because drugs, genes and Latin names are the same in all languages. A short
question of a language that is not listed, or one without function words, counts as English: to call
biomedical English foreign is the worse mistake.
"""

import re
import unicodedata
from collections import Counter

from bioqa.models.text.language import NAMES, Language
from bioqa.models.text.words import STOP_WORDS, terms

_SCRIPTS = {
    "ARABIC": "ar",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "GREEK": "el",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "THAI": "th",
}
"""First word of a letter's Unicode name, and the most spoken language that is written so."""

_LEAST_SHARE = 0.3
"""Share of a question's letters that must be of another script. The rest may be genes and drugs."""

# Those that English has too (in, on, also, was, die) are in the lists: they count half.
_FUNCTION_WORDS = {
    "cs": """
        ten ta to ti jeho jejich pokud protože také ani už byl byla bylo jsme jsem jste mít často více méně
        při proto které kterou kterým kteří tím tom tak je jsou jak jaké jaká jaký která který pro nebo proč
        kdy kde zda že aby mezi není mají má může lze existuje jako než proti od po před kolik kdo co se u
        na s ve ze k
    """,
    "da": """
        vi du han hun sig sin kun også men hvis når fordi mere end ofte hvor denne dette disse var blev
        været har havde vil ville kunne skulle er og hvad hvilke hvilken hvordan hvorfor hvornår hvem ved
        til af på med ikke der det en et kan skal mod hos eller om som får findes jeg den de mellem efter
        være bliver
    """,
    "de": """
        als an wenn weil dass nur noch sehr mehr wir sie er ich ihr diese dieser dieses vom ins zum sein
        seine ihre wurde wurden werde kein keine häufig oft gegenüber unter ohne vor wieso wieviel hilft
        helfen soll sollte muss darf der das ist sind und wie wer wo warum wann welche welcher welches wird
        werden bei mit von für gegen nicht ein eine einer einem einen den dem des zu zur auf auch oder gibt
        es kann man haben hat sich zwischen mein durch nach aus beim im am über welchen
    """,
    "es": """
        este esta estos estas ese eso muy también pero solo ser fue fueron era eran hace ha han nos les le
        te yo durante sufren debe deben el la los las es son qué que cuál cuáles cómo por para con en del al
        una un unos y o se puede hay existe quién dónde cuándo está están más entre sobre sin como sus su lo
        mi tiene tienen cuánto porque contra según e de
    """,
    "fi": """
        on ja mikä mitkä mitä miten miksi milloin missä kuka onko voiko ovat ei se että tai kun ovatko mistä
        kuinka voi myös sekä
    """,
    "fr": """
        cet nous vous ils elles leur leurs sous très aussi plus mais si car été avoir fait cela ça on y dont
        lors chez pendant le la les des du est sont et quel quelle quels quelles comment pourquoi où
        que qui quoi un une dans avec pour sur par aux au ne pas ce cette ces il elle peut être entre contre
        ou à sans se sa son ses je mon en l d qu c s combien quand faire de
    """,
    "hu": """
        a az és mi milyen hogyan miért mikor hol ki van nem egy vagy hogy lehet melyik kell mely ha között
        mint ellen
    """,
    "id": """
        apa yang dan di untuk dengan adalah bagaimana mengapa kapan siapa pada dari apakah tidak ini itu
        atau dapat oleh ke dalam antara
    """,
    "it": """
        gli questi queste come anche solo molto spesso essere avere era sono stato stata ci mi ti loro suo
        sua farà fare fa posso quando senza durante il lo la le è che quali quale qual chi dove perché per
        con del della dei delle dello degli di un una uno nel nella nei negli si può più non tra fra al alla
        ai da dal esiste ha hanno e l dell nell all quanto contro su sul questa questo o
    """,
    "nl": """
        als die dat dit deze hij zij wij je er geen wel ook maar meer vaak zonder onder over tijdens haar
        hun was waren had zou zouden moeten mag zich bestaat helpt komt komen het een de is zijn en wat
        welke hoe waarom wanneer waar wie bij van voor met tegen niet op te aan kan kunnen worden wordt door
        naar dan tot uit heeft hebben ik mijn tussen of om moet men
    """,
    "no": """
        vi du han hun seg sin kun også men hvis når fordi mer enn ofte hvor denne dette disse var ble vært
        har hadde vil ville kunne skulle er og hva hvilke hvilken hvordan hvorfor hvem ved til av på med
        ikke det en et kan skal mot hos eller om som får finnes jeg den de mellom etter være blir
    """,
    "pl": """
        ten ta te ich jego jej jeśli ponieważ także tylko już był była było być bardzo częściej więcej mniej
        mieć tym tego tej takie jest są jak jakie jaki jaka które która który czy i w na z do dla nie przy
        przez oraz lub dlaczego kiedy gdzie kto co się od po można u o że jako gdy niż za między ile ma może
        istnieje mogę wpływ
    """,
    "pt": """
        este esta isso seu sua muito também só ser era foi foram estar tem havia lhe nós você já pelos pelas
        aos às sobre durante o os as é são que qual quais como por para com em do da dos das no na nos nas
        um uma e ou se pode há existe quem onde quando está não mais entre sem ao à pelo pela posso ter têm
        quanto contra de faço meu minha
    """,
    "ro": """
        este sunt care ce cum de la și în pentru cu pe din un o nu se poate când unde cine sau între mai
        există că al ale cel cea prin dacă
    """,
    "sv": """
        vi du han hon sig sin bara också men om när eftersom mer oftare hur denna detta dessa var blev varit
        har hade vill ville kunde skulle så är och vad vilka vilken vilket varför vem vid till av på med
        inte det en ett kan ska mot hos eller som får finns jag den de mellan efter vara blir för än att
    """,
    "tr": """
        ve bir bu ne nedir nasıl neden hangi kim mi mı mu mü için ile var olan olarak daha çok gibi da kadar
        değil veya arasında nelerdir nerede zaman eder midir mıdır
    """,
    "vi": """
        là gì và có không của cho với trong các những một như thế nào tại sao khi được bị ở này để từ người
    """,
}

_LETTERS = {
    "cs": "ěřů",
    "da": "æø",
    "de": "ß",
    "es": "ñ¿¡",
    "fr": "œêàùç",
    "hu": "őű",
    "no": "æø",
    "pl": "łśżźćńęą",
    "pt": "ãõ",
    "ro": "țșăţş",
    "sv": "å",
    "tr": "ığş",
    "vi": "ạảấầẩậắằặẹẻẽếềểệịọỏốồổộớờởợụủứừửữựỳỷỹđơư",
}
"""Letters and marks that count as one more function word. Names have them, too, so they never suffice."""

_ENGLISH = STOP_WORDS | frozenset(
    {"list", "describe", "define", "name", "explain", "there", "s", "t", "don", "doesn", "isn", "aren"}
    | {"often", "mean", "much", "many", "well", "still", "yet", "upon"}
)
_BORROWED = frozenset({"al", "de", "der", "du", "et", "la", "le", "per", "van", "von"})
"""Words that are parts of names, or Latin in English: they count half, too."""

_SETS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
_CLITICS = re.compile(r"['’‘`]")
_LEAST_SCORE = 2.0


def foreign_language(text: str) -> Language | None:
    """The language that the text is in if that is not English; None for English and where it is uncertain."""
    code = _by_script(text) or _by_words(text)
    return None if code is None else Language(code, NAMES[code])


def _by_script(text: str) -> str | None:
    if text.isascii():
        return None
    letters = [character for character in text if character.isalpha()]
    scripts = Counter(_script(character) for character in letters if character > "ʯ")
    scripts.pop(None, None)
    if not letters or sum(scripts.values()) < _LEAST_SHARE * len(letters):
        return None
    if scripts["ja"]:
        return "ja"
    (code, count), *_ = scripts.most_common(1)
    if code == "el" and count < 8:  # α, β and their like are part of English
        return None
    if code == "ru" and re.search("[іїєґ]", text.lower()):
        return "uk"
    if code == "ar" and re.search("[پچژگ]", text):
        return "fa"
    return code


def _script(character: str) -> str | None:
    return _SCRIPTS.get(unicodedata.name(character, "").split(" ")[0].split("-")[0])


def _by_words(text: str) -> str | None:
    text = unicodedata.normalize("NFC", text)
    words = terms(_CLITICS.sub(" ", text))
    distinct = frozenset(words)
    english = len(distinct & _ENGLISH)
    marks = frozenset() if text.isascii() else frozenset(text.lower())
    scores: dict[str, float] = {}
    for code, listed in _SETS.items():
        own = len((distinct & listed) - _ENGLISH - _BORROWED)
        shared = len(distinct & listed) - own
        if own:
            scores[code] = own + 0.5 * shared + bool(marks & frozenset(_LETTERS.get(code, "")))
    if not scores:
        return None
    code = max(scores, key=lambda code: scores[code])
    enough = scores[code] >= _LEAST_SCORE and scores[code] > english and scores[code] >= 0.2 * len(distinct)
    return code if enough else None
