"""Who a document speaks for and what kind of document it is, from its text alone.

Nearly identical texts of different services differ in the names they use and in the addresses they
point to; versions of one text agree in both. File names and titles are no part of this.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["document_kind", "name_profile", "stated_organisation"]

READ_CHARS = 100_000
MOST_ADDRESSES, MOST_NAMES = 10, 20
SHORTEST_NAME = 3
MOST_LINKS = 2_000
HEADINGS = 4

_ADDRESS = re.compile(r"(?:https?://|www\.|@)((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})", re.IGNORECASE)
# A capital inside a sentence: what stands before it is a word or a comma, not a stop or a mark of emphasis.
_NAME = re.compile(r"(?<=[a-z,;] )([A-Z][A-Za-z0-9&.'\u2019]{1,40})")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_COMMON = frozenset(
    [
        "i",
        "you",
        "we",
        "our",
        "your",
        "the",
        "this",
        "these",
        "if",
        "and",
        "or",
        "any",
        "all",
        "inc",
        "ltd",
        "llc",
        "gmbh",
        "corp",
        "section",
        "article",
        "annex",
        "schedule",
        "policy",
        "policies",
        "privacy",
        "terms",
        "term",
        "service",
        "services",
        "agreement",
        "content",
        "information",
        "personal",
        "data",
        "user",
        "users",
        "use",
        "conditions",
        "site",
        "sites",
        "website",
        "websites",
        "cookies",
        "cookie",
        "notice",
        "statement",
        "internet",
        "web",
        "account",
    ]
)
_KINDS = (
    ("cookies", "cookie|tracker|tracking|similar technolog"),
    ("privacy", "privacy|data protection|personal (?:data|information)"),
    ("acceptable use", "acceptable use|prohibited|usage polic|abuse"),
    ("developers", r"developer|\bapi\b|\bsdk\b"),
    ("copyright", "copyright|dmca|infring|intellectual property"),
    ("brand", "brand|trademark|logo"),
    ("advertising", "advertis|publish"),
    ("community", "communit|code of conduct|content standards"),
    ("terms", "terms|conditions|agreement|eula|licen[cs]e"),
)
_KIND_FORMS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _KINDS)
_SELF_NAME = re.compile(
    r"\b(?:[Tt]his|[Tt]hese|[Oo]ur|the)\s+[\"\u201c*_]*"
    r"((?:[A-Z][A-Za-z.'\u2019-]{0,30}\s+(?:(?:of|and|for|&)\s+)?){0,4}"
    r"(?:Polic(?:y|ies)|Notice|Statement|Terms(?: of (?:Use|Service|Sale))?|Agreement|Guidelines|Conditions|Rules"
    r"|Contract|Code))\b"
)
_REGISTRANT = re.compile(r"(?P<name>[^\n|(]{2,80}?)\s*[|\n_]*\s*\(\s*exact name of (?:the )?registrant", re.IGNORECASE)
_ORGANISATION_FIELD = re.compile(
    r"^\W*(?:company|company name|organi[sz]ation|issuer|issued by|registrant|publisher)\s*\**\s*[:|]\s*"
    r"(?P<name>[^\n|]{2,80})",
    re.IGNORECASE | re.MULTILINE,
)

_LEGAL_NAME = re.compile(
    r"(?:[A-Z0-9\u00c0-\u00de&][\w.&'\u2019-]*,?\s){1,6}"
    r"(?:Inc|INC|Incorporated|INCORPORATED|Corp|CORP|Corporation|CORPORATION|Ltd|LTD|Limited|LIMITED|LLC|LLP"
    r"|PLC|Plc|plc|GmbH|AG|SE|S\.A|N\.V|B\.V)\.?"
)


def name_profile(text: str, links: Sequence[str] = ()) -> tuple[tuple[str, float], ...]:
    """Names and addresses a text uses most, each with its share among its own kind, sorted by name.

    Args:
        text: The converted text.
        links: Where its links lead; converted text does not show that.

    >>> name_profile("Write to help@acme.example. With us Acme and with you Acme works.")
    (('at acme', 1.0), ('named acme', 1.0))
    """
    part = text[:READ_CHARS]
    written = "\n".join([part, *links[:MOST_LINKS]])
    addresses = Counter(_owner(match[1]) for match in _ADDRESS.finditer(written))
    names = Counter(
        name
        for match in _NAME.finditer(part)
        if len(name := _POSSESSIVE.sub("", match[1].rstrip(".'\u2019")).lower()) >= SHORTEST_NAME
        and name not in _COMMON
    )
    shares = [*_shares("at", addresses, MOST_ADDRESSES), *_shares("named", names, MOST_NAMES)]
    return tuple(sorted(shares))


def _shares(what: str, counts: Counter[str], most: int) -> Iterable[tuple[str, float]]:
    total = sum(counts.values())
    kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [(f"{what} {name}", round(count / total, 4)) for name, count in kept]


def _owner(address: str) -> str:
    """The part of a host name that names its owner: ``acme`` of ``www.acme.co.uk``."""
    parts = address.lower().split(".")
    short_second_level = len(parts) > 2 and len(parts[-2]) <= 3  # noqa: PLR2004 - co.uk, com.au
    return parts[-3] if short_second_level else parts[-2]


def document_kind(text: str, headings: Sequence[str] = ()) -> str:
    """The kind of document: one of a few known kinds, else empty.

    Read from the title and first headings, then from the name by which the text speaks of itself most often.

    >>> document_kind("Text.", ["Acme", "Privacy Notice"]), document_kind("This Cookie Policy says")
    ('privacy', 'cookies')
    """
    for heading in headings[:HEADINGS]:
        if found := _kind(heading):
            return found
    counts = Counter(kind for match in _SELF_NAME.finditer(text[:READ_CHARS]) if (kind := _kind(match[1])))
    return min(counts, key=lambda kind: (-counts[kind], kind)) if counts else ""


def _kind(words: str) -> str:
    return next((kind for kind, form in _KIND_FORMS if form.search(words)), "")


def stated_organisation(text: str) -> str | None:
    r"""Who issued a document, where a field, the cover of a filing or a letterhead says so.

    A letterhead is the one name with a legal form that stands alone in a line or a table cell at the
    beginning; a text that begins with two of them, as a contract does, is issued by neither.

    >>> stated_organisation("Apple Inc.\n\n(Exact name of Registrant as specified in its charter)")
    'Apple Inc.'
    """
    match = _REGISTRANT.search(text[:8_000]) or _ORGANISATION_FIELD.search(text[:3_000])
    if match is None:
        return _letterhead(text[:3_000])
    name = " ".join(match["name"].strip(" _*:|\n\t").split())
    return name or None


def _letterhead(beginning: str) -> str | None:
    cells = (" ".join(cell.strip(" _*#").split()) for line in beginning.splitlines() for cell in line.split("|"))
    names = {cell.casefold(): cell for cell in cells if _LEGAL_NAME.fullmatch(cell)}
    return next(iter(names.values())) if len(names) == 1 else None
