"""Title wording in several languages: chapter words with a number, section numbers, names of usual sections."""

from __future__ import annotations

import re

_CHAPTER = (
    "chapter|section|part|appendix|annex|article|unit|lesson|module|kapitel|abschnitt|teil|anhang|artikel|chapitre"
    "|partie|annexe|titre|cap[ií]tulo|secci[oó]n|parte|ap[eé]ndice|anexo|art[ií]culo|se[cç][cç][aã]o|ap[eê]ndice"
    "|capitolo|sezione|appendice|hoofdstuk|deel|bijlage|rozdział|część|załącznik|kapitola|část|příloha|capitolul"
    "|fejezet|bölüm|luku|osa|bilaga|avsnitt|глава|раздел|часть|приложение|розділ|κεφάλαιο|μέρος"
)
_CHAPTER_TITLE = re.compile(
    rf"(?:{_CHAPTER})\s+(?:\d{{1,3}}|[IVXLC]+|[A-Z])(?:\b|[.:])(?!\))"
    r"|第\s*[\d一二三四五六七八九十百零〇]+\s*[章节節部编編篇回条條]|제\s*\d+\s*[장절편부조]",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[^\W\d_a-zà-öø-ÿ]|§\s*\d")
_NUMBERED = re.compile(
    r"(?:\d{1,2}[.:]?|[IVX]{1,5}[.:]|[A-Z][.:])\s*[-–]?\s+[^\W\d_a-zà-öø-ÿ]|[一二三四五六七八九十]{1,3}、"
)
_NAMED = frozenset(
    re.sub(r" ", "", name)
    for name in re.split(
        ",",
        "abstract,summary,executive summary,introduction,background,motivation,related work,methods,methodology,"
        "materials and methods,results,discussion,results and discussion,conclusion,conclusions,references,"
        "bibliography,works cited,acknowledgements,acknowledgments,appendix,appendices,contents,table of contents,"
        "preface,foreword,prologue,epilogue,glossary,index,notes,further reading,learning objectives,overview,"
        "zusammenfassung,einleitung,einführung,hintergrund,methoden,ergebnisse,diskussion,fazit,schluss,ausblick,"
        "literatur,literaturverzeichnis,quellen,inhalt,inhaltsverzeichnis,vorwort,anhang,danksagung,"
        "résumé,avant-propos,contexte,méthodes,résultats,conclusions,références,bibliographie,sommaire,"
        "table des matières,remerciements,annexe,annexes,resumen,introducción,antecedentes,métodos,metodología,"
        "resultados,discusión,conclusión,conclusiones,referencias,bibliografía,índice,agradecimientos,anexos,"
        "resumo,introdução,metodologia,discussão,conclusão,referências,bibliografia,sumário,agradecimentos,"
        "riassunto,sommario,introduzione,metodi,risultati,discussione,conclusione,conclusioni,riferimenti,indice,"
        "ringraziamenti,samenvatting,inleiding,methode,resultaten,discussie,conclusie,referenties,inhoud,"
        "streszczenie,wstęp,wprowadzenie,metody,wyniki,dyskusja,wnioski,podsumowanie,literatura,spis treści,"
        "аннотация,введение,методы,результаты,обсуждение,заключение,выводы,список литературы,литература,содержание,"
        "摘要,引言,前言,绪论,方法,结果,讨论,结论,致谢,参考文献,目录,附录,概要,要旨,はじめに,おわりに,緒言,"
        "結果,考察,結論,謝辞,参考文献,目次,付録,초록,서론,방법,결과,고찰,결론,감사의글,참고문헌,목차,부록,"
        "الملخص,المقدمة,مقدمة,الخاتمة,المراجع,الفهرس,תקציר,מבוא,סיכום,מקורות",
    )
)


_MONTH = (
    r"(?:jan|feb|m[aä]r|apr|mai|may|jun|jul|aug|sep|o[ck]t|nov|de[cz]|janv|f[eé]v|avr|juin|juil|ao[uû]|d[eé]c|ene|abr"
    r"|ago|dic|gen|mag|giu|lug|set|ott|fev|mei)[^\W\d_]{0,8}\.?"
)
_DATE = re.compile(
    rf"(?:[^\W\d_]{{2,11}},?\s+)?(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s+(?:de\s+)?)?{_MONTH}(?:\s+de)?,?\s+\d{{4}})"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}\s*年\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*日)?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"@|://|\bwww\.|\w\.(?:com|org|net|edu|gov|int|eu|uk|de|fr|jp|cn)\b", re.IGNORECASE)
_PAGE = re.compile(r"\b(?:page|seite|p\.|página|pagina|стр\.)\s*\d+(?:\s*(?:of|von|de|di|sur|van|/|из)\s*\d+)?$", re.I)
_AMOUNT = re.compile(r"[$€£¥₹]\s?[\d.,]*\d$|\d\s?[$€£¥₹]$")
_LEADERS = re.compile(r"\.{4}|(?:\. ){4}|…{2}|_{4}")
_MOST_COMMAS = 3  # names in a row, not a title


def is_no_title(text: str) -> bool:
    """Whether the wording speaks against a title: dates, addresses, amounts, dot leaders, lists, mostly no letters."""
    letters = sum(map(str.isalpha, text))
    if letters < max(0.4 * len(text.replace(" ", "")), 2):
        return True
    if text.endswith((",", ";", "-")) or text.count(",") > _MOST_COMMAS or _DATE.fullmatch(text):
        return True
    return any(pattern.search(text) for pattern in (_ADDRESS, _PAGE, _AMOUNT, _LEADERS))


def is_chapter(text: str) -> bool:
    """Whether the text begins like a chapter's title ("Chapter 3", "第三章") or a section's ("2.1 Aims")."""
    return bool(_SECTION.match(text) or _CHAPTER_TITLE.match(text))


def is_numbered(text: str) -> bool:
    """Whether a single number, letter or numeral stands before a capital: a title or an item of a list."""
    return bool(_NUMBERED.match(text))


def is_named(text: str) -> bool:
    """Whether the text is nothing but the name of a usual section, numbered or not."""
    if len(text) > 40:
        return False
    return re.sub(r"^(?:\d[\d.]*|[IVX]+[.)])|[\s:.]", "", text).casefold() in _NAMED
