-- Queries with {table} in braces are completed with a quoted serving table.

-- name: evaluation^
-- The evaluation of one generation of a corpus.
SELECT corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, search_sha256, as_of, metrics,
       comparison, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus AND generation = :generation;

-- name: evaluations
-- The evaluations of the last generations of a corpus, newest first.
SELECT corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, search_sha256, as_of, metrics,
       comparison, evaluated_at
FROM corpus.evaluations
WHERE corpus = :corpus
ORDER BY generation DESC
LIMIT :most;

-- name: latest_evaluation^
-- The evaluation that the last finished run of the stage rests on.
SELECT e.corpus, e.generation, e.is_staged, e.inputs_sha256, e.output_sha256, e.root_sha256, e.golden_sha256, e.search_sha256,
       e.as_of, e.metrics, e.comparison, e.evaluated_at
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
    (corpus, generation, is_staged, inputs_sha256, output_sha256, root_sha256, golden_sha256, search_sha256, as_of, metrics,
     comparison)
VALUES
    (:corpus, :generation, :is_staged, :inputs_sha256, :output_sha256, :root_sha256, :golden_sha256, :search_sha256, :as_of,
     :metrics, :comparison);

-- name: insert_evaluation_query*!
-- Stores what became of each golden query.
INSERT INTO corpus.evaluation_queries
    (corpus, generation, query_id, query, domain, category, should_match, passed, expected, accepted,
     forbidden_hits, stale_hits, misses, best_score, reason, authorisation_hits, ranked, observed)
VALUES
    (:corpus, :generation, :query_id, :query, :domain, :category, :should_match, :passed, :expected, :accepted,
     :forbidden_hits, :stale_hits, :misses, :best_score, :reason, :authorisation_hits, :ranked, :observed);

-- name: evaluation_queries
-- What became of the golden queries of one generation, failed ones first.
SELECT query_id, query, domain, category, should_match, passed, expected, accepted, forbidden_hits, stale_hits,
       misses, best_score, reason, authorisation_hits, ranked, observed
FROM corpus.evaluation_queries
WHERE corpus = :corpus AND generation = :generation
ORDER BY passed, query_id;

-- name: fragment_texts
-- Texts of all fragments of some documents in one generation, whatever their state.
SELECT document_id, text
FROM {table}
WHERE corpus = :corpus
  AND document_id = ANY(:documents)
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id, fragment_id;

-- name: current_documents
-- Ids of the documents that a generation answers from.
SELECT DISTINCT document_id
FROM {table}
WHERE corpus = :corpus
  AND serving_state = 'current'
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation);

-- name: document_vectors
-- The mean vector of each of some documents in one generation.
SELECT document_id, CAST(avg(CAST(embedding AS public.vector)) AS public.vector) AS vector
FROM {table}
WHERE corpus = :corpus
  AND serving_state = 'current'
  AND document_id = ANY(:documents)
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
GROUP BY document_id;
