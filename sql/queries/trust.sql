-- Queries with {names} in braces are completed with quoted identifiers (trust/repository.py): serving tables are made
-- at run time.

-- name: served_document_ids
-- The documents that a generation serves, with the hashes their rows rely on.
SELECT DISTINCT document_id COLLATE "C" AS document_id, source_sha256, document_text_sha256 AS text_sha256
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY 1, 2, 3;

-- name: kept_conversions
-- Conversions of these files as they are kept.
SELECT source_sha256, converter_fingerprint, document_sha256, text_sha256, content
FROM corpus.conversions
WHERE source_sha256 = ANY(:source_sha256s);

-- name: served_fragments
-- Fragments as a generation serves them, in the order of their documents, with the string that was embedded where it is still known.
SELECT s.document_id, s.fragment_id AS place, s.text, s.text_sha256, s.char_start, s.char_end, s.embedded_sha256,
       f.embedded_text
FROM {table} AS s
LEFT JOIN corpus.fragments AS f ON f.fragment_id = s.fragment_id AND f.embedded_sha256 = s.embedded_sha256
WHERE s.corpus = :corpus
  AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
ORDER BY s.document_id COLLATE "C", s.ordinal;

-- name: served_parents
-- The same of parents.
SELECT document_id, parent_id AS place, text, text_sha256, char_start, char_end
FROM serving.parents
WHERE corpus = :corpus
  AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id COLLATE "C", char_start;

-- name: altered_fragment^
-- The first fragment of the working state whose hashes do not hold, and how many there are.
SELECT count(*) OVER () AS faults, document_id, fragment_id AS place,
       CASE WHEN found_text <> text_sha256 THEN text_sha256 ELSE embedded_sha256 END AS expected,
       CASE WHEN found_text <> text_sha256 THEN found_text ELSE found_embedded END AS found
FROM corpus.fragments,
     LATERAL (SELECT encode(sha256(convert_to(text, 'UTF8')), 'hex') AS found_text,
                     encode(sha256(convert_to(embedded_text, 'UTF8')), 'hex') AS found_embedded OFFSET 0) AS computed
WHERE corpus = :corpus AND (found_text <> text_sha256 OR found_embedded <> embedded_sha256)
ORDER BY document_id COLLATE "C", ordinal
LIMIT 1;

-- name: known_model^
-- What a fingerprint stands for.
SELECT parts, dimensions FROM corpus.embedding_models WHERE fingerprint = :fingerprint;

-- name: faulty_vector^
-- The first served row whose vector is absent, of another size, of no unit length or not the cached one, and how many.
SELECT count(*) OVER () AS faults, document_id, place, cached, dims, norm, distance
FROM (
    SELECT s.document_id, s.fragment_id AS place, e.vector IS NOT NULL AS cached, vector_dims(e.vector) AS dims,
           vector_norm(e.vector) AS norm,
           CASE WHEN vector_dims(e.vector) = vector_dims(s.embedding) THEN s.embedding <-> e.vector::halfvec END AS distance
    FROM {table} AS s
    LEFT JOIN corpus.embeddings AS e ON e.fingerprint = :fingerprint AND e.embedded_sha256 = s.embedded_sha256
    WHERE s.corpus = :corpus
      AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
) AS compared
WHERE NOT cached OR dims <> :dimensions OR NOT norm BETWEEN 1 - :tolerance AND 1 + :tolerance
   OR distance IS NULL OR NOT distance <= :tolerance
ORDER BY document_id COLLATE "C", place COLLATE "C"
LIMIT 1;

-- name: document_values
-- The distinct values that rows of a generation have of their documents, and the conversions they may come from.
SELECT d.*, (
    SELECT array_agg(DISTINCT c.converter_fingerprint)
    FROM corpus.conversions AS c
    WHERE c.source_sha256 = d.source_sha256 AND c.text_sha256 = d.document_text_sha256
) AS converter_fingerprints, (
    SELECT k.converter_fingerprint
    FROM corpus.documents AS k
    WHERE k.corpus = d.corpus AND k.document_id = d.document_id
) AS present_fingerprint
FROM (
    SELECT DISTINCT md5(ROW({columns})::text) AS values_key, {columns}
    FROM {table}
    WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
) AS d;

