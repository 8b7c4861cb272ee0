"""Random readers, filters and questions: nothing of a row that a reader may not see comes back, by any way.

At the level of SQL the rows are known one by one. Through the interface every document carries a word of its own in
its name, its title, its text and its metadata, and that word must not occur in anything that a stranger is given.
"""

from __future__ import annotations

import dataclasses
import json
import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline import evidence
from corpus_pipeline.index import analyser_for, read_session
from corpus_pipeline.retrieval import SearchFilters, SearchRequest, search
from corpus_pipeline.store import Database, StageContext
from corpus_pipeline_tests.chain import night

AS_OF = date(2026, 11, 1)
SPACE = "6" * 64
GROUPS = ("everyone", "finance", "legal", "a,b", "{x}", 'quo"te', "o'clock", "NULL", "%", "ä ö")
WORDS = tuple(f"word{number}" for number in range(30))


def random_filters(pick: random.Random) -> SearchFilters:
    wanted: dict[str, Any] = {}
    for key, values in {
        "product": ("Atlas", "RELAY", "none of these"),
        "plan_tier": ("free", "pro"),
        "region": ("eu", "US"),
        "environment": ("prod",),
        "customer_facing": (True, False),
        "attributes": ({"team": "red"}, {"o'key": "1"}),
    }.items():
        if pick.random() < 0.15:
            wanted[key] = pick.choice(values)
    return SearchFilters(**wanted)


def random_columns(pick: random.Random) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "acl_groups": sorted(pick.sample(GROUPS, pick.randint(1, 3))),
        "product": pick.choice([None, "atlas", "Relay"]),
        "plan_tiers": pick.choice([[], ["Free"], ["pro", "free"]]),
        "region": pick.choice([None, "eu"]),
        "environment": pick.choice([None, "prod", "test"]),
        "answer_use": pick.choice(["any", "any", "internal", "never"]),
        "attributes": pick.choice([{}, {"team": "red"}, {"o'key": 1}]),
        "valid_from": pick.choice([None, None, AS_OF, AS_OF + timedelta(days=1)]),
        "valid_until": pick.choice([None, None, AS_OF, AS_OF - timedelta(days=1)]),
        "generation_from": pick.choice([1, 1, 2, 3]),
        "generation_to": pick.choice([None, None, None, 2]),
    }
    if pick.random() < 0.2:
        columns["exclusion_reason"] = "superseded"
    return columns if columns["generation_to"] != columns["generation_from"] else columns | {"generation_to": None}


def is_seen(columns: dict[str, Any], groups: tuple[str, ...], *, archived: bool) -> bool:
    """Whether a reader of generation 2 sees the row."""
    if not set(columns["acl_groups"]) & set(groups):
        return False
    if columns["generation_from"] > 2 or columns["generation_to"] == 2:
        return False
    in_force = (columns["valid_from"] or AS_OF) <= AS_OF <= (columns["valid_until"] or AS_OF)
    return archived or ("exclusion_reason" not in columns and in_force)


