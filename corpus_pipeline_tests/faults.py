"""Faults planted in a small corpus that is published, each with the check that should catch it and its name.

Real rooms, real model. Tests and a benchmark plant them.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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

    def publish(self) -> None:
        """The corpus without a fault, published."""
        verdict = self.judge()
        assert verdict.passed, verdict.failures
        for stage in list(Stage)[:-1]:
            assert quality.check_stage(self.context, stage).passed
        index.publish_corpus(self.context)

    def judge(
        self,
        files: Mapping[str, str] | None = None,
        after: Mapping[Callable[[StageContext], Any], str] | None = None,
        **spec: Any,
    ) -> Verdict:
        """The verdict on a generation of these files; ``after`` is SQL to run once a room has worked."""
        self.write(dict(files or GOOD))
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


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        files: The corpus with it.
        caught_by: Expectations of the evaluation that it must not meet.
        classes: Miss classes the most frequent of which must be among these; empty where no question is missed.
        after: SQL to run once a room has worked.
        spec: What is configured otherwise.
    """

    name: str
    files: Mapping[str, str]
    caught_by: tuple[str, ...]
    classes: tuple[MissClass, ...] = ()
    after: Mapping[Callable[[StageContext], Any], str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)

    def plant(self, corpus: Corpus) -> Verdict:
        """The verdict on the corpus with the fault."""
        return corpus.judge(self.files, dict(self.after), **self.spec)


def faults(corpus: Corpus, *, off_topic: int = 100, off_topic_words: int = 60) -> list[Fault]:
    """All six, the one of most documents last."""
    return [
        stale_copy(),
        duplicate_flood(),
        wrong_metadata(),
        broken_chunker(corpus),
        bad_model(corpus),
        off_topic_documents(off_topic, off_topic_words),
    ]


def stale_copy() -> Fault:
    """The old terms come back and pass themselves off as the newer ones."""
    old = "---\ntitle: Refund policy\nsupersedes: [refunds.md]\n---\n" + GOOD[OLD_TERMS]
    return Fault(
        "a stale copy",
        GOOD | {OLD_TERMS: old, "refunds.md": document("refunds.md", front="")},
        ("no_forbidden_source", "current_not_displaced"),
        (MissClass.STALE_OUTRANKED,),
    )


def duplicate_flood() -> Fault:
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
    return Fault("a duplicate flood", GOOD | flood, ("recall_kept",), (MissClass.CROWDED_OUT,))


def wrong_metadata() -> Fault:
    """The plans of two documents are exchanged."""
    changed = {
        "sla-free.md": document("sla-free.md", front="plan_tiers: [enterprise]"),
        "sla-enterprise.md": document("sla-enterprise.md", front="plan_tiers: [free]"),
    }
    return Fault("wrong metadata", GOOD | changed, ("no_forbidden_source",), (MissClass.FILTERED,))


def broken_chunker(corpus: Corpus) -> Fault:
    """A new chunker writes fragments that no longer say what the documents say."""
    garbled = """
        UPDATE corpus.fragments SET text = reverse(text), embedded_text = reverse(embedded_text),
            text_sha256 = encode(sha256(convert_to(reverse(text), 'UTF8')), 'hex'),
            embedded_sha256 = encode(sha256(convert_to(reverse(embedded_text), 'UTF8')), 'hex')
    """
    cut = corpus.context.spec.chunking.model_copy(update={"child_tokens": 150})
    return Fault(
        "a broken chunker",
        GOOD,
        ("recall_kept",),
        (MissClass.NOT_INDEXED,),
        after={chunking.fragment_corpus: garbled},
        spec={"chunking": cut},
    )


def bad_model(corpus: Corpus) -> Fault:
    """The vectors of the passages come from other weights than those of the questions."""
    revised = corpus.context.spec.embedding.model_copy(update={"passage_prompt": "passage: "})
    turned = f"""
        UPDATE corpus.embeddings SET vector = CAST(
            (SELECT array_agg(v ORDER BY i DESC) FROM unnest(CAST(vector AS real[])) WITH ORDINALITY AS u (v, i))
            AS public.vector)
        WHERE fingerprint = '{embedding.embedding_fingerprint(revised)}'
    """
    return Fault(
        "a bad model revision",
        GOOD,
        ("recall_kept",),
        (MissClass.BELOW_SCORE, MissClass.NOT_RETRIEVED),
        after={embedding.embed_corpus: turned},
        spec={"embedding": revised},
    )


def off_topic_documents(count: int, words: int) -> Fault:
    """A folder of recipes and star charts."""
    known = RECIPES_AND_STARS.split()
    draw = random.Random(7)
    flood = {
        f"imported/page-{number:05}.md": f"# Page {number}\n\n{' '.join(draw.choices(known, k=words))}\n"
        for number in range(count)
    }
    return Fault(f"{count:,} off-topic documents", GOOD | flood, ("new_documents_on_topic",))