-- name: parent_values
-- The distinct values that parents of a generation have of their documents.
SELECT DISTINCT md5(ROW({columns})::text) AS values_key, {columns}
FROM serving.parents
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: altered_fragment_row^
-- The first served row of which no digest is the one that was recorded, and how many there are.
SELECT count(*) OVER () AS faults, document_id, place, expected, found
FROM (
    SELECT s.document_id, s.fragment_id AS place, s.row_sha256 AS expected, min(n.digest) AS found
    FROM {table} AS s
    LEFT JOIN pg_temp.row_heads AS h ON h.values_key = md5(ROW({columns})::text)
    CROSS JOIN LATERAL (
        SELECT corpus.fragment_digest(h.head, ROW(s.fragment_id, s.parent_id, s.corpus, s.document_id, s.ordinal, s.text,
            s.text_sha256, '', s.embedded_sha256, s.token_count, s.section_path, s.page_number, s.char_start,
            s.char_end)::corpus.fragments) AS own OFFSET 0
    ) AS c
    CROSS JOIN LATERAL (
        SELECT c.own AS digest WHERE s.also_in = '[]' AND NOT s.is_boilerplate
        UNION ALL
        SELECT corpus.marked_digest(c.own, jsonb_populate_record(NULL::corpus.fragment_marks, jsonb_build_object(
            'fragment_id', s.fragment_id, 'corpus', s.corpus, 'also_in', s.also_in, 'is_boilerplate', s.is_boilerplate)))
        WHERE s.also_in <> '[]' OR s.is_boilerplate OR s.serving_state = 'archived'
    ) AS n
    WHERE s.corpus = :corpus
      AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
    GROUP BY s.tableoid, s.ctid, s.document_id, s.fragment_id, s.row_sha256
    HAVING NOT coalesce(bool_or(n.digest = s.row_sha256), false)
) AS altered
ORDER BY document_id COLLATE "C", place COLLATE "C"
LIMIT 1;

-- name: altered_parent_row^
-- The same of parents.
SELECT count(*) OVER () AS faults, s.document_id, s.parent_id AS place, s.row_sha256 AS expected, n.digest AS found
FROM serving.parents AS s
LEFT JOIN pg_temp.parent_heads AS h ON h.values_key = md5(ROW({columns})::text)
CROSS JOIN LATERAL (
    SELECT corpus.parent_digest(h.head, ROW(s.parent_id, s.corpus, s.document_id, 0, s.section_path, s.text, s.text_sha256,
        s.token_count, s.char_start, s.char_end, s.page_number)::corpus.parents) AS digest OFFSET 0
) AS n
WHERE s.corpus = :corpus
  AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
  AND n.digest IS DISTINCT FROM s.row_sha256
ORDER BY s.document_id COLLATE "C", s.parent_id COLLATE "C"
LIMIT 1;

-- name: count_rows$
-- How many rows of a serving table a generation has.
SELECT count(*)
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: fragment_drift!
-- What differs between the fragments that a generation serves and those it must serve. {values} are the columns it
-- must have, {differences} the names of those that are other; a second row of a fragment is extra.
CREATE TEMPORARY TABLE fragment_drift ON COMMIT DROP AS
WITH served AS (
    SELECT s.*, s.tableoid AS leaf, s.ctid AS at
    FROM {table} AS s
    WHERE s.corpus = :corpus
      AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
), wanted AS (
    SELECT {values}, coalesce(m.also_in, '[]'::jsonb) AS also_in, coalesce(m.is_boilerplate, false) AS is_boilerplate,
           corpus.marked_digest(corpus.fragment_digest(d.fragment_head, f), m) AS row_sha256
    FROM pg_temp.wanted_documents AS d
    JOIN corpus.fragments AS f ON f.document_id = d.document_id
    LEFT JOIN corpus.fragment_marks AS m ON m.fragment_id = f.fragment_id
    WHERE f.corpus = :corpus AND (m.copy_of IS NULL OR d.serving_state <> 'current')
), compared AS (
    SELECT coalesce(w.fragment_id, s.fragment_id) AS row_id, coalesce(w.document_id, s.document_id) AS document_id,
           w.fragment_id IS NOT NULL AS is_wanted, s.leaf, s.at, s.generation_from, s.generation_to,
           e.vector IS NOT NULL AND a.terms IS NOT NULL AS is_cached,
           CASE WHEN w.fragment_id IS NOT NULL AND s.leaf IS NOT NULL THEN array_remove(ARRAY[{differences},
               CASE WHEN CASE WHEN vector_dims(e.vector) = vector_dims(s.embedding)
                              THEN NOT s.embedding <-> e.vector::halfvec <= :tolerance
                              ELSE e.vector IS NOT NULL END THEN 'embedding' END,
               CASE WHEN a.terms IS NOT NULL AND (a.term_count, a.terms, a.term_levels)
                         IS DISTINCT FROM (s.term_count, s.terms, s.term_levels) THEN 'terms' END
           ]::text[], NULL) END AS columns
    FROM wanted AS w
    LEFT JOIN corpus.embeddings AS e ON e.embedded_sha256 = w.embedded_sha256 AND e.fingerprint = :fingerprint
    LEFT JOIN corpus.analysed_texts AS a ON a.embedded_sha256 = w.embedded_sha256 AND a.analyser = :analyser
    FULL JOIN served AS s ON s.fragment_id = w.fragment_id
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY cardinality(columns), generation_from, at) AS place
    FROM compared
)
SELECT row_id, document_id, leaf, at, generation_from, generation_to, is_cached, columns,
       CASE WHEN NOT is_wanted OR place > 1 THEN 'extra' WHEN leaf IS NULL THEN 'missing' ELSE 'altered' END AS kind
