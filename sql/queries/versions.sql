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

-- name: published_versions
-- Documents of other corpora's published generations, unchanged since, whose text a corpus shares or has a verified edge to.
WITH published AS (
    SELECT p.corpus, p.document_id, e.evidence ->> 'normalised_sha256' AS normalised_sha256, p.superseded_by,
           coalesce(p.exclusion_reason IN ('superseded', 'copy_of_superseded'), false) AS superseded
    FROM corpus.published_documents p
    JOIN corpus.documents d ON d.corpus = p.corpus AND d.document_id = p.document_id AND d.text_sha256 = p.text_sha256
    JOIN corpus.version_evidence e ON e.document_sha256 = d.document_sha256 AND e.extractor_version = :extractor_version
    WHERE p.corpus <> :corpus
), hashes AS (
    SELECT e.evidence ->> 'normalised_sha256' AS normalised_sha256
    FROM corpus.documents d
    JOIN corpus.version_evidence e ON e.document_sha256 = d.document_sha256 AND e.extractor_version = :extractor_version
    WHERE d.corpus = :corpus
    UNION
    SELECT p.normalised_sha256
    FROM corpus.cross_corpus_edges x
    JOIN published p ON p.corpus = x.right_corpus AND p.document_id = x.right_document_id
    WHERE x.left_corpus = :corpus
    UNION
    SELECT p.normalised_sha256
    FROM corpus.cross_corpus_edges x
    JOIN published p ON p.corpus = x.left_corpus AND p.document_id = x.left_document_id
    WHERE x.right_corpus = :corpus
)
SELECT corpus, document_id, normalised_sha256, superseded, superseded_by
FROM published
JOIN hashes USING (normalised_sha256)
ORDER BY corpus COLLATE "C", document_id COLLATE "C";

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
SELECT v.corpus, v.document_id, :as_of, v.decision_sha256, to_jsonb(v) - ARRAY['decision_sha256', 'current_document_id']
FROM corpus.document_versions v
WHERE v.corpus = :corpus
  AND NOT EXISTS (
      SELECT FROM corpus.document_version_history h
      WHERE h.corpus = v.corpus AND h.document_id = v.document_id AND h.known_until IS NULL);
