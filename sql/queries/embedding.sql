-- name: embedded_sha256s
-- The distinct texts of a corpus's fragments, by hash.
SELECT DISTINCT embedded_sha256 COLLATE "C" AS embedded_sha256
FROM corpus.fragments
WHERE corpus = :corpus
ORDER BY 1;

-- name: missing_texts
-- Distinct texts of a corpus without a vector for the fingerprint, shortest first.
SELECT f.embedded_sha256, min(f.token_count) AS token_count, min(f.fragment_id COLLATE "C") AS fragment_id
FROM corpus.fragments f
WHERE f.corpus = :corpus
  AND NOT EXISTS (
      SELECT FROM corpus.embeddings e WHERE e.fingerprint = :fingerprint AND e.embedded_sha256 = f.embedded_sha256)
GROUP BY f.embedded_sha256
ORDER BY token_count, f.embedded_sha256 COLLATE "C";

-- name: texts
-- The texts of a batch, one row for each hash.
SELECT DISTINCT ON (embedded_sha256) embedded_sha256, embedded_text
FROM corpus.fragments
WHERE corpus = :corpus AND embedded_sha256 = ANY(:embedded_sha256s)
ORDER BY embedded_sha256;

-- name: register_model!
-- Notes what a fingerprint stands for, once.
INSERT INTO corpus.embedding_models (fingerprint, parts, dimensions, max_tokens)
VALUES (:fingerprint, :parts, :dimensions, :max_tokens)
ON CONFLICT (fingerprint) DO NOTHING;

-- name: model^
-- What a fingerprint stands for.
SELECT fingerprint, parts, dimensions, max_tokens
FROM corpus.embedding_models
WHERE fingerprint = :fingerprint;

-- name: insert_vectors*!
-- Adds vectors; a text that another run embedded meanwhile keeps the vector it has.
INSERT INTO corpus.embeddings (fingerprint, embedded_sha256, vector)
VALUES (:fingerprint, :embedded_sha256, :vector)
ON CONFLICT (fingerprint, embedded_sha256) DO NOTHING;

-- name: vectors
-- Stored vectors of the texts named.
SELECT embedded_sha256, vector
FROM corpus.embeddings
WHERE fingerprint = :fingerprint AND embedded_sha256 = ANY(:embedded_sha256s);