FROM ranked
WHERE NOT is_wanted OR place > 1 OR leaf IS NULL OR cardinality(columns) > 0;

-- name: parent_drift!
-- The same of parents.
CREATE TEMPORARY TABLE parent_drift ON COMMIT DROP AS
WITH served AS (
    SELECT s.*, s.tableoid AS leaf, s.ctid AS at
    FROM serving.parents AS s
    WHERE s.corpus = :corpus
      AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
), wanted AS (
    SELECT {values}, corpus.parent_digest(d.parent_head, p) AS row_sha256
    FROM pg_temp.wanted_documents AS d
    JOIN corpus.parents AS p ON p.document_id = d.document_id
    WHERE p.corpus = :corpus
), compared AS (
    SELECT coalesce(w.parent_id, s.parent_id) AS row_id, coalesce(w.document_id, s.document_id) AS document_id,
           w.parent_id IS NOT NULL AS is_wanted, s.leaf, s.at, s.generation_from, s.generation_to,
           CASE WHEN w.parent_id IS NOT NULL AND s.leaf IS NOT NULL
                THEN array_remove(ARRAY[{differences}]::text[], NULL) END AS columns
    FROM wanted AS w
    FULL JOIN served AS s ON s.parent_id = w.parent_id
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY cardinality(columns), generation_from, at) AS place
    FROM compared
)
SELECT row_id, document_id, leaf, at, generation_from, generation_to, true AS is_cached, columns,
       CASE WHEN NOT is_wanted OR place > 1 THEN 'extra' WHEN leaf IS NULL THEN 'missing' ELSE 'altered' END AS kind
FROM ranked
WHERE NOT is_wanted OR place > 1 OR leaf IS NULL OR cardinality(columns) > 0;

-- name: drifted_rows
-- What was found, in order.
SELECT kind, row_id, document_id, columns, is_cached
FROM {drift}
ORDER BY document_id COLLATE "C", row_id COLLATE "C", kind
LIMIT :most;

-- name: drift_counts^
-- How many rows are missing, altered and extra, and how many of those to be restored lack a vector or terms.
SELECT count(*) FILTER (WHERE kind = 'missing') AS missing,
       count(*) FILTER (WHERE kind = 'altered') AS altered,
       count(*) FILTER (WHERE kind = 'extra') AS extra,
       count(*) FILTER (WHERE kind <> 'extra' AND NOT is_cached) AS uncached
FROM {drift};

-- name: retire_extra_rows!
-- Extra rows that earlier generations serve are theirs: they end with the one before.
UPDATE {table} AS s SET generation_to = :generation
FROM {drift} AS d
WHERE d.kind = 'extra' AND d.generation_from < :generation AND s.tableoid = d.leaf AND s.ctid = d.at;

-- name: remove_drifted_rows!
-- Altered rows, and extra ones of this generation alone; a row that no generation shows goes too, for its place is needed.
DELETE FROM {table} AS s
WHERE s.corpus = :corpus
  AND (s.generation_to <= s.generation_from
       OR EXISTS (SELECT FROM {drift} AS d
                  WHERE s.tableoid = d.leaf AND s.ctid = d.at
                    AND (d.kind = 'altered' OR d.kind = 'extra' AND d.generation_from >= :generation)));

