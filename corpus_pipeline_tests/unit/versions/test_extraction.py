from __future__ import annotations

from datetime import date

import pytest

from corpus_pipeline.versions import ClaimKind, extract_evidence
from corpus_pipeline.versions.phrases import EARLIER_VERSIONS

PEP = """PEP: 345
Title: Metadata for Python Software Packages 1.2
Status: Superseded
Created: 28-Apr-2005
Replaces: 314
Superseded-By: 566

Abstract
========
This PEP was replaced by PEP 999.
"""
RFC = """Network Working Group                                           E. Levinson
Request for Comments: 2112                                XIson, Inc.
Obsoletes: 1872, 1873,                                   February 1997
           1874
Updates: RFC 1521 (NIC 7)
Category: Standards Track

                  The MIME Multipart/Related Content-type

Status of this Memo
"""


def claims(text: str) -> list[tuple[str, str]]:
    return [(claim.kind.value, claim.reference) for claim in extract_evidence(text).claims]


def test_pep_header_fields() -> None:
    found = extract_evidence(PEP)
    assert found.number == ("pep", "345")
    assert (found.status, found.dated) == ("superseded", date(2005, 4, 28))
    header = [(claim.kind, claim.reference) for claim in found.claims if claim.rule == "header"]
    assert header == [(ClaimKind.SUPERSEDES, "314"), (ClaimKind.SUPERSEDED_BY, "566")]


def test_prose_beside_a_status_field_is_weaker_than_the_threshold() -> None:
    sentence = [claim for claim in extract_evidence(PEP).claims if claim.rule == "sentence"]
    assert [(claim.reference, claim.confidence < 0.7) for claim in sentence] == [("PEP 999", True)]


def test_rfc_header_with_a_right_hand_column_and_a_continued_list() -> None:
    assert claims(RFC) == [
        ("supersedes", "1872"),
        ("supersedes", "1873"),
        ("supersedes", "1874"),
        ("amends", "RFC 1521"),
    ]
    assert extract_evidence(RFC).number == ("rfc", "2112")


def test_a_collapsed_column_leaves_the_numbers() -> None:
    assert claims("Request for Comments: 1283 Dover Beach\nObsoletes: RFC 1161 December 1991\n") == [
        ("supersedes", "RFC 1161")
    ]


def test_company_document_control_table() -> None:
    text = (
        "Refund Policy\n\nDocument number | POL-018\nVersion | 3.0\n"
        "Effective date | 1 March 2024\nValid until | 2026-12-31\n"
        "Status | Approved\nSupersedes | POL-017 v2; Refund Policy (2019)\n"
    )
    found = extract_evidence(text)
    assert (found.number, found.version, found.status) == (("pol", "018".lstrip("0")), "3.0", "approved")
    assert (found.valid_from, found.valid_until) == (date(2024, 3, 1), date(2026, 12, 31))
    assert [claim.reference for claim in found.claims] == ["POL-017 v2", "Refund Policy (2019)"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("This policy supersedes the Refund Policy of 1 March 2024.", ("supersedes", "Refund Policy of 1 March 2024")),
        ("This document replaces version 2.1 of the Travel Policy.", ("supersedes", "version 2.1 of Travel Policy")),
        ("This agreement hereby supersedes all previous versions.", ("supersedes", EARLIER_VERSIONS)),
        ("This memo obsoletes RFC 1908 [13] and more.", ("supersedes", "RFC 1908")),
        ("This PEP has been superseded by :pep:`566`.", ("superseded_by", "PEP 566")),
        ("This page was replaced by policies/refund-policy.md.", ("superseded_by", "policies/refund-policy.md")),
        ('This handbook replaces the document entitled "Staff Rules".', ("supersedes", "Staff Rules")),
        ("This document updates RFC 2396.", ("amends", "RFC 2396")),
        ("This PEP has been partially superseded by PEP 3137.", ("amended_by", "PEP 3137")),
        ("On 1 May 2024 this policy supersedes the Travel Policy of 2019.", ("supersedes", "Travel Policy of 2019")),
        ("Superseded by refund-policy-2024.md", ("superseded_by", "refund-policy-2024.md")),
        ("This policy is no longer in force.", ("not_in_force", "")),
    ],
)
def test_sentences_in_which_a_document_speaks_of_itself(sentence: str, expected: tuple[str, str]) -> None:
    assert expected in claims(f"Title\n\nAn opening paragraph.\n\n{sentence}\n")


@pytest.mark.parametrize(
    "sentence",
    [
        "If accepted, this PEP would supersede PEP 563.",
        "This document does not obsolete RFC 2119.",
        "This policy will be superseded by the Travel Policy of 2027.",
        "The call replaces the generic object with a faster one.",
        "Bandcamp supersedes all previous agreements between us.",
        'Changed "This document obsoletes RFC 3730" to "This document obsoletes RFC 4930".',
        "PEP 262 was superseded by PEP 345.",
        "If this policy is no longer in force, ask legal.",
    ],
)
def test_hypotheses_negations_mentions_and_other_subjects_say_nothing(sentence: str) -> None:
    assert claims(f"Title\n\nAn opening paragraph.\n\n{sentence}\n") == []


def test_templates_and_empty_values_say_nothing() -> None:
    assert claims("Title: x\nReplaces: <pep number>\nSuperseded-By: *[NNN]\nSupersedes: None\nObsoletes: N/A\n") == []


def test_a_date_line_near_the_top() -> None:
    assert extract_evidence("Privacy\n\n**Last updated: June 29, 2022.** To see").dated == date(2022, 6, 29)
    assert extract_evidence("Terms\n\nEffective 1 July 2021, we ...").dated == date(2021, 7, 1)
    assert extract_evidence("Terms\n\nEffective 1 July 2021, we ...").valid_from is None


def test_this_updated_document_after_an_updated_version_is_that_other_document() -> None:
    other = "An updated version of the scheme has been published [NEW]. This updated document supersedes RFC 2313."
    assert claims(other) == []
    own = "The committee met in May. This updated document supersedes RFC 2313."
    assert claims(own) == [("supersedes", "RFC 2313")]
