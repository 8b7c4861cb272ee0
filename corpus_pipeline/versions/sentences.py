"""Sentences in which a document speaks of itself: "This policy supersedes the Refund Policy of 1 March 2024".

Only statements about the document itself count, and only as facts: negated, conditional and
future ones are left out, partial ones amend.
"""

from __future__ import annotations

import re

from corpus_pipeline.versions.claims import Claim, ClaimKind
from corpus_pipeline.versions.phrases import named_documents

__all__ = ["sentence_claims"]

SENTENCE_CONFIDENCE = 0.85
BESIDE_STATUS_CONFIDENCE = 0.6

SEARCHED_CHARS = 30_000  # at the start; the same again at the end, where document histories are
_NOUN = r"(?:document|memo|rfc|pep|policy|standard|version|specification|guide|guideline|edition|procedure|agreement"
_NOUN += (
    r"|notice|revision|release|page|manual|handbook|runbook|article|text|statement|terms|schedule|annex|circular)s?"
)
_SUBJECT = rf"(?:this|these|the (?:present|current)) (?:[\w-]+ ){{0,3}}?{_NOUN}"
_ADVERB = r"(?:(?:hereby|also|completely|entirely|fully|formally|officially|now|and|together)\s+){0,3}"
_ACTIVE = r"(?:supersedes?|supercedes?|replaces?|obsoletes?|cancels?(?: and replaces?)?|rescinds?|repeals?|revokes?)"
_AMEND = r"(?:amends?|updates?|modifies|modify)"
_PASSIVE = r"(?:superseded|superceded|replaced|obsoleted|made obsolete|rendered obsolete|cancelled)"
_PARTLY = r"(?P<partly>(?:partially|partly|in part)\s+)?"
_BE = r"(?:is|are|was|were|has been|have been)"
_TITLE_WORDS = r"(?P<reference>[^.;\n]{1,20}(?:[^.;\n]|\.(?=\w)){0,180})"

_FORMS = (
    (ClaimKind.SUPERSEDES, re.compile(rf"\b{_SUBJECT}\s+{_ADVERB}{_PARTLY}{_ACTIVE}\s+{_TITLE_WORDS}", re.IGNORECASE)),
    (ClaimKind.AMENDS, re.compile(rf"\b{_SUBJECT}\s+{_ADVERB}{_AMEND}\s+{_TITLE_WORDS}", re.IGNORECASE)),
    (
        ClaimKind.SUPERSEDED_BY,
        re.compile(
            rf"\b{_SUBJECT}\s+{_BE}\s+{_ADVERB}{_PARTLY}{_PASSIVE}\s+(?:by|with)\s+{_TITLE_WORDS}", re.IGNORECASE
        ),
    ),
    (
        ClaimKind.SUPERSEDES,
        re.compile(rf"(?:^|\n)[\W_]*(?:supersedes|replaces|obsoletes)\s+{_TITLE_WORDS}", re.IGNORECASE),
    ),
    (
        ClaimKind.SUPERSEDED_BY,
        re.compile(rf"(?:^|\n)[\W_]*(?:superseded|replaced)\s+by\s+{_TITLE_WORDS}", re.IGNORECASE),
    ),
)
_NOT_IN_FORCE = re.compile(
    rf"\b{_SUBJECT}\s+(?:{_BE}\s+(?:now\s+)?(?:no longer (?:in force|valid|in effect|applicable|current)"
    r"|withdrawn|rescinded|obsolete|out of date|retired)|no longer applies)\b[^.\n]{0,60}",
    re.IGNORECASE,
)
_UNFACTUAL = re.compile(
    r"\b(?:"
    r"not|never|would|will|(?-i:may)|might|could|should|shall|if|unless|when|until|once|does"
    r"|(?:proposed|intended) to)\b",
    re.IGNORECASE,
)
# "An updated version of PKCS #1 has been published. This updated document supersedes ..." speaks of that other one.
_ANOTHER = re.compile(r"\b(?:an?|another) (?P<which>new|newer|updated|revised|later)\b", re.IGNORECASE)
_THIS_OTHER = re.compile(
    r"^(?:this|these) (?:[\w-]+ ){0,2}?(?P<which>new|newer|updated|revised|later)\b", re.IGNORECASE
)
BACKWARDS = 200

_OPENING_QUOTES = ('"', "\u201c", "\u2018", "\u00ab")
_BREAK_IN_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\s*\n)[ \t]*(?=\S)")
_BLANKS = re.compile(r"[^\S\n]+")


def sentence_claims(text: str, *, has_status: bool) -> list[Claim]:
    """Claims from sentences.

    Args:
        text: The whole text.
        has_status: The document keeps its standing in a header; what its prose says beside that
            is weaker, because the header would say so.
    """
    confidence = BESIDE_STATUS_CONFIDENCE if has_status else SENTENCE_CONFIDENCE
    claims: list[Claim] = []
    for part in _searched(text):
        for kind, form in _FORMS:
            for match in form.finditer(part):
                if _is_fact(part, match.start(), match["reference"], match[0][: -len(match["reference"])]):
                    claims.extend(_claims_of(kind, match, confidence))
        claims.extend(
            _claim(ClaimKind.NOT_IN_FORCE, "", match[0], confidence)
            for match in _NOT_IN_FORCE.finditer(part)
            if not _UNFACTUAL.search(_clause_before(part, match.start()))
        )
    return list(dict.fromkeys(claims))


def _searched(text: str) -> list[str]:
    parts = [text] if len(text) <= 2 * SEARCHED_CHARS else [text[:SEARCHED_CHARS], text[-SEARCHED_CHARS:]]
    # A line break inside a paragraph is a space; an empty line stays a break.
    return [_BLANKS.sub(" ", _BREAK_IN_PARAGRAPH.sub(" ", part)) for part in parts]


def _clause_before(part: str, position: int) -> str:
    start = max(part.rfind(mark, 0, position) for mark in (". ", "\n", "; ", ": "))
    return part[start + 1 : position][-120:]


def _is_fact(part: str, position: int, reference: str, head: str) -> bool:
    if part[max(position - 1, 0) : position] in _OPENING_QUOTES:
        return False  # quoted words are mentioned, not said
    if (named := _THIS_OTHER.match(head)) and any(
        other["which"].lower() == named["which"].lower()
        for other in _ANOTHER.finditer(part[max(position - BACKWARDS, 0) : position])
    ):
        return False
    if re.search(r"\bnot\b|\bnever\b", head, re.IGNORECASE) or _UNFACTUAL.search(_clause_before(part, position)):
        return False
    return not re.match(r"(?:or|nor)\b", reference, re.IGNORECASE)


def _claims_of(kind: ClaimKind, match: re.Match[str], confidence: float) -> list[Claim]:
    partly = "partly" in match.groupdict() and match["partly"]
    if partly or re.match(r".{0,60}\b(?:in part|partially)\b", match["reference"], re.IGNORECASE):
        kind = {ClaimKind.SUPERSEDES: ClaimKind.AMENDS, ClaimKind.SUPERSEDED_BY: ClaimKind.AMENDED_BY}.get(kind, kind)
    return [_claim(kind, reference, match[0], confidence) for reference in named_documents(match["reference"])]


def _claim(kind: ClaimKind, reference: str, quote: str, confidence: float) -> Claim:
    return Claim(
        kind=kind, reference=reference, rule="sentence", quote=" ".join(quote.split())[:240], confidence=confidence
    )
