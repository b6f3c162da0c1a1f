"""Personal data that has a shape of its own: numbers, addresses, dates behind a word that says what they are.

Every rule is a regular expression; where the shape alone says too little (a nine-digit number), a word before it
is asked for, or a check digit. Expressions are bounded so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch [start, end) of a text and the kind of personal data it is."""

    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rule:
    """What a match's group `value` (or all of it) is, if `accepts` agrees."""

    type: str
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = lambda value: True


def luhn(value: str) -> bool:
    """Whether the digits pass the check-digit rule of payment cards (ISO/IEC 7812-1)."""
    digits = [int(c) for c in value if c.isdigit()]
    doubled = [d if i % 2 == 0 else d * 2 - 9 * (d > 4) for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _digits(least: int, most: int) -> Callable[[str], bool]:
    return lambda value: least <= sum(c.isdigit() for c in value) <= most


_I = re.IGNORECASE
_MONTH = (
    r"(?:jan|feb|mar|m[äa]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|janv|f[ée]v|avr|juin|juil|ao[ûu]|d[ée]c"
    r"|ene|abr|ago|dic|gen|mag|giu|lug|set|ott)[a-zäéû]{0,8}\.?"
)
_DATE = (
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}\s?[-/.]\s?\d{{1,2}}\s?[-/.]\s?\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?\s(?:de\s|of\s)?{_MONTH},?\s(?:de\s)?\d{{4}}|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})"
)
_BIRTH = (
    r"(?:date\sof\sbirth|d\.?o\.?b\.?|born(?:\son)?|birth\s?dates?|birthday|geboren(?:\sam)?|geburtsdatum|geb\."
    r"|n[ée]e?\sle|date\sde\snaissance|fecha\sde\snacimiento|nacid[oa]\sel|nat[oa]\sil|data\sdi\snascita)"
)
_NUMBER_WORD = r"(?:\s?(?:numbers?|no\.?|nr\.?|num\.?|nummer|n°|#|id)){0,2}"
_GAP = r"(?:\s?(?:is|was|ist)\b)?\s{0,3}[:#=\-–]?\s{0,3}"
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Circle|Cir|Way|Place|Pl|Square|Sq"
    r"|Terrace|Ter|Parkway|Pkwy|Highway|Hwy|Crescent|Close|Grove|Trail|Trl|Row|Mews)\b\.?"
)
_UPPER = "A-ZÄÖÜÀÂÇÉÈÊËÎÏÔÙÛÑÓÁÍÚ"
_WORD = rf"[{_UPPER}][\w'’.\-]{{0,24}}"
_UNIT = r"(?:,?\s{1,2}(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|#)\.?\s?\w{1,6})?"
_CITY = rf"(?:{_WORD}\s){{0,3}}{_WORD}"
_TOWN = (
    rf"(?:,?\s{{1,3}}{_CITY},?\s{{1,2}}[A-Z]{{2}}\s{{1,2}}\d{{5}}(?:-\d{{4}})?"
    rf"|,?\s{{1,3}}{_CITY},?\s{{1,2}}[A-Z]{{1,2}}\d[A-Z\d]?\s?\d[A-Z]{{2}}|,?\s{{1,3}}(?:[A-Z]-)?\d{{4,5}}\s{_CITY})?"
)

