-- name: source_files
-- The files of a corpus in code point order of their ids.
SELECT corpus, document_id, relative_path, source_uri, sha256, size_bytes, modified_at, extension, declared, declared_by, doubt,
       container, refusal
FROM corpus.source_files
WHERE corpus = :corpus
ORDER BY document_id;

-- name: source_readings
-- What reading the files of a corpus gave, with the token that says whether it still holds.
SELECT path, change_token, sha256, size_bytes, declared, problems, may_be_container
FROM corpus.source_readings
WHERE corpus = :corpus;

-- name: removal_holds
-- Files of a corpus that are kept although the last listing lacked them.
SELECT document_id, run_id, held_at, approved_by, approved_at
FROM corpus.removal_holds
WHERE corpus = :corpus
ORDER BY document_id;

-- name: approve_removals!
-- A person agrees to the removal of all files held now; the next inventory removes them.
UPDATE corpus.removal_holds
SET approved_by = :approved_by, approved_at = now()
WHERE corpus = :corpus AND approved_at IS NULL;

-- name: removed_documents
-- Files whose last recorded change is their removal, among those named.
SELECT document_id
FROM (
    SELECT DISTINCT ON (document_id) document_id, change
    FROM corpus.source_changes
    WHERE corpus = :corpus AND document_id = ANY(:document_ids)
    ORDER BY document_id, change_id DESC
) AS last_changes
WHERE change = 'removed';

-- name: source_changes
-- What the inventories of a corpus found, newest first.
SELECT document_id, change, sha256, previous_sha256, renamed_from, approved_by, run_id, changed_at
FROM corpus.source_changes
WHERE corpus = :corpus
ORDER BY change_id DESC
LIMIT :most;

-- name: stage_source_files#
-- A table for the rows of one COPY, gone with the transaction.
CREATE TEMPORARY TABLE staged_source_files (LIKE corpus.source_files) ON COMMIT DROP;

-- name: merge_source_files!
-- Writes the staged files that are new or differ.
INSERT INTO corpus.source_files AS kept
SELECT * FROM staged_source_files
ON CONFLICT (corpus, document_id) DO UPDATE SET
    relative_path = excluded.relative_path,
    source_uri = excluded.source_uri,
    sha256 = excluded.sha256,
    size_bytes = excluded.size_bytes,
    modified_at = excluded.modified_at,
    extension = excluded.extension,
    declared = excluded.declared,
    declared_by = excluded.declared_by,
    doubt = excluded.doubt,
    container = excluded.container,
    refusal = excluded.refusal;

-- name: delete_source_files!
-- Takes removed files out.
DELETE FROM corpus.source_files
WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: stage_source_readings#
-- A table for the rows of one COPY, gone with the transaction.
CREATE TEMPORARY TABLE staged_source_readings (LIKE corpus.source_readings) ON COMMIT DROP;

-- name: merge_source_readings!
-- Replaces what reading the staged files gave before.
INSERT INTO corpus.source_readings
SELECT * FROM staged_source_readings
ON CONFLICT (corpus, path) DO UPDATE SET
    change_token = excluded.change_token,
    sha256 = excluded.sha256,
    size_bytes = excluded.size_bytes,
    declared = excluded.declared,
    problems = excluded.problems,
    may_be_container = excluded.may_be_container;

-- name: delete_source_readings!
-- Forgets readings of files that are gone.
DELETE FROM corpus.source_readings
WHERE corpus = :corpus AND path = ANY(:paths);

-- name: hold_removals!
-- Keeps files that a short listing lacked; a file held already keeps its first date.
INSERT INTO corpus.removal_holds (corpus, document_id, run_id)
SELECT :corpus, document_id, :run_id
FROM unnest(:document_ids::text[]) AS missing (document_id)
ON CONFLICT (corpus, document_id) DO NOTHING;

-- name: release_holds!
-- Ends the holds of files that reappeared or whose removal was approved.
DELETE FROM corpus.removal_holds
WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: container_readings
-- What the containers of a corpus held when they were opened.
SELECT path, sha256, opened_with, kind, reason, message, members
FROM corpus.container_readings
WHERE corpus = :corpus;

-- name: save_container_reading!
-- Keeps what a container holds.
INSERT INTO corpus.container_readings (corpus, path, sha256, opened_with, kind, reason, message, members)
VALUES (:corpus, :path, :sha256, :opened_with, :kind, :reason, :message, :members)
ON CONFLICT (corpus, path) DO UPDATE SET
    sha256 = excluded.sha256,
    opened_with = excluded.opened_with,
    kind = excluded.kind,
    reason = excluded.reason,
    message = excluded.message,
    members = excluded.members;

-- name: delete_container_readings!
-- Forgets containers that are gone, or that shall be opened again.
DELETE FROM corpus.container_readings
WHERE corpus = :corpus AND path = ANY(:paths);

-- name: refused_containers
-- Outermost containers of which something was refused, among the named documents or of the whole corpus.
SELECT DISTINCT CASE WHEN container = '' THEN relative_path ELSE container END AS path
FROM corpus.source_files
WHERE corpus = :corpus
  AND refusal <> ''
  AND (:document_ids::text[] IS NULL OR document_id = ANY(:document_ids::text[]));

-- name: purged_files
-- Which of these files were purged and are not taken in again.
SELECT file_sha256 FROM corpus.purged_files WHERE file_sha256 = ANY(:sha256s);
