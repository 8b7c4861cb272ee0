-- name: chunked_documents
-- What each document of a corpus was cut from, and the hash of the rows it has.
SELECT document_id, input_sha256, content_sha256, parent_count, fragment_count, token_count, max_token_count
FROM corpus.chunked_documents
WHERE corpus = :corpus
ORDER BY document_id COLLATE "C";

-- name: delete_documents!
-- Removes documents with their parents and fragments.
DELETE FROM corpus.chunked_documents
WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: copy_documents#
-- Loads the rows of cut documents.
COPY corpus.chunked_documents
    (document_id, corpus, input_sha256, content_sha256, chunker_fingerprint, parent_count, fragment_count, token_count,
     max_token_count)
FROM STDIN;

-- name: copy_parents#
-- Loads parents.
COPY corpus.parents
    (parent_id, corpus, document_id, ordinal, section_path, text, text_sha256, token_count, char_start, char_end, page_number)
FROM STDIN;

-- name: copy_fragments#
-- Loads fragments.
COPY corpus.fragments
    (fragment_id, parent_id, corpus, document_id, ordinal, text, text_sha256, embedded_text, embedded_sha256, token_count,
     section_path, page_number, char_start, char_end)
FROM STDIN;

-- name: fragments
-- All fragments of a corpus in reading order.
SELECT fragment_id, parent_id, corpus, document_id, ordinal, text, text_sha256, embedded_text, embedded_sha256, token_count,
    section_path, page_number, char_start, char_end
FROM corpus.fragments
WHERE corpus = :corpus
ORDER BY document_id COLLATE "C", ordinal;

-- name: parents
-- Parents of a corpus in reading order; all, or those named.
SELECT parent_id, corpus, document_id, section_path, text, text_sha256, token_count, char_start, char_end, page_number
FROM corpus.parents
WHERE corpus = :corpus AND (:parent_ids::text[] IS NULL OR parent_id = ANY(:parent_ids::text[]))
ORDER BY document_id COLLATE "C", ordinal;