-- name: restore_fragments!
-- Missing and altered fragments as they must be, from the working state and the caches, for the generations they had.
INSERT INTO {table} ({columns}, also_in, is_boilerplate, embedding, term_count, terms, term_levels, row_sha256,
                     generation_from, generation_to)
SELECT {values}, coalesce(m.also_in, '[]'::jsonb), coalesce(m.is_boilerplate, false), e.vector::halfvec, a.term_count,
       a.terms, a.term_levels, corpus.marked_digest(corpus.fragment_digest(d.fragment_head, f), m),
       coalesce(x.generation_from, :generation), x.generation_to
FROM pg_temp.fragment_drift AS x
JOIN corpus.fragments AS f ON f.fragment_id = x.row_id
JOIN pg_temp.wanted_documents AS d ON d.document_id = f.document_id
LEFT JOIN corpus.fragment_marks AS m ON m.fragment_id = f.fragment_id
JOIN corpus.embeddings AS e ON e.embedded_sha256 = f.embedded_sha256 AND e.fingerprint = :fingerprint
JOIN corpus.analysed_texts AS a ON a.embedded_sha256 = f.embedded_sha256 AND a.analyser = :analyser
WHERE x.kind <> 'extra';

-- name: restore_parents!
-- The same of parents.
INSERT INTO serving.parents ({columns}, row_sha256, generation_from, generation_to)
SELECT {values}, corpus.parent_digest(d.parent_head, p), coalesce(x.generation_from, :generation), x.generation_to
FROM pg_temp.parent_drift AS x
JOIN corpus.parents AS p ON p.parent_id = x.row_id
JOIN pg_temp.wanted_documents AS d ON d.document_id = p.document_id
WHERE x.kind <> 'extra';

-- name: log_change!
-- Remembers who changed rows of the published generation, and why.
INSERT INTO corpus.publication_log (corpus, action, from_generation, to_generation, who, reason)
VALUES (:corpus, :action, :generation, :generation, :who, :reason);

-- name: known_corpora
-- Corpora of which the database knows anything.
SELECT corpus FROM corpus.stage_states UNION SELECT corpus FROM corpus.generations UNION SELECT corpus FROM corpus.source_files
ORDER BY 1;

-- name: knows_other_sources$
-- Whether rows of a serving table say where else their text stands; those of older layouts do not.
SELECT EXISTS (SELECT FROM pg_attribute
               WHERE attrelid = to_regclass('serving.' || quote_ident(:table_name)) AND attname = 'also_in');

-- name: all_serving_tables
-- Tables that have ever served a corpus and are still there.
SELECT DISTINCT serving_table FROM corpus.generations
WHERE to_regclass('serving.' || quote_ident(serving_table)) IS NOT NULL
ORDER BY serving_table;

-- name: name_documents!
-- The documents to be purged, and how JSON writes their ids and the beginning of their fragments' ids.
CREATE TEMPORARY TABLE purged_documents ON COMMIT DROP AS
SELECT document_id, split_part(document_id, '/', 1) AS corpus, substr(document_id, strpos(document_id, '/') + 1) AS path,
       to_jsonb(document_id)::text AS quoted, rtrim(to_jsonb(document_id)::text, '"') || '::' AS quoted_place
FROM unnest(:document_ids::text[]) AS document_id;

-- name: trace_serving!
-- Hashes of the served rows of these documents. {table} is a serving table.
INSERT INTO pg_temp.purged_hashes
SELECT DISTINCT s.document_id, h.kind, h.sha256
FROM {table} AS s
JOIN pg_temp.purged_documents AS p USING (document_id),
     LATERAL (VALUES ('file', s.source_sha256), ('text', s.document_text_sha256)) AS h (kind, sha256);

-- name: trace_documents!
-- Hashes of files, texts and structured documents that the working state, the history and the caches know of.
CREATE TEMPORARY TABLE purged_hashes ON COMMIT DROP AS
SELECT p.document_id, k.kind, k.sha256::text
FROM pg_temp.purged_documents AS p,
     LATERAL (
         SELECT 'file' AS kind, sha256 FROM corpus.source_files AS t WHERE t.document_id = p.document_id
         UNION ALL
         SELECT 'file', c.sha256 FROM corpus.source_changes AS t,
             LATERAL (VALUES (t.sha256), (t.previous_sha256)) AS c (sha256)
         WHERE t.document_id = p.document_id
         UNION ALL
         SELECT h.kind, h.sha256 FROM corpus.documents AS t,
             LATERAL (VALUES ('file', source_sha256), ('text', text_sha256), ('document', document_sha256)) AS h (kind, sha256)
         WHERE t.document_id = p.document_id
         UNION ALL
         SELECT 'file', source_sha256 FROM corpus.quarantine AS t WHERE t.document_id = p.document_id
         UNION ALL
         SELECT 'text', text_sha256 FROM corpus.compared_documents AS t WHERE t.document_id = p.document_id
         UNION ALL
         SELECT 'text', text_sha256 FROM corpus.published_documents AS t WHERE t.document_id = p.document_id
         UNION ALL
         SELECT 'decision', decision_sha256 FROM corpus.document_version_history AS t WHERE t.document_id = p.document_id
     ) AS k
