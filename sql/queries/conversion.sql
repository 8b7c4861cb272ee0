-- name: documents
-- The converted documents of a corpus.
SELECT corpus, document_id, relative_path, source_uri, source_sha256, source_extension, size_bytes, modified_at,
       requested_converter, effective_converter, processor_version, converter_fingerprint, document_sha256, text_sha256,
       char_count, page_count, title, language, metadata, metadata_provenance, properties
FROM corpus.documents
WHERE corpus = :corpus
ORDER BY document_id;

-- name: delete_documents!
-- Clears the documents of a corpus before they are written anew.
DELETE FROM corpus.documents WHERE corpus = :corpus;

-- name: quarantine
-- The quarantined files of a corpus, with what decides whether they are tried again.
SELECT corpus, document_id, source_uri, source_sha256, reason, message, requested_converter, policy_sha256, limits_sha256,
       tried, attempts, first_failed_at, last_failed_at, replay_requested
FROM corpus.quarantine
WHERE corpus = :corpus
ORDER BY document_id;

-- name: delete_quarantine!
-- Clears the quarantine of a corpus before it is written anew.
DELETE FROM corpus.quarantine WHERE corpus = :corpus;

-- name: request_replay!
-- Asks that quarantined files be tried again in the next run; all of the corpus when no ids are given.
UPDATE corpus.quarantine
SET replay_requested = true
WHERE corpus = :corpus
  AND (:document_ids::text[] IS NULL OR document_id = ANY(:document_ids::text[]));

-- name: known_routes
-- Routes and document columns that are already there for pairs of content and policy.
SELECT r.source_sha256, r.policy_sha256, r.options_sha256, r.file_format, r.tried, r.converter_fingerprint, r.limits,
       c.effective_converter,
       c.document_sha256, c.text_sha256, c.char_count, c.page_count, c.title, c.language, c.properties
FROM unnest(:source_sha256s::text[], :policy_sha256s::text[]) AS wanted (source_sha256, policy_sha256)
JOIN corpus.conversion_routes r USING (source_sha256, policy_sha256)
JOIN corpus.conversions c USING (source_sha256, converter_fingerprint);

-- name: save_conversion!
-- Keeps a structured document; one that is there already stays.
INSERT INTO corpus.conversions
    (source_sha256, converter_fingerprint, effective_converter, document_sha256, text_sha256, char_count, page_count,
     title, language, properties, measures, content, elapsed_seconds)
VALUES
    (:source_sha256, :converter_fingerprint, :effective_converter, :document_sha256, :text_sha256, :char_count,
     :page_count, :title, :language, :properties, :measures, :content, :elapsed_seconds)
ON CONFLICT (source_sha256, converter_fingerprint) DO NOTHING;

-- name: save_route!
-- Keeps where a policy led for a content. Of limits the strictest that were kept so far count, as long as the
-- converters are the same: what keeps a strict limit keeps a lax one.
INSERT INTO corpus.conversion_routes
    (source_sha256, policy_sha256, options_sha256, file_format, tried, converter_fingerprint, limits)
VALUES (:source_sha256, :policy_sha256, :options_sha256, :file_format, :tried, :converter_fingerprint, :limits)
ON CONFLICT (source_sha256, policy_sha256, options_sha256) DO UPDATE SET
    file_format = excluded.file_format,
    tried = excluded.tried,
    converter_fingerprint = excluded.converter_fingerprint,
    limits = CASE
        WHEN conversion_routes.tried = excluded.tried THEN excluded.limits || COALESCE((
            SELECT jsonb_object_agg(kept.key, LEAST((kept.value #>> '{}')::numeric, (excluded.limits ->> kept.key)::numeric))
            FROM jsonb_each(conversion_routes.limits) AS kept (key, value)
            WHERE excluded.limits ? kept.key
        ), '{}'::jsonb)
        ELSE excluded.limits
    END;

-- name: contents
-- The compressed structured documents of pairs of content and converter.
SELECT c.source_sha256, c.converter_fingerprint, c.content
FROM unnest(:source_sha256s::text[], :converter_fingerprints::text[]) AS wanted (source_sha256, converter_fingerprint)
JOIN corpus.conversions c USING (source_sha256, converter_fingerprint);

-- name: document_measures
-- The measures of the documents of a corpus; null where a document has not been measured.
SELECT d.document_id, c.measures
FROM corpus.documents d
JOIN corpus.conversions c USING (source_sha256, converter_fingerprint)
WHERE d.corpus = :corpus
ORDER BY d.document_id;

-- name: unmeasured_contents
-- Some documents of a corpus whose measures are absent or of an older version.
SELECT DISTINCT ON (c.source_sha256, c.converter_fingerprint) c.source_sha256, c.converter_fingerprint, c.content
FROM corpus.documents d
JOIN corpus.conversions c USING (source_sha256, converter_fingerprint)
WHERE d.corpus = :corpus AND (c.measures ->> 'version')::integer IS DISTINCT FROM :version
ORDER BY c.source_sha256, c.converter_fingerprint
LIMIT :limit;

-- name: save_measures!
-- Keeps the measures of one conversion.
UPDATE corpus.conversions SET measures = :measures
WHERE source_sha256 = :source_sha256 AND converter_fingerprint = :converter_fingerprint;

-- name: content_of_text^
-- A compressed structured document by the hashes of its file and of its text.
SELECT content
FROM corpus.conversions
WHERE source_sha256 = :source_sha256 AND text_sha256 = :text_sha256
ORDER BY converter_fingerprint
LIMIT 1;
