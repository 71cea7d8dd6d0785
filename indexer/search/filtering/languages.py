"""Languages as MEDLINE abbreviates them: three letters, https://www.nlm.nih.gov/bsd/language_table.html."""

_CODES = {
    "afr": "afrikaans",
    "alb": "albanian",
    "amh": "amharic",
    "ara": "arabic",
    "arm": "armenian",
    "aze": "azerbaijani",
    "ben": "bengali",
    "bos": "bosnian",
    "bul": "bulgarian",
    "cat": "catalan",
    "chi": "chinese",
    "cze": "czech",
    "dan": "danish",
    "dut": "dutch",
    "eng": "english",
    "epo": "esperanto",
    "est": "estonian",
    "fin": "finnish",
    "fre": "french",
    "geo": "georgian",
    "ger": "german",
    "gla": "scottish gaelic",
    "gre": "greek",
    "heb": "hebrew",
    "hin": "hindi",
    "hrv": "croatian",
    "hun": "hungarian",
    "ice": "icelandic",
    "ind": "indonesian",
    "ita": "italian",
    "jpn": "japanese",
    "kin": "kinyarwanda",
    "kor": "korean",
    "lat": "latin",
    "lav": "latvian",
    "lit": "lithuanian",
    "mac": "macedonian",
    "mal": "malayalam",
    "mao": "maori",
    "may": "malay",
    "mul": "multiple languages",
    "nor": "norwegian",
    "per": "persian",
    "pol": "polish",
    "por": "portuguese",
    "pus": "pushto",
    "rum": "romanian",
    "rus": "russian",
    "san": "sanskrit",
    "slo": "slovak",
    "slv": "slovenian",
    "spa": "spanish",
    "srp": "serbian",
    "swe": "swedish",
    "tha": "thai",
    "tur": "turkish",
    "ukr": "ukrainian",
    "und": "undetermined",
    "urd": "urdu",
    "vie": "vietnamese",
    "wel": "welsh",
}

_TWO_LETTERS = {
    "ar": "ara",
    "bg": "bul",
    "cs": "cze",
    "da": "dan",
    "de": "ger",
    "el": "gre",
    "en": "eng",
    "es": "spa",
    "et": "est",
    "fa": "per",
    "fi": "fin",
    "fr": "fre",
    "he": "heb",
    "hr": "hrv",
    "hu": "hun",
    "is": "ice",
    "it": "ita",
    "ja": "jpn",
    "ko": "kor",
    "lt": "lit",
    "lv": "lav",
    "nl": "dut",
    "no": "nor",
    "pl": "pol",
    "pt": "por",
    "ro": "rum",
    "ru": "rus",
    "sk": "slo",
    "sl": "slv",
    "sr": "srp",
    "sv": "swe",
    "th": "tha",
    "tr": "tur",
    "uk": "ukr",
    "vi": "vie",
    "zh": "chi",
}

# Where ISO 639-2 has a second code, that of the language's own name.
_OTHER_CODES = {
    "ces": "cze",
    "cym": "wel",
    "deu": "ger",
    "ell": "gre",
    "fas": "per",
    "fra": "fre",
    "hye": "arm",
    "isl": "ice",
    "kat": "geo",
    "mkd": "mac",
    "msa": "may",
    "nld": "dut",
    "ron": "rum",
    "slk": "slo",
    "sqi": "alb",
    "zho": "chi",
}

_BY_NAME = {name: code for code, name in _CODES.items()} | _TWO_LETTERS | _OTHER_CODES


def language_code(language: str) -> str:
    """MEDLINE's code for a language's English name, its ISO 639 code in two or three letters, or the code
    itself, in any case; what is unknown comes back in lower case."""
    name = " ".join(language.lower().split())
    return _BY_NAME.get(name, name)


def language_name(code: str) -> str:
    """The English name of a language with a MEDLINE code; an unknown code comes back as it is."""
    return _CODES.get(code, code).title()


def is_language(language: str) -> bool:
    """Whether it names a language that ``language_code`` knows."""
    return language_code(language) in _CODES
