"""Guesses the legacy character set of bytes that are neither UTF-8 nor marked as anything else.

Every candidate that decodes the sample without an error is scored by how much the result looks like
writing: known letters of one language, letters of one script inside a word, capitals at the front of words,
common Han characters, no controls and no box drawing between letters. The best score wins; ties go to the
earlier candidate. Letter sets are the alphabets of the languages as their orthographies give them.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache

from engine.language import rank

SAMPLE_BYTES = 16_384
# In order of preference when two read the bytes alike.
CANDIDATES = (
    "cp1252", "cp932", "gb18030", "big5hkscs", "cp949", "euc_jp", "cp1251", "koi8-r", "koi8-u", "cp866",
    "iso8859-2", "cp1250", "cp1254", "cp1257", "cp1253", "cp1255", "cp1256", "cp874", "cp1258", "iso8859-5",
    "iso8859-7", "iso8859-6", "cp850", "cp852", "cp437", "mac_roman", "mac_cyrillic", "iso8859-4", "iso8859-10",
    "iso8859-13", "iso8859-15", "iso8859-16", "cp737", "cp857", "cp862", "cp775",
)  # fmt: skip

# Letters beyond ASCII that occur in ordinary text of a language; very rare ones are left out on purpose.
_ALPHABETS = {
    "fr": "àâçéèêëîïôùûœ", "de": "äöüß", "es": "áéíñóúü", "pt": "ãõáéíóúâêôàç", "it": "àèéìòù", "ca": "àçéèíïóòúü",
    "nl": "ëïéèöü", "da": "æøåé", "no": "æøåéòô", "nb": "æøåéòô", "nn": "æøåéòô", "sv": "åäöé", "fi": "äöå",
    "is": "áðéíóúýþæö", "fo": "áðíóúýæø", "ga": "áéíóú", "cy": "âêîôûŵŷ", "gl": "áéíñóúü", "eu": "ñç",
    "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíľňóôšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîșțşţ",
    "hr": "čćđšž", "bs": "čćđšž", "sl": "čšž", "sq": "ëç", "tr": "çğıöşüâİ", "az": "çəğıöşü", "et": "äöõüšž",
    "lv": "āčēģīķļņšūž", "lt": "ąčęėįšųūž", "mt": "ċġħż", "eo": "ĉĝĥĵŝŭ", "af": "ëêéèôï", "lb": "äëéö", "en": "éèïö",
    "vi": "àáâãèéêìíòóôõùúýăđĩũơư",
}  # fmt: skip
_COMMON_CYRILLIC = set("оеаинтсрвлкмдпуяыьзбгчй")
_COMMON_ARABIC = set("اليمنترسفوهبعدكةىأحق")
# The Han characters most frequent in running Chinese (both scripts) and Japanese.
_COMMON_HAN = set(
    "的一是不了人我在有他这中大来上国和地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学"
    "如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业"
    "外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声"
    "提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命"
    "山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万"
    "來說時國們這會對發後學經過當動進無與長機現開實間問關東業體見產電話處論報兩應將從給變數總題東員請務區給認議結類"
    "審計壓縮包文件檢索測試审计压缩检索测试格式需求档邮箱自动巡系统团"
    "日本語年月大人国会中事者社分前行見上下出入地方新場部内全同業立自高間動問学名用発表力度水小主作時度性員相子最手体定対合通現当"
)


def guess(data: bytes) -> tuple[str, float]:
    """The most plausible legacy encoding of `data` and its score (about -1..1). Reads a bounded sample."""
    part = sample(data)
    scored = [(plausibility(part, name), -rank, name) for rank, name in enumerate(CANDIDATES)]
    best = max(scored)
    return best[2], best[0]


def plausibility(data: bytes, encoding: str) -> float:
    """How much `data` read as `encoding` looks like writing, about -1..1; -9 when it does not decode."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)  # a sample may end inside a character
    except (UnicodeDecodeError, LookupError):
        return -9.0
    total = count = 0.0
    for line in text.split("\n"):
        if not line.isascii():
            points, letters = _line_score(line)
            total += points
            count += letters
    score = total / count if count else 0.0
    return score + 0.02 if encoding in ("cp1252", "cp1251") else score


