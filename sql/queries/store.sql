-- name: stage_state^
-- The last finished output of one stage of a corpus.
SELECT corpus, stage, input_sha256, output_sha256, as_of, run_id, counts, elapsed_seconds, finished_at
FROM corpus.stage_states
WHERE corpus = :corpus AND stage = :stage;

-- name: stage_states
-- All stages of a corpus that have finished.
SELECT corpus, stage, input_sha256, output_sha256, as_of, run_id, counts, elapsed_seconds, finished_at
FROM corpus.stage_states
WHERE corpus = :corpus;

-- name: record_stage!
-- Replaces the state of one stage; runs in the transaction that wrote the stage's rows.
INSERT INTO corpus.stage_states
    (corpus, stage, input_sha256, output_sha256, as_of, run_id, counts, elapsed_seconds, finished_at)
VALUES
    (:corpus, :stage, :input_sha256, :output_sha256, :as_of, :run_id, :counts, :elapsed_seconds, now())
ON CONFLICT (corpus, stage) DO UPDATE SET
    input_sha256 = excluded.input_sha256,
    output_sha256 = excluded.output_sha256,
    as_of = excluded.as_of,
    run_id = excluded.run_id,
    counts = excluded.counts,
    elapsed_seconds = excluded.elapsed_seconds,
    finished_at = excluded.finished_at;

-- name: record_verdict!
-- Stores what a suite said of one stage output.
INSERT INTO corpus.gate_verdicts
    (corpus, stage, output_sha256, thresholds_sha256, passed, failures, evaluated_expectations, run_id)
VALUES
    (:corpus, :stage, :output_sha256, :thresholds_sha256, :passed, :failures, :evaluated_expectations, :run_id);

-- name: latest_verdict^
-- The newest verdict on one stage output.
SELECT verdict_id, passed, failures, thresholds_sha256, evaluated_expectations, run_id, evaluated_at
FROM corpus.gate_verdicts
WHERE corpus = :corpus AND stage = :stage AND output_sha256 = :output_sha256
ORDER BY verdict_id DESC
LIMIT 1;

-- name: try_corpus_lock$
-- Takes the lock of a corpus for this session, or says that another session holds it.
SELECT pg_try_advisory_lock(hashtextextended('corpus_pipeline:' || :corpus, 0));

-- name: release_corpus_lock$
-- Gives the lock of a corpus back at once; ending the session alone would free it a moment later.
SELECT pg_advisory_unlock(hashtextextended('corpus_pipeline:' || :corpus, 0));

-- name: delete_published_documents!
-- Forgets what was published of a corpus, before the new generation's documents are recorded.
DELETE FROM corpus.published_documents WHERE corpus = :corpus;

-- name: insert_published_documents*!
-- Records the documents of the generation that is being published.
INSERT INTO corpus.published_documents
    (corpus, document_id, text_sha256, exclusion_reason, superseded_by, generation, root_sha256)
VALUES
    (:corpus, :document_id, :text_sha256, :exclusion_reason, :superseded_by, :generation, :root_sha256);

-- name: published_superseded
-- Superseded texts of the other corpora's published generations.
SELECT corpus, document_id, text_sha256, exclusion_reason, superseded_by, generation, root_sha256
FROM corpus.published_documents
WHERE corpus <> :except_corpus AND exclusion_reason IN ('superseded', 'copy_of_superseded')
ORDER BY corpus, document_id;
