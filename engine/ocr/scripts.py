"""Names of languages and scripts, as ISO 639-1 and Tesseract write them."""

from __future__ import annotations

# ISO 639-1 → Tesseract's names.
LANGUAGES = {
    "en": "eng", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por", "nl": "nld", "pl": "pol",
    "sv": "swe", "da": "dan", "no": "nor", "fi": "fin", "cs": "ces", "hu": "hun", "ro": "ron", "tr": "tur",
    "ru": "rus", "uk": "ukr", "bg": "bul", "el": "ell", "ar": "ara", "he": "heb", "fa": "fas", "hi": "hin",
    "zh": "chi_sim", "ja": "jpn", "ko": "kor", "th": "tha", "vi": "vie",
}  # fmt: skip
SCRIPTS = {
    "Cyrillic": ["rus", "ukr", "bul"], "Arabic": ["ara", "fas"], "Han": ["chi_sim", "chi_tra", "jpn"],
    "HanS": ["chi_sim"], "HanT": ["chi_tra"], "Japanese": ["jpn"], "Hiragana": ["jpn"], "Katakana": ["jpn"],
    "Korean": ["kor"], "Hangul": ["kor"], "Greek": ["ell"], "Hebrew": ["heb"], "Devanagari": ["hin"],
    "Thai": ["tha"], "Fraktur": ["frk", "deu_latf", "deu"],
}  # fmt: skip
READ_LATIN = {"chi_sim", "chi_tra", "jpn", "deu", "deu_latf", "frk"}  # models that know Latin letters well enough
LATIN = ["eng", "deu", "fra", "spa", "ita", "por", "nld"]