RULES = (
    Rule(
        "EMAIL",
        re.compile(r"(?<![\w.+-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])"),
    ),
    Rule("SSN", re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])")),
    Rule(
        "SSN",
        re.compile(
            rf"\b(?:ssn|social\ssecurity){_NUMBER_WORD}{_GAP}(?P<value>\d{{3}}[-. ]?\d{{2}}[-. ]?\d{{4}})\b", _I
        ),
    ),
    Rule("CREDIT_CARD", re.compile(r"(?<![\d.-])[3-6]\d{3}(?:[ -]?\d{2,6}){2,4}(?![\d-])"), luhn),
    Rule("DATE_OF_BIRTH", re.compile(rf"\b{_BIRTH}(?:\s?\([^)]{{0,20}}\))?{_GAP}(?P<value>{_DATE})", _I)),
    Rule(
        "PASSPORT",
        re.compile(
            rf"\b(?:passport|reisepass|passeport|pasaporte|passaporto){_NUMBER_WORD}{_GAP}"
            r"(?P<value>(?-i:[A-Z0-9]){6,9})\b",
            _I,
        ),
        _digits(4, 9),
    ),
    Rule(
        "DRIVERS_LICENSE",
        re.compile(
            r"\b(?:driv(?:er['’]?s?|ing)\s?licen[cs]e|führerschein|permis\sde\sconduire|patente\sdi\sguida"
            rf"|dl\s?(?=no|num|#|:)){_NUMBER_WORD}{_GAP}(?P<value>(?-i:[A-Z0-9])[A-Z0-9*-]{{4,18}}[A-Z0-9])\b",
            _I,
        ),
        _digits(4, 17),
    ),
    Rule(
        "PHONE",
        re.compile(r"(?<![\w+])\+\d{1,3}[\s.\-/]{0,2}(?:\(0?\d{1,4}\)[\s.\-/]?)?\d(?:[\s.\-/]?\d){5,12}(?!\d)"),
        _digits(8, 15),
    ),
    Rule("PHONE", re.compile(r"(?<![\d.-])(?:1[-. ])?(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\d-])")),
    Rule(
        "PHONE",
        re.compile(
            r"\b(?:tel|phone|telephone|telefon|téléphone|teléfono|mobile|mobil|cell|handy|fax|call(?:\sus)?(?:\sat)?)\b"
            rf"\.?{_NUMBER_WORD}{_GAP}(?P<value>\(?\d(?:[\s.\-/()]{{0,2}}\d){{6,14}})(?!\d)",
            _I,
        ),
        _digits(7, 15),
    ),
    Rule(
        "ADDRESS",
        re.compile(rf"(?<![\w-])\d{{1,6}}[A-Za-z]?\s(?:[NSEW]\.?\s)?(?:{_WORD}\s){{1,4}}{_STREET}{_UNIT}{_TOWN}"),
    ),
    Rule("ADDRESS", re.compile(rf"\bP\.?\s?O\.?\sBox\s\d{{1,7}}{_TOWN}", _I)),
    Rule(
        "ADDRESS",
        re.compile(
            rf"\b(?:{_WORD}\s)?[{_UPPER}][\w.\-]{{0,24}}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer)"
            rf"\s\d{{1,4}}\s?[a-z]?\b{_TOWN}"
        ),
    ),
    Rule(
        "ADDRESS",
        re.compile(
            r"(?<![\w-])\d{1,4}(?:\s?(?:bis|ter))?,?\s(?:rue|avenue|boulevard|place|chemin|impasse|allée|quai)"
            rf"\s(?:(?:de|du|des|la|le|les|l'|d')\s?){{0,3}}{_CITY}{_TOWN}"
        ),
    ),
    Rule(
        "ADDRESS",
        re.compile(
            rf"\b(?:Calle|Avenida|Avda\.?|Plaza|Paseo|Via|Viale|Piazza|Corso)\s(?:(?:de|del|la|las|los|di|della)\s){{0,2}}"
            rf"{_CITY},?\s(?:n°\s?)?\d{{1,4}}\b{_TOWN}"
        ),
    ),
    Rule(
        "NAME",
        re.compile(
            rf"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Sr|Sra)\b\.?\s(?P<value>(?:{_WORD}\s){{0,2}}{_WORD}(?<!\.))"
        ),
    ),
    Rule(
        "NAME",
        re.compile(
            r"(?<!\w\s)\b(?:(?:full|first|last|family|given|patient|customer|employee|applicant)\sname|surname|patient|applicant"
            rf"|name|vorname|nachname|nom|nombre)\s?:\s{{0,3}}(?P<value>(?-i:{_WORD})(?:\s(?-i:{_WORD})){{0,3}})",
            _I,
        ),
    ),
    Rule(
        "ORGANIZATION",
        re.compile(
            rf"\b(?:{_WORD}\s(?:&\s)?){{1,4}}(?:Inc|Incorporated|Ltd|Limited|LLC|LLP|Corp|Corporation|GmbH|AG|KG|plc|PLC)"
            r"\b\.?"
        ),
    ),
)

# A column whose name matches holds nothing else: its cells go whole.
COLUMNS = (
    ("SSN", re.compile(r"ssn|social\ssecurity(?:\s(?:number|no\.?|#))?", _I)),
    ("EMAIL", re.compile(r"e-?mails?(?:\s(?:address|addresses))?", _I)),
    (
        "PHONE",
        re.compile(
            r"(?:(?:home|work|mobile|cell|office)\s)?(?:tele)?phone(?:\s(?:number|no\.?))?|mobile|fax|telefon", _I
        ),
    ),
    ("CREDIT_CARD", re.compile(r"(?:credit\s)?card\s(?:number|no\.?)", _I)),
    ("ADDRESS", re.compile(r"(?:(?:home|street|mailing|postal|billing|shipping)\s)?address|adresse|anschrift", _I)),
    ("DATE_OF_BIRTH", re.compile(r"d\.?o\.?b\.?|date\sof\sbirth|birth\s?(?:date|day)|geburtsdatum", _I)),
    ("PASSPORT", re.compile(r"passport(?:\s(?:number|no\.?|#))?", _I)),
    ("DRIVERS_LICENSE", re.compile(r"driver['’]?s?\slicen[cs]e(?:\s(?:number|no\.?|#))?|driving\slicence", _I)),
    (
        "NAME",
        re.compile(
            r"(?:full|first|last|middle|family|given|sur|employee|customer|patient|client|contact|student|applicant|user)"
            r"\s?names?|surname|contact\sperson|vorname|nachname|nom|prénom|nombre|apellidos?",
            _I,
        ),
    ),
)


def find(text: str, kinds: frozenset[str]) -> list[Found]:
    """Every match of the rules for the wanted kinds, in the rules' order; they may overlap."""
    found: list[Found] = []
    for rule in RULES:
        if rule.type not in kinds:
            continue
        for match in rule.pattern.finditer(text):
            group = "value" if "value" in rule.pattern.groupindex else 0
            if rule.accepts(match.group(group)):
                found.append(Found(rule.type, match.start(group), match.end(group)))
    return found


def column_kind(header: str, kinds: frozenset[str]) -> str | None:
    """The kind of personal data that a column of this name holds, if it is a wanted one."""
    name = " ".join(header.split()).strip(" :*")
    return next((kind for kind, pattern in COLUMNS if kind in kinds and pattern.fullmatch(name)), None)