def test_sql_shows_exactly_the_rows_of_the_readers_groups(database: Database, serve: Any, served: Any) -> None:
    pick = random.Random(3)
    chance = np.random.default_rng(3)
    documents = [
        served(f"{n:03}.md", " ".join(pick.sample(WORDS, 6)), row / np.linalg.norm(row), random_columns(pick))
        for n, row in enumerate(chance.normal(size=(400, 8)).astype(np.float32))
    ]
    target = serve("c", documents, generation=2, space=SPACE)
    with database.connection() as connection:  # one row with the next generation's number is not a published one
        connection.execute("UPDATE corpus.generations SET base_generation = 1")
    by_id = {f"c/{document.path}": document for document in documents}
    analyser = analyser_for("english")
    ids = sql.SQL("SELECT document_id FROM {}").format(sql.Identifier("serving", target.table))
    looked_at = 0

    for seed in range(150):
        pick = random.Random(seed)
        groups = tuple(pick.sample((*GROUPS, "strangers", ""), pick.randint(0, 3)))
        filters, words = random_filters(pick), pick.sample(WORDS, pick.randint(0, 4))
        archived, claimed = pick.random() < 0.3, pick.choice(("", "c:3", "c:1", "other:1"))
        with read_session(database, groups=groups, as_of=AS_OF, show_archived=archived) as reader:
            reader.execute("SELECT set_config('corpus.evaluate_generation', %s, true)", (claimed,))
            rows = {row["document_id"] for row in reader.execute(ids)}
            parents = {row["document_id"] for row in reader.execute("SELECT document_id FROM serving.parents")}
            found = {
                row["fragment_id"].split("::")[0]
                for row in reader.execute(
                    "SELECT fragment_id FROM serving.lexical_candidates('c', %s, %s, 1000)",
                    (analyser.terms(" ".join(words)), Jsonb(filters.as_json())),
                )
            }
        seen = {name for name, one in by_id.items() if is_seen(one.columns, groups, archived=archived)}
        assert rows == parents == seen, seed
        answering = {name for name in seen if is_seen(by_id[name].columns, groups, archived=False)}
        assert found == {name for name in answering if may_answer(by_id[name], filters, words)}, seed
        looked_at += len(found)
    assert looked_at > 500


def may_answer(document: Any, filters: SearchFilters, words: list[str]) -> bool:
    """Whether a row that is seen meets the filters and has one of the words."""
    columns, wanted = document.columns, filters.as_json()
    same = {
        "product": str(columns["product"] or "").lower(),
        "region": columns["region"] or str(wanted.get("region", "")).lower(),
        "environment": columns["environment"] or wanted.get("environment", ""),
    }
    tiers = [tier.lower() for tier in columns["plan_tiers"]]
    return (
        columns["answer_use"] != "never"
        and bool(set(words) & set(document.text.split()))
        and all(str(wanted[key]).lower() == value for key, value in same.items() if key in wanted)
        and (not tiers or wanted.get("plan_tier", tiers[0]) in tiers)
        and (not wanted.get("customer_facing") or columns["answer_use"] == "any")
        and all(str(columns["attributes"].get(key)) == value for key, value in wanted.get("attributes", {}).items())
    )


@dataclasses.dataclass
class Library:
    """Two published corpora, and who may see which word of its own."""

    context: StageContext
    markers: dict[str, set[str]]
    """Groups that may see a marker, by marker."""
    questions: list[str]

    def hidden(self, groups: tuple[str, ...]) -> list[str]:
        return [marker for marker, may in self.markers.items() if not may & set(groups)]


