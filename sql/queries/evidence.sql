-- name: cited_rows
-- What the published rows of accepted fragments say of their documents, as far as the session may see them. {table} is a serving table.
SELECT fragment_id, corpus, document_id, text_sha256, source_sha256, document_text_sha256, source_type, trust_level, version,
       valid_from, last_reviewed_at
FROM {table}
WHERE corpus = :corpus AND fragment_id = ANY(:fragment_ids);

-- name: document_states
-- What has become of cited documents in a generation: why they are kept out, and their fragments. {table} is a serving table.
SELECT document_id,
       min(exclusion_reason) AS exclusion_reason,
       min(exclusion_ref) AS exclusion_ref,
       min(source_sha256) AS source_sha256,
       min(document_text_sha256) AS text_sha256,
       max(valid_until) AS valid_until,
       array_agg(DISTINCT text_sha256) AS fragment_sha256s
FROM {table}
WHERE corpus = :corpus
  AND document_id = ANY(:document_ids)
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
GROUP BY document_id;

-- name: served_types
-- Source type of each document that answers in a generation. {table} is a serving table.
SELECT DISTINCT document_id, source_type
FROM {table}
WHERE corpus = :corpus
  AND serving_state = 'current'
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id;

-- name: insert_pack!
-- Keeps a pack; one that is there already stays as it is.
INSERT INTO corpus.evidence_packs (pack_id, evidence_hash, question, corpora, documents, content, replaces, created_by)
VALUES (:pack_id, :evidence_hash, :question, :corpora, :documents, :content, :replaces, :created_by)
ON CONFLICT (pack_id) DO NOTHING;

-- name: pack^
-- One pack.
SELECT pack_id, evidence_hash, question, corpora, documents, content, replaces, created_by, created_at
FROM corpus.evidence_packs
WHERE pack_id = :pack_id;

-- name: kept_packs
-- Those of the named packs that are kept.
SELECT pack_id, evidence_hash, question, corpora, documents, content, replaces, created_by, created_at
FROM corpus.evidence_packs
WHERE pack_id = ANY(:pack_ids);

-- name: packs
-- Packs that cite a corpus (all when none is named), newest first.
SELECT pack_id, evidence_hash, question, corpora, documents, content, replaces, created_by, created_at
FROM corpus.evidence_packs
WHERE CAST(:corpus AS text) IS NULL OR :corpus = ANY(corpora)
ORDER BY created_at DESC, pack_id
LIMIT :most;