WHERE k.sha256 <> '';

-- name: spare_files!
-- A file that another document has as well is that one's too. {served} are all serving tables.
DELETE FROM pg_temp.purged_hashes AS h
WHERE h.kind = 'file' AND h.sha256 IN (
    SELECT sha256 FROM corpus.source_files WHERE document_id NOT IN (SELECT document_id FROM pg_temp.purged_documents)
    UNION ALL
    SELECT source_sha256 FROM corpus.documents WHERE document_id NOT IN (SELECT document_id FROM pg_temp.purged_documents)
    UNION ALL
    SELECT source_sha256 FROM ({served}) AS s WHERE document_id NOT IN (SELECT document_id FROM pg_temp.purged_documents));

-- name: trace_conversions!
-- Texts and structured documents that were ever made of the files.
INSERT INTO pg_temp.purged_hashes
SELECT DISTINCT h.document_id, k.kind, k.sha256
FROM pg_temp.purged_hashes AS h
JOIN corpus.conversions AS c ON c.source_sha256 = h.sha256,
     LATERAL (VALUES ('text', c.text_sha256), ('document', c.document_sha256)) AS k (kind, sha256)
WHERE h.kind = 'file';

-- name: traced_hashes
-- What was found of each document.
SELECT document_id, kind, array_agg(DISTINCT sha256 ORDER BY sha256) AS sha256s
FROM pg_temp.purged_hashes
GROUP BY document_id, kind
ORDER BY document_id, kind;

-- name: documents_at_work
-- Documents that the working state still has: their files were in the source when it was last listed.
SELECT document_id FROM corpus.source_files JOIN pg_temp.purged_documents USING (corpus, document_id)
UNION
SELECT document_id FROM corpus.documents JOIN pg_temp.purged_documents USING (corpus, document_id)
ORDER BY 1;

-- name: generations_with_rows
-- Generations that still have rows, of the corpora of these documents; the newest first.
SELECT g.corpus, g.generation, g.status, p.generation IS NOT NULL AS is_published
FROM corpus.generations AS g
LEFT JOIN serving.publications AS p ON p.corpus = g.corpus AND p.generation = g.generation
WHERE g.rows_removed_at IS NULL AND g.corpus IN (SELECT corpus FROM pg_temp.purged_documents)
ORDER BY g.corpus, g.generation DESC;

-- name: rows_of_documents$
-- How many rows of a table, in one generation, are of these documents or cite them.
SELECT count(*)
FROM {table} AS s
WHERE s.corpus = :corpus AND s.generation_from <= :generation
  AND (s.generation_to IS NULL OR s.generation_to > :generation)
  AND s.document_id IN (SELECT document_id FROM pg_temp.purged_documents);

-- name: hidden_copies$
-- Fragments of other documents that are served through a first one of these: the next generation has rows of their own.
SELECT count(*)
FROM corpus.fragment_marks AS m
JOIN corpus.fragments AS f ON f.fragment_id = m.fragment_id
JOIN corpus.fragments AS first_one ON first_one.fragment_id = m.copy_of
WHERE first_one.document_id IN (SELECT document_id FROM pg_temp.purged_documents)
  AND f.document_id NOT IN (SELECT document_id FROM pg_temp.purged_documents);

-- name: purge_served!
-- Rows of a serving table, of all generations.
DELETE FROM {table} WHERE document_id IN (SELECT document_id FROM pg_temp.purged_documents);

-- name: posting_indexes_of_documents
-- Posting lists of their corpora, with the newest generation that each table still has rows of; NULL where it has none.
SELECT i.serving_table, i.corpus, max(g.generation) AS generation
FROM corpus.posting_indexes AS i
LEFT JOIN corpus.generations AS g ON g.corpus = i.corpus AND g.serving_table = i.serving_table AND g.rows_removed_at IS NULL
WHERE EXISTS (SELECT FROM pg_temp.purged_documents AS p WHERE starts_with(p.document_id, i.corpus || '/'))
GROUP BY i.serving_table, i.corpus;

