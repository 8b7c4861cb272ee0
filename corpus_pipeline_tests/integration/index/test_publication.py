"""Publication behind the gates, rollback with a hold, and what becomes of generations."""

from __future__ import annotations

import time
from typing import Any

import pytest

from corpus_pipeline.errors import (
    PublicationHeldError,
    PublicationRefusedError,
    StageError,
    UnknownCorpusError,
    UpstreamMissingError,
)
from corpus_pipeline.index import (
    generations,
    publication,
    publication_log,
    publications,
    publish_corpus,
    resume_corpus,
    rollback_corpus,
    serving_table,
    stage_generation,
    staged_generation,
)
from corpus_pipeline.index import pointer as pointer_module
from corpus_pipeline.records import Stage
from corpus_pipeline.store import published_superseded

OLD = "Refunds take 30 days."
NEW = "Refunds take 60 days."


def statuses(corpus: Any) -> dict[int, str]:
    with corpus.context.database.connection() as connection:
        return {known.generation: str(known.status) for known in generations(connection, corpus.slug)}


def pointer(corpus: Any) -> Any:
    with corpus.context.database.connection() as connection:
        return publication(connection, corpus.slug)


def two_published(corpus: Any) -> None:
    corpus.publish(corpus.doc("refunds.md", OLD))
    corpus.publish(corpus.doc("refunds.md", NEW))


def test_publishing_moves_the_pointer_and_logs_it(corpus: Any, documents: Any) -> None:
    result = corpus.publish(*documents)
    assert result.counts == {"generation": 1, "root": result.output_sha256, "published": 1, "rows_removed": 0}
    assert not result.unchanged
    published = pointer(corpus)
    assert (published.generation, published.root_sha256, published.held) == (1, result.output_sha256, False)
    assert published.embedding == corpus.context.spec.embedding
    assert corpus.seen("everyone") == {OLD, "Refunds go to the card."}
    assert corpus.seen("hr") == {"Salaries are paid monthly."}
    with corpus.context.database.connection() as connection:
        entry = publication_log(connection, "handbook")[-1]
        assert (entry.action, entry.from_generation, entry.to_generation) == ("publish", None, 1)
        assert publications(connection) == [published]


