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

-- name: delete_marks!
-- Removes the marks of a corpus before they are made anew.
DELETE FROM corpus.fragment_marks WHERE corpus = :corpus;

-- name: mark_fragments!
-- Marks copies and boilerplate. Fragments are copies of each other when the same string is embedded for them and their
-- documents are in the same state with the same metadata, names and responsibilities aside: whoever may see one, by
-- whatever filter, may see all. Boilerplate is a text that is current in many version families.
WITH placed AS (
    SELECT f.fragment_id, f.document_id, f.ordinal, f.page_number, f.char_start, f.char_end, f.embedded_sha256, d.title,
           v.family, v.serving_state,
           md5(lower(regexp_replace(btrim(f.text, E' \n\t'), '\s+', ' ', 'g'))) AS text_key,
           jsonb_build_array(
               v.serving_state, v.exclusion_reason, v.exclusion_ref, v.superseded_by, v.duplicate_of, v.lifecycle,
               v.valid_from, v.valid_until, v.is_current, v.series_key, v.period_label, v.period_end, v.is_latest,
               v.organisation, d.language,
               d.metadata - ARRAY['title', 'family', 'version', 'supersedes', 'superseded_by', 'owner', 'last_reviewed_at',
                                  'lifecycle', 'valid_from', 'valid_until', 'language']
           ) AS scope
    FROM corpus.fragments AS f
    JOIN corpus.documents AS d ON d.corpus = f.corpus AND d.document_id = f.document_id
    JOIN corpus.document_versions AS v ON v.corpus = f.corpus AND v.document_id = f.document_id
    WHERE f.corpus = :corpus
), grouped AS (
    SELECT *,
           first_value(fragment_id) OVER same AS first_id,
           row_number() OVER same AS place,
           count(*) OVER (PARTITION BY embedded_sha256, scope) AS copies
    FROM placed
    WINDOW same AS (PARTITION BY embedded_sha256, scope ORDER BY document_id COLLATE "C", ordinal)
), others AS (
    SELECT first_id, jsonb_agg(jsonb_build_object(
               'fragment_id', fragment_id, 'document_id', document_id, 'title', title, 'page_number', page_number,
               'char_start', char_start, 'char_end', char_end) ORDER BY place) AS also_in
    FROM grouped
    WHERE place > 1
    GROUP BY first_id
), common AS (
    SELECT text_key
    FROM placed
    WHERE serving_state = 'current'
    GROUP BY text_key
    HAVING count(DISTINCT family) >= greatest(
        CAST(:min_documents AS bigint),
        CAST(:min_share AS double precision) * (SELECT count(DISTINCT family) FROM placed WHERE serving_state = 'current'))
)
INSERT INTO corpus.fragment_marks (fragment_id, corpus, copy_of, also_in, is_boilerplate)
SELECT g.fragment_id, :corpus, nullif(g.first_id, g.fragment_id),
       CASE WHEN g.place = 1 THEN coalesce(o.also_in, '[]'::jsonb) ELSE '[]'::jsonb END, c.text_key IS NOT NULL
FROM grouped AS g
LEFT JOIN others AS o ON o.first_id = g.fragment_id
LEFT JOIN common AS c ON c.text_key = g.text_key
WHERE g.copies > 1 OR c.text_key IS NOT NULL;

-- name: mark_counts^
-- How many fragments of a corpus are copies and how many are boilerplate.
SELECT count(*) FILTER (WHERE copy_of IS NOT NULL) AS copies, count(*) FILTER (WHERE is_boilerplate) AS boilerplate
FROM corpus.fragment_marks
WHERE corpus = :corpus;

-- name: fragment_marks
-- The marks of a corpus in reading order.
SELECT m.fragment_id, m.copy_of, m.also_in, m.is_boilerplate
FROM corpus.fragment_marks AS m
JOIN corpus.fragments AS f USING (fragment_id)
WHERE m.corpus = :corpus
ORDER BY f.document_id COLLATE "C", f.ordinal;