-- name: citing_values
-- Values of the documents of rows that say their text also stands in one of these, and conversions they may come from.
SELECT d.*, (
    SELECT array_agg(DISTINCT c.converter_fingerprint)
    FROM corpus.conversions AS c
    WHERE c.source_sha256 = d.source_sha256 AND c.text_sha256 = d.document_text_sha256
) AS converter_fingerprints, NULL AS present_fingerprint
FROM (
    SELECT DISTINCT md5(ROW({columns})::text) AS values_key, {columns}
    FROM {table}, LATERAL jsonb_array_elements(also_in) AS other
    WHERE other ->> 'document_id' IN (SELECT document_id FROM pg_temp.purged_documents)
) AS d;

-- name: forget_sources!
-- Takes these documents out of what rows say of where else their text stands; digests that held hold again.
UPDATE {table} AS s
SET also_in = k.kept, row_sha256 = coalesce(n.digest, s.row_sha256)
FROM (
    SELECT r.tableoid AS leaf, r.ctid AS at,
           coalesce(jsonb_agg(other ORDER BY place) FILTER (
               WHERE other ->> 'document_id' NOT IN (SELECT document_id FROM pg_temp.purged_documents)), '[]') AS kept
    FROM {table} AS r, LATERAL jsonb_array_elements(r.also_in) WITH ORDINALITY AS o (other, place)
    WHERE EXISTS (SELECT FROM jsonb_array_elements(r.also_in) AS e
                  WHERE e ->> 'document_id' IN (SELECT document_id FROM pg_temp.purged_documents))
    GROUP BY r.tableoid, r.ctid
) AS k
JOIN {table} AS s0 ON s0.tableoid = k.leaf AND s0.ctid = k.at
LEFT JOIN LATERAL (
    SELECT CASE WHEN k.kept = '[]' AND NOT s0.is_boilerplate THEN c.own
                ELSE corpus.marked_digest(c.own, jsonb_populate_record(NULL::corpus.fragment_marks, jsonb_build_object(
                    'fragment_id', s0.fragment_id, 'corpus', s0.corpus, 'also_in', k.kept,
                    'is_boilerplate', s0.is_boilerplate))) END AS digest
    FROM pg_temp.citing_heads AS h,
         LATERAL (SELECT corpus.fragment_digest(h.head, ROW(s0.fragment_id, s0.parent_id, s0.corpus, s0.document_id,
             s0.ordinal, s0.text, s0.text_sha256, '', s0.embedded_sha256, s0.token_count, s0.section_path, s0.page_number,
             s0.char_start, s0.char_end)::corpus.fragments) AS own OFFSET 0) AS c
    WHERE h.values_key = md5(ROW({columns})::text)
      AND s0.row_sha256 = corpus.marked_digest(c.own, jsonb_populate_record(NULL::corpus.fragment_marks,
          jsonb_build_object('fragment_id', s0.fragment_id, 'corpus', s0.corpus, 'also_in', s0.also_in,
                             'is_boilerplate', s0.is_boilerplate)))
    LIMIT 1
) AS n ON true
WHERE s.tableoid = k.leaf AND s.ctid = k.at;

-- name: set_root!
-- A generation from which documents were purged has another root.
UPDATE corpus.generations
SET root_sha256 = :root_sha256, counts = counts || jsonb_build_object('root', :root_sha256::text, 'rows', :rows::bigint)
WHERE corpus = :corpus AND generation = :generation;

-- name: set_published_root!
-- The same for the pointer and for what other corpora know of it.
WITH pointer AS (
    UPDATE serving.publications SET root_sha256 = :root_sha256
    WHERE corpus = :corpus AND generation = :generation
    RETURNING corpus
)
UPDATE corpus.published_roots SET root_sha256 = :root_sha256
WHERE corpus IN (SELECT corpus FROM pointer) AND generation = :generation;

-- name: purge_evidence_packs!
-- Whole packs that cite one of them.
DELETE FROM corpus.evidence_packs AS t
WHERE t.documents && (SELECT array_agg(document_id) FROM pg_temp.purged_documents) OR EXISTS (SELECT FROM pg_temp.purged_documents AS p WHERE position(p.quoted IN t.content::text) > 0);

