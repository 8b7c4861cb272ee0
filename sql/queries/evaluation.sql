-- name: evaluation^
-- The evaluation of one generation of a corpus.
SELECT corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, as_of, metrics, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus AND generation = :generation;

-- name: latest_evaluation^
-- The evaluation that the last finished run of the stage rests on.
SELECT e.corpus, e.generation, e.is_staged, e.inputs_sha256, e.output_sha256, e.root_sha256, e.golden_sha256, e.as_of,
       e.metrics, e.evaluated_at
FROM corpus.evaluations e
JOIN corpus.stage_states s
    ON s.corpus = e.corpus AND s.stage = 'retrieval_evaluation' AND CAST(s.counts ->> 'generation' AS integer) = e.generation
WHERE e.corpus = :corpus;

-- name: delete_evaluation!
-- Makes room for a new evaluation of the same generation; its queries go with it.
DELETE FROM corpus.evaluations
WHERE corpus = :corpus AND generation = :generation;

-- name: insert_evaluation!
-- Stores the figures of one evaluation.
INSERT INTO corpus.evaluations
    (corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, as_of, metrics)
VALUES
    (:corpus, :generation, :is_staged, :inputs_sha256, :output_sha256, :root_sha256, :golden_sha256, :as_of, :metrics);

-- name: insert_evaluation_query*!
-- Stores what became of each golden query.
INSERT INTO corpus.evaluation_queries
    (corpus, generation, query_id, query, domain, category, should_match, passed, expected, accepted,
     forbidden_hits, stale_hits, misses, best_score, reason)
VALUES
    (:corpus, :generation, :query_id, :query, :domain, :category, :should_match, :passed, :expected, :accepted,
     :forbidden_hits, :stale_hits, :misses, :best_score, :reason);

-- name: evaluation_queries
-- What became of the golden queries of one generation, failed ones first.
SELECT query_id, query, domain, category, should_match, passed, expected, accepted, forbidden_hits, stale_hits,
       misses, best_score, reason
FROM corpus.evaluation_queries
WHERE corpus = :corpus AND generation = :generation
ORDER BY passed, query_id;
