"""Who a text speaks for, what kind it is, and families of documents whose names tell nothing."""

from __future__ import annotations

import pytest

from corpus_pipeline.versions.profiles import document_kind, name_profile, stated_organisation
from corpus_pipeline_tests.unit.versions.conftest import Corpus

CLAUSES = (
    "When you use {0} you agree with {0} on the following. We at {0} may change the service, and {0} tells you so. "
    "Write to legal@{1}.example or see https://www.{1}.example/legal for what {0} keeps. "
)


def terms(name: str, host: str, dated: str, more: str = "") -> str:
    return f"Terms of Service\n\nLast updated: {dated}\n\n" + CLAUSES.format(name, host) * 3 + more


def test_addresses_and_names_are_counted_by_their_owner() -> None:
    profile = dict(name_profile(terms("Acme", "acme", "1 May 2024"), ["https://help.acme.co.uk/x"]))
    assert profile["at acme"] == 1.0
    assert max(profile, key=lambda name: profile[name] if name.startswith("named") else 0) == "named acme"


@pytest.mark.parametrize(
    ("headings", "text", "kind"),
    [
        (["Acme", "Privacy Notice"], "", "privacy"),
        (["Cookie Policy"], "This Privacy Policy", "cookies"),
        ([], "This User Agreement is between. These Terms of Use say. This Privacy Policy", "terms"),
        (["Installing the pump"], "Turn the screw.", ""),
    ],
)
def test_the_kind_of_a_document(headings: list[str], text: str, kind: str) -> None:
    assert document_kind(text, headings) == kind


def test_the_organisation_of_a_field() -> None:
    assert stated_organisation("Report\n\nIssued by: Harbour Office\n\nText") == "Harbour Office"
    assert stated_organisation("Nothing said.") is None


def test_the_issuer_of_a_letterhead_is_the_one_legal_name_that_stands_alone() -> None:
    cover = "FORM 10-Q\nFile Number 001\nHARBOUR CORPORATION\nWASHINGTON |  | 91-1144442\nHarbour Corporation | x"
    assert stated_organisation(cover) == "Harbour Corporation"
    assert stated_organisation("Contract between\n\nHarbour Ltd.\n\nand\n\nBluewater, Inc.") is None
    assert stated_organisation("We work with Harbour Ltd. since 2020.") is None
    assert stated_organisation("the person responsible for its Limited") is None


class TestRandomNames:
    """Files whose names tell nothing."""

    def test_one_issuer_and_one_kind_make_a_family_whose_order_waits_for_a_person(self, corpus: Corpus) -> None:
        corpus.add("3fa9c0d1.md", terms("Acme", "acme", "1 May 2022", "You pay in advance."), title="Terms of Service")
        corpus.add("b07e55aa.md", terms("Acme", "acme", "3 June 2024", "You may leave."), title="User Agreement")
        corpus.add("90ab12cd.md", terms("Globex", "globex", "1 May 2023"), title="Terms of Service")
        outcome = corpus.resolve()
        assert outcome["3fa9c0d1.md"].family == outcome["b07e55aa.md"].family
        assert outcome["90ab12cd.md"].family != outcome["3fa9c0d1.md"].family
        assert outcome["3fa9c0d1.md"].superseded_by is None
        assert outcome["3fa9c0d1.md"].needs_review
        assert "come from one issuer" in outcome["3fa9c0d1.md"].evidence

    def test_likeness_and_dates_order_them(self, corpus: Corpus) -> None:
        corpus.add("3fa9c0d1.md", terms("Acme", "acme", "1 May 2022"), title="Terms of Service")
        corpus.add("b07e55aa.md", terms("Acme", "acme", "3 June 2024"), title="Terms of Service")
        corpus.alike("3fa9c0d1.md", "b07e55aa.md", 0.93)
        outcome = corpus.resolve()
        assert outcome["3fa9c0d1.md"].superseded_by == "handbook/b07e55aa.md"

    def test_nearly_identical_texts_of_two_services_are_no_family(self, corpus: Corpus) -> None:
        corpus.add("3fa9c0d1.md", terms("Acme", "acme", "1 May 2022"), title="Terms of Service")
        corpus.add("90ab12cd.md", terms("Globex", "globex", "3 June 2024"), title="Terms of Service")
        corpus.alike("3fa9c0d1.md", "90ab12cd.md", 0.95)
        outcome = corpus.resolve()
        assert outcome["3fa9c0d1.md"].family != outcome["90ab12cd.md"].family
        assert outcome["3fa9c0d1.md"].superseded_by is None