@pytest.fixture
def library(context: StageContext, tmp_path: Path) -> Library:
    """Files with random groups, copies of each other among them, in two corpora, through the whole chain."""
    pick = random.Random(11)
    specs = {}
    markers: dict[str, set[str]] = {}
    texts: list[tuple[str, str]] = []
    for slug in ("alpha", "beta"):
        folder = tmp_path / slug
        folder.mkdir()
        specs[slug] = context.spec.model_copy(
            update={"slug": slug, "source": context.spec.source.model_copy(update={"url": slug})}
        )
        for number in range(20):
            own = f"qx{slug[0]}{number:02d}z"
            groups = pick.choice((["everyone"], ["finance"], ["finance", "legal"], ["board"]))
            if texts and pick.random() < 0.4:
                marker, text = pick.choice(texts)  # the same words, perhaps for other readers
            else:
                marker = f"vk{slug[0]}{number:02d}y"
                subject = pick.choice(("Refunds", "Invoices", "Outages", "Holidays"))
                words = " ".join(pick.choices(WORDS, k=20))
                text = f"# {subject} {marker}\n\nThe rule on {subject.lower()} is {marker} {words}.\n"
                texts.append((marker, text))
            declared = {"title": f"Rule {own}", "product": f"Product {own}", "attributes": {"o": own}}
            if number % 2:  # a section that others have too, word for word, some of them for the same readers
                marker, words = pick.choice((("vkonez", "telephone"), ("vktwoz", "letter")))
                declared, shared = {"title": "Contact"}, f"Refunds are asked for {marker} by {words}."
                text = f"# Contact\n\n## {own}\n\nThe rule of {own} is {' '.join(pick.choices(WORDS, k=12))}.\n"
                text += f"\n## Refunds by {words}\n\n{shared}\n"
            for name in (own, marker):
                markers.setdefault(name, set()).update(groups)
            front = declared | {"acl_groups": groups}
            (folder / f"{own}.md").write_text(f"---\n{json.dumps(front)}\n---\n{text}")
    registry = context.registry.model_copy(update={"corpora": specs})
    for spec in specs.values():
        night(dataclasses.replace(context, spec=spec, registry=registry))
    subjects = ("refunds", "invoices", "outages", "holidays")
    questions = [f"What is the {rule} on {each}?" for rule in ("rule", "rule", "{0}") for each in subjects]
    return Library(dataclasses.replace(context, registry=registry), markers, questions)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_of_a_hidden_document_is_in_an_answer(library: Library) -> None:
    context = library.context
    accepted = copies = sources = hidden = 0

    for seed in range(80):
        pick = random.Random(seed)
        groups = tuple(pick.sample(("everyone", "finance", "legal", "board", ""), pick.randint(0, 2)))
        named = pick.choice(sorted(library.markers))
        filters = pick.choice(({}, {}, {}, {"product": f"Product {named}"}, {"attributes.o": named}))
        options = {
            key: pick.choice(values)
            for key, values in {
                "max_similarity": (1.0,),
                "evidence_tokens": (64, 400),
                "route": (True, False),
                "read_scope": (True, False),
                "max_per_source": (1,),
            }.items()
            if pick.random() < 0.3
        }
        request = SearchRequest(
            query=pick.choice(library.questions).format(f"rule of Product {named}"),
            groups=groups,
            corpora=pick.choice(((), ("alpha",), ("beta",))),
            mode=pick.choice(("dense", "sparse", "hybrid")),
            top_k=20,
            min_score=-1.0,
            filters=filters,
            as_of=AS_OF,
            **options,
        )
        result = search(context.database, context.registry, request)
        pack = evidence.build_pack(context.database, context.registry, request, result)
        given_out = result.model_dump(mode="json", exclude={"query"})
        # What the reader brought along is no news.
        if filters:
            given_out["scope"].pop("filters")
        shown = json.dumps(given_out) + pack.model_dump_json(exclude={"request"})
        unseen = library.hidden(groups)
        assert [marker for marker in unseen if marker in shown] == [], seed
        visible = sum(bool(may & set(groups)) for marker, may in library.markers.items() if marker.startswith("q"))
        assert all(stage.counts.get("fragments", 0) <= 3 * visible for stage in result.trace), seed
        accepted += len(result.accepted)
        copies += sum(len(hit.also_in) for hit in result.accepted)
        sources += len(pack.sources)
        hidden += len(unseen)
    assert min(accepted, sources, hidden) > 150
    assert copies > 20
    check_what_is_read_as_a_scope(library)


def check_what_is_read_as_a_scope(library: Library) -> None:
    """The names that only hidden documents declare are words like others."""
    context = library.context
    only_board = next(m for m, may in library.markers.items() if m.startswith("q") and may == {"board"})
    request = SearchRequest(query=f"What is the rule of Product {only_board}?", min_score=-1.0, as_of=AS_OF)
    known = search(context.database, context.registry, request.model_copy(update={"groups": ("board",)}))
    strange = search(context.database, context.registry, request)
    assert any(only_board in words for words in known.scope.read)
    assert strange.scope.read == ()
    assert strange.accepted