-- name: purge_evaluation_queries!
-- Results of golden queries that name one of them.
DELETE FROM corpus.evaluation_queries AS t USING pg_temp.purged_documents AS p
WHERE position(p.quoted IN to_jsonb(t)::text) > 0 OR position(p.quoted_place IN to_jsonb(t)::text) > 0;

-- name: purge_gate_verdicts!
-- Verdicts that name one of them.
DELETE FROM corpus.gate_verdicts AS t USING pg_temp.purged_documents AS p
WHERE position(p.quoted IN t.failures::text) > 0 OR position(p.quoted_place IN t.failures::text) > 0;

-- name: purge_version_conflicts!
-- Conflicts that one of them is part of.
DELETE FROM corpus.version_conflicts AS t
WHERE t.documents && (SELECT array_agg(document_id) FROM pg_temp.purged_documents);

-- name: purge_version_relations!
-- Relations from or to one of them, which quote it.
DELETE FROM corpus.version_relations AS t USING pg_temp.purged_documents AS p
WHERE p.document_id IN (t.source_id, t.target_id);

-- name: purge_comparison_states!
-- What a comparison that knew one of them was made with; the next one begins anew.
DELETE FROM corpus.comparison_states AS t
WHERE t.corpus IN (SELECT c.corpus FROM corpus.compared_documents AS c JOIN pg_temp.purged_documents USING (corpus, document_id));

-- name: purge_duplicate_edges!
-- Edges to one of them.
DELETE FROM corpus.duplicate_edges AS t USING pg_temp.purged_documents AS p
WHERE t.corpus = p.corpus AND p.document_id IN (t.left_id, t.right_id);

-- name: purge_cross_corpus_edges!
-- Edges between corpora to one of them.
DELETE FROM corpus.cross_corpus_edges AS t USING pg_temp.purged_documents AS p
WHERE p.document_id IN (t.left_document_id, t.right_document_id);

-- name: purge_duplicate_cluster_members!
-- Clusters that one of them is a member of; the next comparison makes them anew.
DELETE FROM corpus.duplicate_cluster_members AS t
WHERE (t.corpus, t.cluster_id) IN (SELECT m.corpus, m.cluster_id FROM corpus.duplicate_cluster_members AS m JOIN pg_temp.purged_documents USING (corpus, document_id));

-- name: purge_fragment_marks!
-- Marks of fragments that repeat one of theirs; the next run makes them anew.
DELETE FROM corpus.fragment_marks AS t USING pg_temp.purged_documents AS p
WHERE t.corpus = p.corpus AND (starts_with(t.copy_of, p.document_id || '::') OR starts_with(t.fragment_id, p.document_id || '::') OR position(p.quoted IN t.also_in::text) > 0);

-- name: purge_fragments!
-- Their fragments.
DELETE FROM corpus.fragments AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_parents!
-- Their parents.
DELETE FROM corpus.parents AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_chunked_documents!
-- Their rows.
DELETE FROM corpus.chunked_documents AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_compared_documents!
-- Their rows.
DELETE FROM corpus.compared_documents AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_document_versions!
-- Their rows.
DELETE FROM corpus.document_versions AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_document_version_history!
-- Their rows.
DELETE FROM corpus.document_version_history AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_documents!
-- Their rows.
DELETE FROM corpus.documents AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_published_documents!
-- Their rows.
DELETE FROM corpus.published_documents AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_quarantine!
-- Their rows.
DELETE FROM corpus.quarantine AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_removal_holds!
-- Their rows.
DELETE FROM corpus.removal_holds AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_source_files!
-- Their rows.
DELETE FROM corpus.source_files AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_source_changes!
-- Their rows.
DELETE FROM corpus.source_changes AS t USING pg_temp.purged_documents AS p
WHERE t.document_id = p.document_id;

-- name: purge_source_readings!
-- What their files and sidecars said of themselves.
DELETE FROM corpus.source_readings AS t USING pg_temp.purged_documents AS p
WHERE t.corpus = p.corpus AND (t.path = p.path OR starts_with(t.path, p.path || '.meta.'));

-- name: purge_container_readings!
-- What the containers around them held; opened anew by the next run.
DELETE FROM corpus.container_readings AS t USING pg_temp.purged_documents AS p
WHERE t.corpus = p.corpus AND (t.path = p.path OR starts_with(p.path, t.path || '!/'));

