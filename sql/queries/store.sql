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

-- name: known_root^
-- The generation of a corpus that others know, and since which one they do.
SELECT generation, root_sha256, known_from FROM corpus.published_roots WHERE corpus = :corpus FOR UPDATE;

-- name: set_known_root!
-- Others know this generation from now on.
INSERT INTO corpus.published_roots (corpus, generation, root_sha256, known_from)
VALUES (:corpus, :generation, :root_sha256, :known_from)
ON CONFLICT (corpus) DO UPDATE SET
    generation = excluded.generation, root_sha256 = excluded.root_sha256, known_from = excluded.known_from;

-- name: forget_root!
-- Others know nothing of a corpus.
DELETE FROM corpus.published_roots WHERE corpus = :corpus;

-- name: forget_documents_above!
-- Documents as generations above this one have them, which were rolled back.
DELETE FROM corpus.published_documents WHERE corpus = :corpus AND generation_from > :generation;

-- name: clear_document_marks_above!
-- Documents that only those generations no longer had.
UPDATE corpus.published_documents SET generation_to = NULL WHERE corpus = :corpus AND generation_to > :generation;

-- name: end_published_documents!
-- Documents that this generation no longer has, or has otherwise.
UPDATE corpus.published_documents AS p
SET generation_to = :generation
WHERE p.corpus = :corpus AND p.generation_to IS NULL AND NOT EXISTS (
    SELECT FROM pg_temp.incoming_published AS i
    WHERE i.document_id = p.document_id
      AND (i.text_sha256, i.exclusion_reason, i.superseded_by)
          IS NOT DISTINCT FROM (p.text_sha256, p.exclusion_reason, p.superseded_by));

-- name: add_published_documents!
-- Documents that are new in this generation, or other than before.
INSERT INTO corpus.published_documents
    (corpus, document_id, text_sha256, exclusion_reason, superseded_by, generation_from)
SELECT :corpus, i.document_id, i.text_sha256, i.exclusion_reason, i.superseded_by, :generation
FROM pg_temp.incoming_published AS i
WHERE NOT EXISTS (
    SELECT FROM corpus.published_documents AS p
    WHERE p.corpus = :corpus AND p.document_id = i.document_id AND p.generation_to IS NULL);

-- name: forget_documents_before!
-- Documents as only generations before this one had them, which cannot be served again.
DELETE FROM corpus.published_documents WHERE corpus = :corpus AND generation_to <= :generation;

-- name: published_superseded
-- Superseded texts of the other corpora's published generations.
SELECT p.corpus, p.document_id, p.text_sha256, p.exclusion_reason, p.superseded_by, r.generation, r.root_sha256
FROM corpus.published_documents AS p
JOIN corpus.published_roots AS r ON r.corpus = p.corpus
     AND p.generation_from <= r.generation AND (p.generation_to IS NULL OR p.generation_to > r.generation)
WHERE p.corpus <> :except_corpus AND p.exclusion_reason IN ('superseded', 'copy_of_superseded')
ORDER BY p.corpus, p.document_id;
