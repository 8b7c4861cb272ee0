-- name: known_evidence
-- Cached evidence of the given documents.
SELECT document_sha256, evidence
FROM corpus.version_evidence
WHERE extractor_version = :extractor_version AND document_sha256 = ANY(:document_sha256s);

-- name: store_evidence*!
-- Adds evidence of documents.
INSERT INTO corpus.version_evidence (document_sha256, extractor_version, evidence)
VALUES (:document_sha256, :extractor_version, :evidence)
ON CONFLICT DO NOTHING;

-- name: decisions
-- The present decisions of a corpus.
SELECT corpus, document_id, family, version, lifecycle, valid_from, valid_until, superseded_by, duplicate_of, is_canonical,
       is_current, serving_state, exclusion_reason, exclusion_ref, evidence, needs_review
FROM corpus.document_versions
WHERE corpus = :corpus
ORDER BY document_id COLLATE "C";

-- name: current_document_id$
-- The last of the successors of a document.
SELECT current_document_id FROM corpus.document_versions WHERE corpus = :corpus AND document_id = :document_id;

-- name: remove_generation_versions!
-- Removes what is kept for a generation that is staged anew, and for generations whose rows are gone.
DELETE FROM corpus.generation_versions k
WHERE k.corpus = :corpus
  AND (k.generation >= :generation
       OR EXISTS (SELECT FROM corpus.generations g
                  WHERE g.corpus = k.corpus AND g.generation = k.generation AND g.rows_removed_at IS NOT NULL));

-- name: add_generation_versions!
-- Keeps the present decisions with a generation.
INSERT INTO corpus.generation_versions (corpus, generation, document_id, normalised_sha256, superseded, superseded_by)
SELECT corpus, :generation, document_id, normalised_sha256,
       coalesce(exclusion_reason IN ('superseded', 'copy_of_superseded'), false), superseded_by
FROM corpus.document_versions
WHERE corpus = :corpus;

-- name: published_versions
-- Documents that other corpora publish and whose text a corpus shares, or that have a verified edge to one of its own.
WITH related AS (
    SELECT left_corpus AS corpus, left_document_id AS document_id
    FROM corpus.cross_corpus_edges WHERE right_corpus = :corpus
    UNION
    SELECT right_corpus, right_document_id FROM corpus.cross_corpus_edges WHERE left_corpus = :corpus
), published AS (
    SELECT k.corpus, k.document_id, k.normalised_sha256, k.superseded, k.superseded_by
    FROM corpus.generation_versions k
    JOIN serving.publications p ON p.corpus = k.corpus AND p.generation = k.generation
    WHERE k.corpus <> :corpus AND k.normalised_sha256 <> ''
), hashes AS (
    SELECT e.evidence ->> 'normalised_sha256' AS normalised_sha256
    FROM corpus.documents d
    JOIN corpus.version_evidence e ON e.document_sha256 = d.document_sha256 AND e.extractor_version = :extractor_version
    WHERE d.corpus = :corpus
    UNION
    SELECT p.normalised_sha256 FROM published p JOIN related r ON r.corpus = p.corpus AND r.document_id = p.document_id
)
SELECT p.corpus, p.document_id, p.normalised_sha256, p.superseded, p.superseded_by,
       coalesce(v.normalised_sha256 = p.normalised_sha256, false) AS compared
FROM published p
JOIN hashes USING (normalised_sha256)
LEFT JOIN corpus.document_versions v ON v.corpus = p.corpus AND v.document_id = p.document_id
ORDER BY p.corpus COLLATE "C", p.document_id COLLATE "C";

-- name: decisions_known_on
-- The decisions of a corpus as they were known on a day.
SELECT decision
FROM corpus.document_version_history
WHERE corpus = :corpus AND known_from <= :known_on AND (known_until IS NULL OR known_until > :known_on)
ORDER BY document_id COLLATE "C";

-- name: last_known_from$
-- The latest day on which the history of a corpus changed.
SELECT greatest(max(known_from), max(known_until)) FROM corpus.document_version_history WHERE corpus = :corpus;

-- name: relations
-- The relations of a corpus in their stored order.
SELECT corpus, source_id, target_id, source_reference, target_reference, relation, rule, evidence, confidence, applied, note
FROM corpus.version_relations
WHERE corpus = :corpus
ORDER BY ordinal;

-- name: conflicts
-- The conflicts of a corpus in their stored order.
SELECT kind, documents, message, suggestion, resolved
FROM corpus.version_conflicts
WHERE corpus = :corpus
ORDER BY ordinal;

-- name: remove_decisions!
-- Empties the decisions of a corpus before they are copied in again.
DELETE FROM corpus.document_versions WHERE corpus = :corpus;

-- name: remove_relations!
-- Empties the relations of a corpus.
DELETE FROM corpus.version_relations WHERE corpus = :corpus;

-- name: remove_conflicts!
-- Empties the conflicts of a corpus.
DELETE FROM corpus.version_conflicts WHERE corpus = :corpus;

-- name: replace_same_day!
-- Removes rows that the same day's earlier run opened and whose decision has changed since.
DELETE FROM corpus.document_version_history h
WHERE h.corpus = :corpus AND h.known_from = :as_of AND h.known_until IS NULL
  AND NOT EXISTS (
      SELECT FROM corpus.document_versions v
      WHERE v.corpus = h.corpus AND v.document_id = h.document_id AND v.decision_sha256 = h.decision_sha256);

-- name: close_changed!
-- Ends what is no longer decided so.
UPDATE corpus.document_version_history h
SET known_until = :as_of
WHERE h.corpus = :corpus AND h.known_until IS NULL AND h.known_from < :as_of
  AND NOT EXISTS (
      SELECT FROM corpus.document_versions v
      WHERE v.corpus = h.corpus AND v.document_id = h.document_id AND v.decision_sha256 = h.decision_sha256);

-- name: open_changed!
-- Begins what is decided newly or anew.
INSERT INTO corpus.document_version_history (corpus, document_id, known_from, decision_sha256, decision)
SELECT v.corpus, v.document_id, :as_of, v.decision_sha256, to_jsonb(v) - ARRAY['decision_sha256', 'current_document_id', 'normalised_sha256']
FROM corpus.document_versions v
WHERE v.corpus = :corpus
  AND NOT EXISTS (
      SELECT FROM corpus.document_version_history h
      WHERE h.corpus = v.corpus AND h.document_id = v.document_id AND h.known_until IS NULL);