def test_publishing_again_changes_nothing(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    before = pointer(corpus)
    again = publish_corpus(corpus.context)
    assert again.unchanged
    assert again.counts["published"] == 0
    assert pointer(corpus) == before
    with corpus.context.database.connection() as connection:
        assert len(publication_log(connection, "handbook")) == 1


def test_a_new_generation_supersedes_the_old_one(corpus: Any) -> None:
    two_published(corpus)
    assert statuses(corpus) == {1: "superseded", 2: "published"}
    assert corpus.seen() == {NEW}


@pytest.mark.parametrize("failing", [Stage.SOURCE_INVENTORY, Stage.DOCUMENT_VERSIONS, Stage.FRAGMENT_EMBEDDINGS])
def test_a_failed_check_of_any_stage_refuses(corpus: Any, failing: Stage) -> None:
    corpus.publish(corpus.doc("refunds.md", OLD))
    corpus.write(corpus.doc("refunds.md", NEW), failing=failing)
    stage_generation(corpus.context)
    corpus.evaluate()
    with pytest.raises(PublicationRefusedError) as caught:
        publish_corpus(corpus.context)
    assert f"{failing}: its check failed: expect_something" in str(caught.value)
    assert "Correct the source." in str(caught.value)
    assert "corpus-pipeline ingest handbook" in caught.value.remedy
    assert corpus.seen() == {OLD}
    assert statuses(corpus) == {1: "published", 2: "staged"}


def test_a_failed_evaluation_refuses_and_the_next_generation_is_published(corpus: Any) -> None:
    corpus.publish(corpus.doc("refunds.md", OLD))
    corpus.stage(corpus.doc("refunds.md", "A bad night."))
    corpus.evaluate(passed=False)
    with pytest.raises(PublicationRefusedError, match=f"{Stage.RETRIEVAL_EVALUATION}: its check failed"):
        publish_corpus(corpus.context)
    result = corpus.publish(corpus.doc("refunds.md", NEW))
    assert result.counts["generation"] == 3
    assert statuses(corpus) == {1: "superseded", 2: "abandoned", 3: "published"}
    assert corpus.seen() == {NEW}


def test_a_missing_verdict_refuses(corpus: Any) -> None:
    corpus.stage(corpus.doc("refunds.md", OLD))
    corpus.evaluate()
    with corpus.context.database.connection() as connection:
        connection.execute("DELETE FROM corpus.gate_verdicts WHERE stage = %s", (Stage.FRAGMENTS,))
    with pytest.raises(PublicationRefusedError, match="fragments: its check has not run on this output"):
        publish_corpus(corpus.context)
    assert pointer(corpus) is None


def test_an_evaluation_of_an_earlier_staging_refuses(corpus: Any) -> None:
    corpus.stage(corpus.doc("refunds.md", OLD))
    corpus.evaluate()
    corpus.stage(corpus.doc("refunds.md", NEW))
    with pytest.raises(PublicationRefusedError, match="retrieval_evaluation: was made from an older index_generation"):
        publish_corpus(corpus.context)
    assert pointer(corpus) is None


def test_other_thresholds_refuse(corpus: Any) -> None:
    corpus.stage(corpus.doc("refunds.md", OLD))
    corpus.evaluate()
    stricter = corpus.context.spec.gates.model_copy(update={"min_recall_at_5": 0.99})
    corpus.context = replaced(corpus.context, spec=corpus.context.spec.model_copy(update={"gates": stricter}))
    with pytest.raises(PublicationRefusedError, match="its check ran under other thresholds"):
        publish_corpus(corpus.context)


def replaced(context: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(context, **changes)


def test_rows_changed_after_the_check_refuse(corpus: Any, documents: Any) -> None:
    corpus.stage(*documents)
    corpus.evaluate()
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, "handbook", 1)
        connection.execute(f"UPDATE serving.{table} SET row_sha256 = 'other' WHERE document_id = 'handbook/old.md'")
    with pytest.raises(PublicationRefusedError, match="no staged generation of 'handbook' has the root"):
        publish_corpus(corpus.context)
    assert pointer(corpus) is None


def test_publishing_before_anything_is_staged_is_refused(corpus: Any) -> None:
    with pytest.raises(UpstreamMissingError):
        publish_corpus(corpus.context)


def test_rollback_serves_the_old_generation_and_holds(corpus: Any) -> None:
    two_published(corpus)
    started = time.perf_counter()
    served = rollback_corpus(corpus.context.database, "handbook", "ana", "wrong prices")
    assert time.perf_counter() - started < 1.0
    assert (served.generation, served.held, served.held_by, served.held_reason) == (1, True, "ana", "wrong prices")
    assert corpus.seen() == {OLD}
    assert statuses(corpus) == {1: "published", 2: "rolled_back"}
    corpus.stage(corpus.doc("refunds.md", "Refunds take 90 days."))
    corpus.evaluate()
    with pytest.raises(PublicationHeldError) as caught:
        publish_corpus(corpus.context)
    assert "by ana: wrong prices" in str(caught.value)
    assert "corpus-pipeline resume handbook" in caught.value.remedy
    assert corpus.seen() == {OLD}


def test_after_a_rollback_the_next_generation_has_a_new_number(corpus: Any) -> None:
    two_published(corpus)
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong prices")
    resumed = resume_corpus(corpus.context.database, "handbook", "ben")
    assert not resumed.held
    result = corpus.publish(corpus.doc("refunds.md", "Refunds take 90 days."))
    assert result.counts["generation"] == 3
    assert corpus.seen() == {"Refunds take 90 days."}
    assert statuses(corpus) == {1: "superseded", 2: "rolled_back", 3: "published"}
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, "handbook")
        rows = connection.execute(f"SELECT text, generation_from, generation_to FROM serving.{table} ORDER BY text")
        assert [tuple(row.values()) for row in rows] == [(OLD, 1, 3), ("Refunds take 90 days.", 3, None)]
        moves = [
            (entry.action, entry.from_generation, entry.to_generation)
            for entry in publication_log(connection, "handbook")
        ]
    assert moves == [("publish", None, 1), ("publish", 1, 2), ("rollback", 2, 1), ("resume", 1, 1), ("publish", 1, 3)]


def test_the_same_content_may_be_published_again_after_a_rollback(corpus: Any) -> None:
    two_published(corpus)
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong prices")
    resume_corpus(corpus.context.database, "handbook", "ana")
    again = corpus.publish(corpus.doc("refunds.md", NEW))
    assert again.counts["generation"] == 3
    assert corpus.seen() == {NEW}


def test_a_generation_staged_before_a_rollback_is_not_published_after_it(corpus: Any) -> None:
    two_published(corpus)
    corpus.stage(corpus.doc("refunds.md", "Refunds take 90 days."))
    corpus.evaluate()
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong prices")
    resume_corpus(corpus.context.database, "handbook", "ana")
    with pytest.raises(PublicationRefusedError, match="the pointer has been moved since"):
        publish_corpus(corpus.context)
    stage_generation(corpus.context)
    publish_corpus(corpus.context)
    assert corpus.seen() == {"Refunds take 90 days."}
    assert pointer(corpus).generation == 4


def test_rollback_can_go_further_back(corpus: Any) -> None:
    two_published(corpus)
    corpus.publish(corpus.doc("refunds.md", "Refunds take 90 days."))
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong", to_generation=1)
    assert corpus.seen() == {OLD}
    assert statuses(corpus) == {1: "published", 2: "rolled_back", 3: "rolled_back"}


