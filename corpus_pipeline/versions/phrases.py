"""What a phrase such as "the Refund Policy of 1 March 2024" names, in a form that ``references`` resolves."""

from __future__ import annotations

import re

from corpus_pipeline.versions.dates import DATE_PATTERN

__all__ = ["EARLIER_VERSIONS", "named_documents"]

EARLIER_VERSIONS = "all earlier versions"
"""Reference of "replaces all previous versions": the older members of the document's own family."""

_FOOTNOTE = r"\[[^\]]{1,12}\]"
_PREFIX = r"(?:\bRFC|\bPEP|\b[A-Z]{2,8})"
_NUMBERED = re.compile(
    rf"(?P<prefix>{_PREFIX})s?`{{0,2}}(?: |-|:`|`)?#?0*\d+(?:(?:[\s,`]|and\b|&|\bRFC|\bPEP|{_FOOTNOTE}|:pep:)*\d+)*"
)
_ROLE = re.compile(r":pep:`(\d+)[^`]*`|:rfc:`(\d+)[^`]*`")
_EARLIER = re.compile(
    r"^(?:the|its|our|all|any|every)?\s*(?:of the\s+)?(?:previous|prior|earlier|older|preceding)\s+"
    r"(?:versions?|editions?|issues?|revisions?|policies)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"\b(?:version|revision|rev\.?|edition|issue|v)\s?(?P<version>\d+(?:\.\d+)*|[A-Z])\b"
    r"(?:\s+(?:of|to)\s+(?:the\s+)?(?P<title>.{3,100}))?",
    re.IGNORECASE,
)
_QUOTED = re.compile("[\"\u201c\u2018'](?P<title>[^\"\u201d\u2019']{4,120})[\"\u201d\u2019']")
_LONGEST_LEAD_IN = len("the document entitled ")
_SMALL = "of|and|for|on|the|to|in|a"
_WORD = "[A-Z0-9][\\w&\u2019'().-]*"
_TITLED = re.compile(
    rf"^(?:the|our|its)?\s*(?P<title>(?:[A-Z][\w&'()-]*)(?:[ ](?:{_WORD}|{_SMALL}))*?)"
    rf"(?:,?\s+(?:of|dated|issued|effective|from|published)(?:\s+on)?\s+(?P<date>(?i:{DATE_PATTERN})|(?:19|20)\d\d)"
    r"|\s+\(?(?P<year>(?:19|20)\d\d)\)?|(?=,|\s+(?!(?:of|and|for|on|the|to|in|a)?\s*[A-Z0-9])|$))",
)
_PATH = re.compile(
    r"(?<![\w/])(?P<path>(?:[\w.-]+/)*[\w-][\w .()-]*?\.(?:md|rst|txt|pdf|docx?|html?|odt|pptx?|adoc))\b", re.IGNORECASE
)


def named_documents(phrase: str) -> list[str]:
    """The documents that a phrase begins with, in a form that ``references`` resolves.

    >>> named_documents("RFC 1908 [13] and RFC2089 [14] in all respects")
    ['RFC 1908', 'RFC 2089']
    >>> named_documents("version 2.1 of the Travel Policy")
    ['version 2.1 of Travel Policy']
    >>> named_documents("the Refund Policy of 1 March 2024 as it stood")
    ['Refund Policy of 1 March 2024']
    >>> named_documents("the generic object with a faster one")
    []
    """
    phrase = " ".join(_ROLE.sub(lambda m: f"PEP {m[1]}" if m[1] else f"RFC {m[2]}", phrase).split())
    if _EARLIER.match(phrase):
        return [EARLIER_VERSIONS]
    if numbers := _leading_numbers(phrase):
        return numbers
    if (match := _PATH.search(phrase[:120])) is not None:
        return [match["path"].strip()]
    if (match := _VERSION.search(phrase[:60])) is not None:
        return [_version_reference(match)]
    return _titled(phrase)


def _titled(phrase: str) -> list[str]:
    quoted = _QUOTED.search(phrase)
    if quoted is not None and quoted.start() <= _LONGEST_LEAD_IN:
        return [quoted["title"]]
    match = _TITLED.match(phrase)
    if match is None or " " not in match["title"]:
        return []
    when = match["date"] or match["year"]
    return [f"{match['title']} of {when}" if when else match["title"]]


def _version_reference(match: re.Match[str]) -> str:
    title = re.split(r"\s(?:which|that|and|as|in|with|from|effective|on)\s|[,(]", match["title"] or "")[0].strip()
    return f"version {match['version']} of {title}" if title else f"version {match['version']}"


def _leading_numbers(phrase: str) -> list[str]:
    found = re.match(r"(?:both\s+|the\s+)?(?:earlier\s+|previous\s+)?(?:\[?)", phrase, re.IGNORECASE)
    start = found.end() if found else 0
    match = _NUMBERED.match(phrase, start)
    if match is None:
        return []
    listed = re.sub(r"\[[^\]]{1,12}\]", " ", phrase[start : match.end()])
    return [f"{match['prefix'].upper()} {int(number)}" for number in re.findall(r"\d+", listed)]