-- name: purge_conversions!
-- Structured documents made of their files.
DELETE FROM corpus.conversions AS t
WHERE t.source_sha256 IN (SELECT sha256 FROM pg_temp.purged_hashes WHERE kind = 'file');

-- name: purge_conversion_routes!
-- How their files were converted.
DELETE FROM corpus.conversion_routes AS t
WHERE t.source_sha256 IN (SELECT sha256 FROM pg_temp.purged_hashes WHERE kind = 'file');

-- name: purge_version_evidence!
-- Quotes about versions that no other conversion gives.
DELETE FROM corpus.version_evidence AS t
WHERE t.document_sha256 IN (SELECT sha256 FROM pg_temp.purged_hashes WHERE kind = 'document') AND NOT EXISTS (SELECT FROM corpus.conversions AS c WHERE c.document_sha256 = t.document_sha256);

-- name: purge_text_profiles!
-- Profiles of their lines that no other document has.
DELETE FROM corpus.text_profiles AS t
WHERE t.text_sha256 IN (SELECT sha256 FROM pg_temp.purged_hashes WHERE kind = 'text') AND NOT EXISTS (SELECT FROM corpus.compared_documents AS c WHERE c.text_sha256 = t.text_sha256) AND NOT EXISTS (SELECT FROM corpus.conversions AS c WHERE c.text_sha256 = t.text_sha256);

-- name: purge_embeddings!
-- Vectors of texts that no fragment and no served row has any more; one may be of an earlier version. {served} are all
-- serving tables.
DELETE FROM corpus.embeddings AS t
WHERE NOT EXISTS (SELECT FROM corpus.fragments AS f WHERE f.embedded_sha256 = t.embedded_sha256)
  AND NOT EXISTS (SELECT FROM ({served}) AS s WHERE s.embedded_sha256 = t.embedded_sha256);

-- name: purge_analysed_texts!
-- Terms of texts that no fragment and no served row has any more; one may be of an earlier version. {served} are all
-- serving tables.
DELETE FROM corpus.analysed_texts AS t
WHERE NOT EXISTS (SELECT FROM corpus.fragments AS f WHERE f.embedded_sha256 = t.embedded_sha256)
  AND NOT EXISTS (SELECT FROM ({served}) AS s WHERE s.embedded_sha256 = t.embedded_sha256);

-- name: release_signatures!
-- Signatures that no document has any more, for removal at once.
INSERT INTO corpus.unused_signatures (signature_id)
SELECT signature_id FROM corpus.document_signatures AS s
WHERE NOT EXISTS (SELECT FROM corpus.compared_documents AS c WHERE c.signature_id = s.signature_id)
ON CONFLICT DO NOTHING;

-- name: redact_versions!
-- Reasons of decisions about other documents that name or quote one of them.
UPDATE corpus.document_versions AS t SET evidence = ''
WHERE t.evidence <> '' AND EXISTS (
    SELECT FROM pg_temp.purged_documents AS p
    WHERE p.document_id IN (t.superseded_by, t.duplicate_of, t.exclusion_ref, t.current_document_id)
       OR position(p.document_id IN t.evidence) > 0 OR position(p.path IN t.evidence) > 0);

-- name: redact_version_history!
-- The same in their history.
UPDATE corpus.document_version_history AS t SET decision = jsonb_set(t.decision, '{evidence}', '""')
WHERE t.decision ->> 'evidence' <> '' AND EXISTS (
    SELECT FROM pg_temp.purged_documents AS p
    WHERE position(p.quoted IN t.decision::text) > 0
       OR position(p.document_id IN t.decision ->> 'evidence') > 0 OR position(p.path IN t.decision ->> 'evidence') > 0);

-- name: redact_renames!
-- Files that were once called like one of them.
UPDATE corpus.source_changes AS t SET renamed_from = NULL
FROM pg_temp.purged_documents AS p
WHERE t.corpus = p.corpus AND t.renamed_from IN (p.document_id, p.path);

-- name: add_receipt!
-- Keeps what was removed, in numbers and hashes.
INSERT INTO corpus.purges (purge_id, reason, purged_by, purged_at, receipt)
VALUES (:purge_id, :reason, :purged_by, :purged_at, :receipt);

-- name: refuse_files!
-- Files that shall not be taken in again.
INSERT INTO corpus.purged_files (file_sha256, purge_id)
SELECT sha256, :purge_id FROM unnest(:file_sha256s::text[]) AS sha256
ON CONFLICT (file_sha256) DO NOTHING;
