"""Faults planted in a small corpus that is published: each is caught before it is published, and called by its name.

Real rooms, real model. The corpus is published once; every fault starts from it and is taken back.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline import (
    chunking,
    conversion,
    deduplication,
    embedding,
    evaluation,
    index,
    inventory,
    quality,
    versions,
)
from corpus_pipeline.evaluation import MissClass
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageContext, Verdict

OLD_TERMS = "legal/refund-terms.md"
PASSAGES = {
    "refunds.md": "Customers may ask for a refund within 30 days of purchase by writing to the billing desk.",
    "invoices.md": "Invoices are sent by electronic mail on the first working day of every month.",
    "discounts.md": "Schools and charities receive a discount of twenty percent on every yearly contract.",
    "payment-methods.md": "Payments are accepted by credit card and by bank transfer, never in cash.",
    "sla-free.md": "On the free plan support answers within five working days.",
    "sla-enterprise.md": "On the enterprise plan support answers within one hour, day and night.",
    "escalation.md": "An outage is escalated to the engineer on duty when it lasts longer than ten minutes.",
    "holidays.md": "The support desk is closed on public holidays and between Christmas and New Year.",
    "parental-leave.md": "New parents may take sixteen weeks of leave on full pay.",
    "laptops.md": "Employees receive a new laptop every four years, and keep the old one.",
}
TITLES = {
    "refunds.md": "Refund policy",
    "invoices.md": "Invoices",
    "discounts.md": "Discounts",
    "payment-methods.md": "Ways to pay",
    "sla-free.md": "Support on the free plan",
    "sla-enterprise.md": "Support on the enterprise plan",
    "escalation.md": "Escalation of outages",
    "holidays.md": "Opening hours of support",
    "parental-leave.md": "Parental leave",
    "laptops.md": "Laptops",
}
QUESTIONS = {
    "refunds.md": ("billing", "How many days do customers have to ask for a refund?"),
    "invoices.md": ("billing", "When are invoices sent to customers?"),
    "discounts.md": ("billing", "Which discount do schools and charities receive?"),
    "payment-methods.md": ("billing", "Can I pay by bank transfer or credit card?"),
    "sla-free.md": ("support", "How fast does support answer on the free plan?"),
    "sla-enterprise.md": ("support", "How fast does support answer on the enterprise plan?"),
    "escalation.md": ("support", "When is an outage escalated to the engineer on duty?"),
    "holidays.md": ("support", "Is the support desk open on public holidays?"),
    "parental-leave.md": ("people", "How many weeks of leave do new parents get?"),
    "laptops.md": ("people", "How often do employees get a new laptop?"),
}
FRONT_MATTER = {
    "refunds.md": f"supersedes: [{OLD_TERMS}]",
    "sla-free.md": "plan_tiers: [free]",
    "sla-enterprise.md": "plan_tiers: [enterprise]",
}
RECIPES_AND_STARS = (
    "simmer onion saffron galaxy nebula whisk butter telescope comet oven parsley orbit crater dough garlic supernova "
    "meteor skillet pepper asteroid basil broth eclipse constellation marinade cinnamon quasar lentils"
)
PLANS = {"sla-free.md": ("free", "sla-enterprise.md"), "sla-enterprise.md": ("enterprise", "sla-free.md")}


def document(name: str, front: str | None = None, passage: str | None = None) -> str:
    declared = FRONT_MATTER.get(name, "") if front is None else front
    return f"---\ntitle: {TITLES[name]}\n{declared}\n---\n# {TITLES[name]}\n\n{passage or PASSAGES[name]}\n"


GOOD = {name: document(name) for name in PASSAGES} | {
    OLD_TERMS: "# Refund terms of 2023\n\nA customer can claim money back during 14 days after buying, by telephone.\n"
}
QUERIES: list[dict[str, Any]] = [
    {
        "query_id": name.removesuffix(".md"),
        "query": question,
        "domain": domain,
        "expected_passages": [{"source": name, "anchor": PASSAGES[name]}],
        **({"forbidden_sources": [OLD_TERMS]} if name == "refunds.md" else {}),
        **({"filters": {"plan_tier": PLANS[name][0]}, "forbidden_sources": [PLANS[name][1]]} if name in PLANS else {}),
    }
    for name, (domain, question) in QUESTIONS.items()
]


class Corpus:
    """A folder, its golden queries, and the chain over them."""

    def __init__(self, context: StageContext, folder: Path) -> None:
        self.folder = folder
        golden = folder.parent / "golden.jsonl"
        golden.write_text("\n".join(map(json.dumps, QUERIES)))
        gates = context.spec.gates.model_copy(update={"max_removed_ratio": 1.0})  # each fault goes as it came
        changed = {"golden_queries": golden.name, "gates": gates}
        self.context = replace(context, spec=context.spec.model_copy(update=changed))

    def write(self, files: dict[str, str]) -> None:
        shutil.rmtree(self.folder)
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def judge(
        self,
        files: dict[str, str] | None = None,
        after: dict[Callable[[StageContext], Any], str] | None = None,
        **spec: Any,
    ) -> Verdict:
        """The verdict on a generation of these files; ``after`` is SQL to run once a room has worked."""
        self.write(files or GOOD)
        context = replace(self.context, spec=self.context.spec.model_copy(update=spec))
        rooms = (
            inventory.take_inventory,
            conversion.convert_corpus,
            deduplication.cluster_corpus,
            versions.resolve_corpus,
            chunking.fragment_corpus,
            embedding.embed_corpus,
            index.stage_generation,
        )
        for room in rooms:
            room(context)
            if after and room in after:
                with context.database.connection() as connection:
                    connection.execute(after[room])  # type: ignore[arg-type]
        evaluation.evaluate_generation(context)
        return quality.check_stage(context, Stage.RETRIEVAL_EVALUATION)

    def misses(self) -> Counter[MissClass]:
        with self.context.database.connection() as connection:
            outcomes = evaluation.evaluation_results(connection, "handbook")
        return Counter(miss.miss_class for outcome in outcomes for miss in outcome.misses)


def found(verdict: Verdict, expectation: str) -> str:
    """What a critical failure says."""
    said = [one["found"] for one in verdict.failures if one["expectation"] == expectation]
    assert not verdict.passed, verdict.failures
    assert said, verdict.failures
    return str(said[0])


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_planted_fault_is_caught_and_called_by_its_name(context: StageContext, corpus_folder: Path) -> None:
    corpus = Corpus(context, corpus_folder)
    assert corpus.judge().passed, corpus.misses()
    for stage in list(Stage)[:-1]:
        assert quality.check_stage(corpus.context, stage).passed
    index.publish_corpus(corpus.context)

    stale_copy(corpus)
    duplicate_flood(corpus)
    wrong_metadata(corpus)
    broken_chunker(corpus)
    bad_model(corpus)
    off_topic_documents(corpus)

    assert corpus.judge().passed, "the corpus without a fault is as good as before"


def stale_copy(corpus: Corpus) -> None:
    """The old terms come back and pass themselves off as the newer ones."""
    old = "---\ntitle: Refund policy\nsupersedes: [refunds.md]\n---\n" + GOOD[OLD_TERMS]
    verdict = corpus.judge(GOOD | {OLD_TERMS: old, "refunds.md": document("refunds.md", front="")})
    found(verdict, "no_forbidden_source")
    found(verdict, "current_not_displaced")
    assert corpus.misses() == {MissClass.STALE_OUTRANKED: 1}


def duplicate_flood(corpus: Corpus) -> None:
    """Three rewordings of each passage of billing, each too different to be taken for a copy."""
    fillers = ("indeed", "also", "always", "still", "generally", "usually")
    flood = {}
    for name, (domain, question) in QUESTIONS.items():
        for number in range(3 if domain == "billing" else 0):
            words = PASSAGES[name].split()
            for place in range(len(words) - 1, 2, -4):
                words.insert(place, fillers[(place + number) % len(fillers)])
            text = f"{question} {' '.join(words)}"
            flood[f"mirror/{'abc'[number]}/{name}"] = f"# {TITLES[name]}\n\n{text}\n"
    verdict = corpus.judge(GOOD | flood)
    said = found(verdict, "recall_kept")
    assert "for billing fell from 1.00 to" in said
    assert "mirror/" in said
    assert corpus.misses().most_common(1)[0][0] is MissClass.CROWDED_OUT


def wrong_metadata(corpus: Corpus) -> None:
    """The plans of two documents are exchanged."""
    changed = {
        "sla-free.md": document("sla-free.md", front="plan_tiers: [enterprise]"),
        "sla-enterprise.md": document("sla-enterprise.md", front="plan_tiers: [free]"),
    }
    verdict = corpus.judge(GOOD | changed)
    found(verdict, "no_forbidden_source")
    assert [one["severity"] for one in verdict.failures if one["expectation"] == "recall_steady"] == ["warning"]
    assert corpus.misses() == {MissClass.FILTERED: 2}


def broken_chunker(corpus: Corpus) -> None:
    """A new chunker writes fragments that no longer say what the documents say."""
    garbled = """
        UPDATE corpus.fragments SET text = reverse(text), embedded_text = reverse(embedded_text),
            text_sha256 = encode(sha256(convert_to(reverse(text), 'UTF8')), 'hex'),
            embedded_sha256 = encode(sha256(convert_to(reverse(embedded_text), 'UTF8')), 'hex')
    """
    cut = corpus.context.spec.chunking.model_copy(update={"child_tokens": 150})
    verdict = corpus.judge(after={chunking.fragment_corpus: garbled}, chunking=cut)
    found(verdict, "recall_kept")
    assert corpus.misses() == {MissClass.NOT_INDEXED: len(QUERIES)}


def bad_model(corpus: Corpus) -> None:
    """The vectors of the passages come from other weights than those of the questions."""
    revised = corpus.context.spec.embedding.model_copy(update={"passage_prompt": "passage: "})
    turned = f"""
        UPDATE corpus.embeddings SET vector = CAST(
            (SELECT array_agg(v ORDER BY i DESC) FROM unnest(CAST(vector AS real[])) WITH ORDINALITY AS u (v, i))
            AS public.vector)
        WHERE fingerprint = '{embedding.embedding_fingerprint(revised)}'
    """
    verdict = corpus.judge(after={embedding.embed_corpus: turned}, embedding=revised)
    said = found(verdict, "recall_kept")
    assert "over all queries" in said or "for billing" in said
    assert corpus.misses().most_common(1)[0][0] in {MissClass.BELOW_SCORE, MissClass.NOT_RETRIEVED}


def off_topic_documents(corpus: Corpus) -> None:
    """A folder of recipes and star charts."""
    words = RECIPES_AND_STARS.split()
    draw = random.Random(7)
    flood = {
        f"imported/page-{number:03}.md": f"# {draw.choice(words)}\n\n{' '.join(draw.choices(words, k=60))}\n"
        for number in range(100)
    }
    verdict = corpus.judge(GOOD | flood)
    said = found(verdict, "new_documents_on_topic")
    assert "new documents" in said
    named = next(one["documents"] for one in verdict.failures if one["expectation"] == "new_documents_on_topic")
    assert all("imported/" in document_id for document_id in named)