def test_rollback_without_an_earlier_generation_says_so(corpus: Any) -> None:
    database = corpus.context.database
    with pytest.raises(UnknownCorpusError, match="nothing of corpus 'handbook' is published"):
        rollback_corpus(database, "handbook", "ana", "why")
    corpus.publish(corpus.doc("refunds.md", OLD))
    with pytest.raises(StageError, match="from generation 1: no earlier generation is kept"):
        rollback_corpus(database, "handbook", "ana", "why")
    with pytest.raises(StageError, match="generation 7 is no earlier published generation"):
        rollback_corpus(database, "handbook", "ana", "why", to_generation=7)
    assert not pointer(corpus).held


def test_a_rollback_takes_neighbours_back_without_writing_documents(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.publish(
        corpus.doc("old.md", OLD, excluded="superseded", reference="handbook/new.md"), corpus.doc("new.md", NEW)
    )
    corpus.publish(corpus.doc("new.md", NEW))

    def unwanted(*_: Any) -> None:
        raise AssertionError("documents were recorded again")

    with monkeypatch.context() as patch:
        patch.setattr(pointer_module, "record_published_documents", unwanted)
        rollback_corpus(corpus.context.database, corpus.slug, "ada", "wrong")
    with corpus.context.database.connection() as connection:
        known = published_superseded(connection, except_corpus="other")
    assert [(one.document_id, one.generation) for one in known] == [("handbook/old.md", 1)]


def test_a_rollback_waits_for_no_run(corpus: Any) -> None:
    from corpus_pipeline.store import corpus_lock

    two_published(corpus)
    with corpus_lock(corpus.context.database, "handbook"):
        served = rollback_corpus(corpus.context.database, "handbook", "ana", "now")
    assert served.generation == 1


def test_a_hold_of_one_corpus_does_not_touch_another(corpus: Any, other_corpus: Any) -> None:
    two_published(corpus)
    other_corpus.publish(other_corpus.doc("law.md", "The law."))
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong")
    other_corpus.publish(other_corpus.doc("law.md", "The new law."))
    assert other_corpus.seen() == {"The new law."}
    assert corpus.seen() == {OLD}


def test_neighbours_learn_of_what_is_published_only(corpus: Any) -> None:
    def superseded() -> list[tuple[str, int]]:
        with corpus.context.database.connection() as connection:
            known = published_superseded(connection, except_corpus="legal")
        return [(document.document_id, document.generation) for document in known]

    stale = corpus.doc("old.md", "Old.", excluded="superseded", reference="handbook/refunds.md")
    corpus.publish(corpus.doc("refunds.md", OLD))
    corpus.stage(corpus.doc("refunds.md", NEW), stale)
    assert superseded() == []
    corpus.publish(corpus.doc("refunds.md", NEW), stale)
    assert superseded() == [("handbook/old.md", 2)]
    rollback_corpus(corpus.context.database, "handbook", "ana", "wrong")
    assert superseded() == []


def test_another_model_gets_another_table_while_the_old_one_serves(corpus: Any, with_other_model: Any) -> None:
    corpus.publish(corpus.doc("refunds.md", OLD), corpus.doc("plans.md", "Three plans."))
    old_table = pointer(corpus).serving_table
    changed = with_other_model()
    result = changed.stage(corpus.doc("refunds.md", NEW), corpus.doc("plans.md", "Three plans."))
    assert (result.counts["rows_added"], result.counts["rows_retired"]) == (2, 0)
    assert corpus.seen() == {OLD, "Three plans."}
    assert changed.seen(as_evaluator=("handbook", 2)) == {NEW, "Three plans."}
    changed.evaluate()
    publish_corpus(changed.context)
    assert pointer(corpus).serving_table != old_table
    assert pointer(corpus).embedding == changed.context.spec.embedding
    assert corpus.seen() == {NEW, "Three plans."}
    rollback_corpus(corpus.context.database, "handbook", "ana", "worse answers")
    assert pointer(corpus).serving_table == old_table
    assert corpus.seen() == {OLD, "Three plans."}


def test_going_back_to_a_former_model_brings_no_old_rows_back(corpus: Any, with_other_model: Any) -> None:
    corpus.publish(corpus.doc("refunds.md", OLD), corpus.doc("plans.md", "Three plans."))
    changed = with_other_model()
    changed.publish(corpus.doc("refunds.md", NEW))
    result = corpus.publish(corpus.doc("refunds.md", "Refunds take 90 days."), corpus.doc("plans.md", "Three plans."))
    assert result.counts["generation"] == 3
    assert corpus.seen() == {"Refunds take 90 days.", "Three plans."}
    with corpus.context.database.connection() as connection:
        assert staged_generation(connection, "handbook") is None
