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
       is_current, serving_state, exclusion_reason, exclusion_ref, evidence, needs_review, series_key, period_label,
       period_end, is_latest, organisation
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
    JOIN corpus.published_roots r ON r.corpus = p.corpus
         AND p.generation_from <= r.generation AND (p.generation_to IS NULL OR p.generation_to > r.generation)
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

-- name: decisions_known_at
-- Decisions for all days as they were known at a time, by document and day; at the present when no time is given.
SELECT decision, decided_from, decided_until, known_from, known_until
FROM corpus.document_version_history
WHERE corpus = :corpus
  AND CASE
      WHEN :known_at::timestamptz IS NULL THEN known_until IS NULL
      ELSE known_from <= :known_at AND (known_until IS NULL OR known_until > :known_at)
  END
ORDER BY document_id COLLATE "C", decided_from, known_from;

-- name: last_decided_from$
-- The latest day for which the history of a corpus holds a change.
SELECT greatest(max(decided_from), max(decided_until)) FROM corpus.document_version_history WHERE corpus = :corpus;

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

-- name: end_changed!
-- What is no longer decided so ends with the day, and was known without that end until now.
WITH ended AS (
    UPDATE corpus.document_version_history h
    SET known_until = greatest(now(), h.known_from + interval '1 microsecond')
    WHERE h.corpus = :corpus AND h.known_until IS NULL AND h.decided_until IS NULL
      AND NOT EXISTS (
          SELECT FROM corpus.document_versions v
          WHERE v.corpus = h.corpus AND v.document_id = h.document_id AND v.decision_sha256 = h.decision_sha256)
    RETURNING h.*
)
INSERT INTO corpus.document_version_history
    (corpus, document_id, decided_from, decided_until, known_from, decision_sha256, decision)
SELECT corpus, document_id, decided_from, :as_of, known_until, decision_sha256, decision
FROM ended
WHERE decided_from < :as_of;

-- name: begin_changed!
-- What is decided newly or anew begins with the day and is known from now on.
INSERT INTO corpus.document_version_history
    (corpus, document_id, decided_from, known_from, decision_sha256, decision)
SELECT v.corpus, v.document_id, :as_of, now(), v.decision_sha256, to_jsonb(v) - ARRAY['decision_sha256', 'current_document_id']
FROM corpus.document_versions v
WHERE v.corpus = :corpus
  AND NOT EXISTS (
      SELECT FROM corpus.document_version_history h
      WHERE h.corpus = v.corpus AND h.document_id = v.document_id AND h.known_until IS NULL AND h.decided_until IS NULL);