def sample(data: bytes) -> bytes:
    """The lines with bytes above ASCII, up to the sample size; whole lines, so that no character is cut."""
    if len(data) <= SAMPLE_BYTES:
        return data
    first = re.search(rb"[\x80-\xff]", data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    lines: list[bytes] = []
    size = 0
    for match in re.finditer(rb"[^\n]*[\x80-\xff][^\n]*\n?", data[start : start + 64 * SAMPLE_BYTES]):
        lines.append(match[0])
        size += len(match[0])
        if size >= SAMPLE_BYTES:
            break
    return b"".join(lines)[: 2 * SAMPLE_BYTES]


def _line_score(line: str) -> tuple[float, float]:
    """Points of one line and the number of characters they are for."""
    alphabet = _alphabet(line)
    points = letters = 0.0
    for match in re.finditer(r"\S{1,80}", line):
        word = match[0]
        if word.isascii():
            continue
        for index, char in enumerate(word):
            if char > "\x7f":
                points += _char_score(word, index, char, alphabet)
                letters += 1
    return points, letters


def _alphabet(line: str) -> frozenset[str]:
    """Letters beyond ASCII to expect in this line: of its language as its ASCII part tells, else the best fit."""
    plain = re.sub(r"[^\x00-\x7f]", "", line)
    letters = sum(map(str.isalpha, plain))
    accents = {c.lower() for c in line if c > "\x7f" and c.isalpha()}
    if letters >= 20:
        known = _ALPHABETS.get(_ascii_language(plain[:400]))
        if known:
            return frozenset(known)
    return frozenset(max(_ALPHABETS.values(), key=lambda a: len(accents & set(a))))


@lru_cache(maxsize=4096)
def _ascii_language(text: str) -> str:
    return rank(text)[0][0]


@lru_cache(maxsize=8192)
def _kind(char: str) -> str:
    """Script or class of a character, as far as the scores need it."""
    if not char.isalpha():
        category = unicodedata.category(char)
        if category in ("Cc", "Co", "Cn", "Cs"):
            return "control"
        if "\u2500" <= char <= "\u25ff":
            return "box"
        if category[0] == "M":
            return "mark"
        return "punctuation" if category[0] in "PZ" or char in "€£©®°ºª²³§№™" else "symbol"
    name = unicodedata.name(char, "").split(" ", 1)[0]
    return {"CJK": "han", "HIRAGANA": "kana", "KATAKANA": "kana", "KATAKANA-HIRAGANA": "kana"}.get(name, name.lower())


def _char_score(word: str, index: int, char: str, alphabet: frozenset[str]) -> float:
    kind = _kind(char)
    before = word[index - 1] if index else " "
    after = word[index + 1] if index + 1 < len(word) else " "
    if kind in _FIXED:
        return -0.8 if kind == "mark" and not before.strip() else _FIXED[kind]
    if kind in ("punctuation", "symbol"):
        between = before.isalpha() and after.isalpha() and char not in "’·‑\u200c\u200d"
        return (-0.6 if between else 0.3) if kind == "punctuation" else -0.6
    if kind == "han":
        return _han_score(char, before, after)
    if char.isupper() and before.islower():
        return -1.5
    if kind == "latin":
        return _latin_score(word, char, alphabet)
    if _mixed(before, kind) or _mixed(after, kind):
        return -0.8
    return _letter_score(kind, char)


_FIXED = {"control": -2.0, "box": -0.8, "kana": 1.0, "halfwidth": -0.4, "fullwidth": 0.1, "mark": 0.5}


def _mixed(neighbour: str, kind: str) -> bool:
    """A letter of another alphabet beside this one, as mojibake has it."""
    return neighbour.isalpha() and _kind(neighbour) not in (kind, "han", "kana")


def _letter_score(kind: str, char: str) -> float:
    if kind == "cyrillic":
        return 1.0 if char in _COMMON_CYRILLIC else 0.4 if char.islower() else 0.3
    if kind == "arabic":
        return 1.0 if char in _COMMON_ARABIC else 0.5 if "\u0621" <= char <= "\u06d5" else -0.5
    if kind == "greek":
        return 0.9 if char.islower() else 0.4
    if kind == "hangul":
        # Two bytes in EUC-KR: one of the 2,350 syllables of KS X 1001, which nearly all text keeps to.
        return 0.9 if len(_bytes(char, "euc_kr")) == 2 else -0.6
    return {"hebrew": 1.0, "thai": 0.8}.get(kind, -0.3)


def _latin_score(word: str, char: str, alphabet: frozenset[str]) -> float:
    accents = [c.lower() for c in word if c > "\x7f" and c.isalpha()]
    if len(accents) >= 3 and len(accents) > 0.6 * len(word) and not alphabet.issuperset(accents):
        return -0.8
    if char.lower() in alphabet:
        return 0.9
    return 0.2 if any(char.lower() in a for a in _ALPHABETS.values()) else -0.5


def _han_score(char: str, before: str, after: str) -> float:
    if before.isascii() and after.isascii() and before.isalpha() and after.islower():
        return -0.8
    if char in _COMMON_HAN:
        return 1.0
    return 0.6 if _first_level(char) else -0.4


@lru_cache(maxsize=8192)
def _first_level(char: str) -> bool:
    """In the frequent half of one of the national sets: GB 2312 and JIS X 0208 level 1, Big5 level 1."""
    gb, big5, jis = (_bytes(char, name) for name in ("gb2312", "big5", "shift_jis"))
    return b"\xb0" <= gb[:1] <= b"\xd7" or b"\xa4" <= big5[:1] <= b"\xc6" or b"\x88" <= jis[:1] <= b"\x97"


@lru_cache(maxsize=8192)
def _bytes(char: str, encoding: str) -> bytes:
    return char.encode(encoding, "ignore")
