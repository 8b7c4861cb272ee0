-- name: known_evidence
-- Cached evidence of the given documents.
SELECT document_sha256, evidence
FROM corpus.version_evidence
WHERE extractor_version = :extractor_version AND document_sha256 = ANY(:document_sha256s);

-- name: store_evidence
-- Adds evidence of one document; used with executemany.
INSERT INTO corpus.version_evidence (document_sha256, extractor_version, evidence)
VALUES (%(document_sha256)s, %(extractor_version)s, %(evidence)s)
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

-- name: superseded_texts
-- Hashes of the texts of a corpus that are superseded or copies of such.
SELECT DISTINCT ON (normalised_sha256) normalised_sha256, document_id
FROM corpus.document_versions
WHERE corpus = :corpus AND exclusion_reason IN ('superseded', 'copy_of_superseded') AND normalised_sha256 <> ''
ORDER BY normalised_sha256, document_id COLLATE "C";

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
