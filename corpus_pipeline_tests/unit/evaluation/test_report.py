"""The report is one page that loads nothing, and text from queries and documents stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

from corpus_pipeline.evaluation import Comparison, Hit, Miss, MissClass, Observed, QueryOutcome, TrendPoint
from corpus_pipeline.evaluation.comparison import compare
from corpus_pipeline.evaluation.metrics import grouped, intervals, metrics
from corpus_pipeline.evaluation.report import render_report
from corpus_pipeline.evaluation.repository import Evaluation
from corpus_pipeline.registry import CorpusSpec, SourceSpec

HOSTILE = "<script>alert('x')</script>"
LOADING = {"script", "link", "img", "iframe", "object", "embed", "base", "form"}


def outcome(number: int, *, found: bool, domain: str) -> QueryOutcome:
    return QueryOutcome(
        query_id=f"{domain}-{number}",
        query=f"What of {HOSTILE}?",
        domain=domain,
        category="single_hop_factual",
        should_match=True,
        expected=("c/a.md",),
        accepted=(Hit(position=1, document_id="c/a.md" if found else "c/b.md", fragment_id="f", score=0.5),),
        forbidden_hits=() if number else (f"c/{HOSTILE}.md",),
        stale_hits=(),
        misses=() if found else (Miss(document_id="c/a.md", miss_class=MissClass.CROWDED_OUT, detail=HOSTILE),),
        best_score=0.5,
        reason="",
        ranked=("c/a.md", "c/b.md") if found else ("c/b.md", "c/a.md"),
        observed=Observed(relevant_fragments=int(found), forbids=True),
    )


def page() -> str:
    before = [outcome(number, found=True, domain=domain) for domain in ("billing", "support") for number in range(5)]
    after = [outcome(number, found=number > 2, domain="billing") for number in range(5)] + before[5:]
    domains = grouped(after, lambda one: one.domain)
    figures = {
        "overall": metrics(after),
        "domains": {name: metrics(group) for name, group in domains.items()},
        "categories": {"single_hop_factual": metrics(after)},
        "intervals": {
            "overall": intervals(after),
            "domains": {name: intervals(group) for name, group in domains.items()},
            "categories": {"single_hop_factual": intervals(after)},
        },
        "unknown_sources": [],
    }
    compared = Comparison(
        base_generation=6,
        base_root_sha256="b" * 64,
        queries=10,
        documents=12,
        new_documents=3,
        drops=compare(before, after, frozenset({"c/b.md"})),
    )
    latest = Evaluation(
        "c", 7, True, "", "", "r" * 64, "g" * 64, "", date(2026, 11, 1), figures, compared
    )  # fmt: skip
    points = [TrendPoint(n, {"recall_at_5": n / 8, "hit_at_1": 0.5}, 0, 10, "g") for n in range(1, 8)]
    spec = CorpusSpec(slug="c", base_folder=Path(), owner=HOSTILE, source=SourceSpec(url="docs"))
    return render_report(spec, latest, after, points)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_page_loads_nothing_and_its_policy_allows_only_its_own_style() -> None:
    text = page()
    tags = Tags()
    tags.feed(text)
    assert not LOADING & {tag for tag, _ in tags.seen}
    assert not [attributes for _, attributes in tags.seen if {"src", "href", "style", "onclick"} & set(attributes)]
    policy = next(a["content"] for tag, a in tags.seen if tag == "meta" and "http-equiv" in a) or ""
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"


def test_the_page_shows_figures_intervals_misses_drops_and_trend() -> None:
    text = page()
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;") >= 5
    assert "crowded out (3)" in text
    assert "recall for billing fell from 1.00 to 0.40" in text
    assert re.search(r"recall@5</td><td class=\"n\">0\.700</td>\s*<td>0\.400 to 1\.000", text)
    assert text.count("<polyline") == 2
    assert "recall@5 <b>0.88</b>" in text
    assert "generations 1 to 7, 0 to 1; lowest 0.12" in text
    assert "<td>single hop factual</td>" in text
    assert "passage recall" not in text  # nobody has that figure
