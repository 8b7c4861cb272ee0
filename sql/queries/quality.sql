-- name: fragment_coverage
-- Per document: characters that no fragment and no parent covers, and the longest embedded text.
SELECT
    d.document_id,
    coalesce(f.fragments, 0) AS fragments,
    coalesce(f.max_tokens, 0) AS max_tokens,
    coalesce(f.covered, 0) AS covered_characters,
    coalesce(p.covered, 0) AS covered_by_parents
FROM corpus.chunked_documents d
LEFT JOIN LATERAL (
    SELECT count(*) AS fragments, max(token_count) AS max_tokens,
           (SELECT sum(upper(r) - lower(r)) FROM unnest(range_agg(int4range(char_start, char_end))) r) AS covered
    FROM corpus.fragments WHERE document_id = d.document_id
) f ON true
LEFT JOIN LATERAL (
    SELECT (SELECT sum(upper(r) - lower(r)) FROM unnest(range_agg(int4range(char_start, char_end))) r) AS covered
    FROM corpus.parents WHERE document_id = d.document_id
) p ON true
WHERE d.corpus = :corpus
ORDER BY d.document_id;

-- name: vector_faults
-- Per document: fragments without a vector of this model, and the largest deviation of a vector's length from 1.
SELECT
    f.document_id,
    count(*) FILTER (WHERE e.vector IS NULL) AS missing_vectors,
    coalesce(max(abs(vector_norm(e.vector) - 1)), 0) AS norm_error
FROM corpus.fragments f
LEFT JOIN corpus.embeddings e ON e.embedded_sha256 = f.embedded_sha256 AND e.fingerprint = :fingerprint
WHERE f.corpus = :corpus
GROUP BY f.document_id
ORDER BY f.document_id;

-- name: vector_dimensions$
-- How many different dimensions the vectors of the corpus have.
SELECT count(DISTINCT vector_dims(e.vector))
FROM corpus.fragments f
JOIN corpus.embeddings e ON e.embedded_sha256 = f.embedded_sha256 AND e.fingerprint = :fingerprint
WHERE f.corpus = :corpus;

-- name: served_through_others$
-- Current fragments that repeat another, which is served for them and cites them: they have no row of their own.
SELECT count(*)
FROM corpus.fragment_marks m
JOIN corpus.fragments f ON f.fragment_id = m.fragment_id
JOIN corpus.document_versions v ON v.corpus = f.corpus AND v.document_id = f.document_id
WHERE m.corpus = :corpus AND m.copy_of IS NOT NULL AND v.serving_state = 'current';
