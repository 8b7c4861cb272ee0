-- name: evaluation^
-- The evaluation of one generation of a corpus.
SELECT corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, as_of, metrics, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus AND generation = :generation;

-- name: latest_evaluation^
-- The evaluation of the newest evaluated generation of a corpus.
SELECT corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, as_of, metrics, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus
ORDER BY evaluated_at DESC, generation DESC
LIMIT 1;

-- name: evaluation_history
-- Figures of all evaluated generations of a corpus, newest first.
SELECT generation, is_staged, root_sha256, golden_sha256, as_of, metrics, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus
ORDER BY generation DESC;

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
