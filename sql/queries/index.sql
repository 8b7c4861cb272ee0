-- Queries with {names} in braces are completed with quoted identifiers (loading.py): tables are made at run time.

-- name: publications
-- All pointers with their holds, for the pipeline.
SELECT corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser, published_at,
       held, held_by, held_at, held_reason
FROM serving.publications
ORDER BY corpus;

-- name: publications_for_readers
-- All pointers as far as readers may know them.
SELECT corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser, published_at
FROM serving.publications
ORDER BY corpus;

-- name: may_see_holds$
-- Whether this session may read who holds publication and why.
SELECT has_column_privilege('serving.publications', 'held_reason', 'SELECT');

-- name: lock_publication^
-- The pointer of a corpus, locked until the transaction ends.
SELECT corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser, published_at,
       held, held_by, held_at, held_reason
FROM serving.publications
WHERE corpus = :corpus
FOR UPDATE;

-- name: lock_corpus_pointer
-- Serialises moves of one corpus's pointer, also before its first row exists.
SELECT pg_advisory_xact_lock(hashtextextended('corpus_pipeline:pointer:' || :corpus, 0));

-- name: move_pointer!
-- Publishes a generation; a hold stays as it is.
INSERT INTO serving.publications
    (corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser, published_at)
SELECT corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser, now()
FROM corpus.generations
WHERE corpus = :corpus AND generation = :generation
ON CONFLICT (corpus) DO UPDATE SET
    generation = excluded.generation,
    root_sha256 = excluded.root_sha256,
    serving_table = excluded.serving_table,
    embedding_fingerprint = excluded.embedding_fingerprint,
    model = excluded.model,
    analyser = excluded.analyser,
    published_at = excluded.published_at;

-- name: hold!
-- Keeps further generations of a corpus from being published.
UPDATE serving.publications
SET held = true, held_by = :who, held_at = now(), held_reason = :reason
WHERE corpus = :corpus;

-- name: lift_hold!
-- Lets a corpus be published again.
UPDATE serving.publications
SET held = false, held_by = NULL, held_at = NULL, held_reason = NULL
WHERE corpus = :corpus AND held;

-- name: log_move!
-- Remembers who moved the pointer, or lifted a hold, and why.
INSERT INTO corpus.publication_log (corpus, action, from_generation, to_generation, who, reason)
VALUES (:corpus, :action, :from_generation, :to_generation, :who, :reason);

-- name: publication_log
-- All moves of a corpus's pointer, oldest first.
SELECT action, from_generation, to_generation, who, reason, logged_at
FROM corpus.publication_log
WHERE corpus = :corpus
ORDER BY entry_id;

-- name: generations
-- All generations ever staged of a corpus, oldest first.
SELECT corpus, generation, base_generation, status, root_sha256, serving_table, embedding_fingerprint,
       chunker_fingerprint, model, analyser, counts, as_of, inputs, run_id, staged_at, published_at, ended_at, rows_removed_at
FROM corpus.generations
WHERE corpus = :corpus
ORDER BY generation;

-- name: generation^
-- One generation.
SELECT corpus, generation, base_generation, status, root_sha256, serving_table, embedding_fingerprint,
       chunker_fingerprint, model, analyser, counts, as_of, inputs, run_id, staged_at, published_at, ended_at, rows_removed_at
FROM corpus.generations
WHERE corpus = :corpus AND generation = :generation;

-- name: next_generation$
-- A number that no generation of this corpus has had.
SELECT coalesce(max(generation), 0) + 1 FROM corpus.generations WHERE corpus = :corpus;

-- name: add_generation!
-- Records a staged generation in the transaction that writes its rows.
INSERT INTO corpus.generations
    (corpus, generation, base_generation, status, root_sha256, serving_table, embedding_fingerprint,
     chunker_fingerprint, model, analyser, lexical_fragments, lexical_terms, lexical_shortest, counts,
     as_of, inputs, run_id)
VALUES
    (:corpus, :generation, :base_generation, 'staged', :root_sha256, :serving_table, :embedding_fingerprint,
     :chunker_fingerprint, :model, :analyser, :lexical_fragments, :lexical_terms, :lexical_shortest,
     :counts, :as_of, :inputs, :run_id);

-- name: abandon_generations!
-- Ends every staged or rolled-back generation above the published one, whose rows are being removed.
UPDATE corpus.generations
SET status = CASE status WHEN 'staged' THEN 'abandoned' ELSE status END,
    ended_at = coalesce(ended_at, now()),
    rows_removed_at = now()
WHERE corpus = :corpus AND generation > :published AND rows_removed_at IS NULL;

-- name: serving_tables
-- Tables that have ever served a corpus.
SELECT DISTINCT serving_table FROM corpus.generations WHERE corpus = :corpus ORDER BY serving_table;

-- name: mark_published!
-- A staged generation becomes the published one.
UPDATE corpus.generations
SET status = 'published', published_at = coalesce(published_at, now()), ended_at = NULL
WHERE corpus = :corpus AND generation = :generation;

-- name: mark_ended!
-- The published generation gives way: superseded by a newer one, or rolled back.
UPDATE corpus.generations
SET status = :status, ended_at = now()
WHERE corpus = :corpus AND generation = :generation;

-- name: rollback_target^
-- The newest generation below the published one that was served and still has its rows; locked against retention.
SELECT generation
FROM corpus.generations
WHERE corpus = :corpus AND generation < :published AND status = 'superseded' AND rows_removed_at IS NULL
  AND (:wanted::integer IS NULL OR generation = :wanted)
ORDER BY generation DESC
LIMIT 1
FOR UPDATE;

-- name: end_generations_between!
-- Generations between the target of a rollback and the published one end with it.
UPDATE corpus.generations
SET status = 'rolled_back', ended_at = now()
WHERE corpus = :corpus AND generation > :target AND generation <= :published AND status IN ('superseded', 'published');

-- name: kept_generations
-- Served generations that retention keeps: the published one, the last so many, and those of the last so many days.
WITH served AS (
    SELECT generation, serving_table, ended_at, row_number() OVER (ORDER BY generation DESC) AS age
    FROM corpus.generations
    WHERE corpus = :corpus AND status IN ('published', 'superseded') AND rows_removed_at IS NULL
)
SELECT generation, serving_table FROM served
WHERE age <= :keep OR ended_at IS NULL OR ended_at > now() - make_interval(days => :days)
ORDER BY generation;

-- name: mark_rows_removed!
-- Served generations that retention gives up.
UPDATE corpus.generations
SET rows_removed_at = now()
WHERE corpus = :corpus AND status = 'superseded' AND rows_removed_at IS NULL AND NOT generation = ANY(:kept);

-- name: served_digests
-- Digests of the rows that a generation serves.
SELECT row_sha256
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: served_locations
-- Where the documents that a generation serves are said to lie.
SELECT DISTINCT document_id, source_uri
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: served_documents
-- The documents of a generation, for what other corpora may know of it.
SELECT DISTINCT document_id, document_text_sha256, exclusion_reason, superseded_by
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id;

-- name: remove_rows_above!
-- Removes what was loaded for generations above the published one.
DELETE FROM {table} WHERE corpus = :corpus AND generation_from > :published;

-- name: clear_marks_above!
-- Rows retired by generations above the published one are no longer retired.
UPDATE {table} SET generation_to = NULL WHERE corpus = :corpus AND generation_to > :published;

-- name: retire_rows!
-- Rows that the new generation no longer has.
UPDATE {table}
SET generation_to = :generation
WHERE corpus = :corpus AND generation_to IS NULL AND row_sha256 = ANY(:digests);

-- name: move_location!
-- A moved corpus: the rows follow, for where a file lies is no content.
UPDATE {table} SET source_uri = :source_uri WHERE corpus = :corpus AND document_id = :document_id;

-- name: remove_unneeded_rows!
-- Rows that no kept generation serves; rows of generations above the published one stay.
DELETE FROM {table}
WHERE corpus = :corpus AND generation_from <= :published
  AND NOT EXISTS (
      SELECT FROM unnest(:kept::integer[]) AS kept
      WHERE generation_from <= kept AND (generation_to IS NULL OR generation_to > kept)
  );

-- name: count_served^
-- What a generation serves, for validation against what was meant to be loaded.
SELECT count(*) AS row_count,
       count(*) FILTER (WHERE serving_state = 'current') AS current_count,
       count(*) FILTER (WHERE serving_state = 'archived') AS archived_count,
       count(DISTINCT document_id) FILTER (WHERE serving_state = 'current') AS documents_current,
       count(*) FILTER (WHERE embedding IS NULL) AS without_vector
FROM {table}
WHERE corpus = :corpus AND generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: sample_vectors
-- A fixed sample of a leaf's vectors: those of the smallest digests.
SELECT fragment_id, embedding
FROM {leaf}
WHERE generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY row_sha256
LIMIT :size;

-- name: leaf_vectors
-- All vectors that a generation serves from a leaf, for exact search.
SELECT embedding
FROM {leaf}
WHERE generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: nearest_distances
-- Cosine distances of the nearest rows that a generation serves, nearest first.
SELECT embedding <=> :vector AS distance
FROM {leaf}
WHERE generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY embedding <=> :vector
LIMIT :size;

-- name: prevalent_values
-- Values of a column that more than so many rows of a leaf have.
SELECT {column} AS value FROM {leaf} WHERE {column} IS NOT NULL GROUP BY {column} HAVING count(*) > :most ORDER BY {column};

-- name: frequent_products
-- Products of a leaf with so many rows, and how many.
SELECT product_key, count(*) AS row_count
FROM {leaf}
WHERE product_key IS NOT NULL
GROUP BY product_key
HAVING count(*) BETWEEN :fewest AND :most
ORDER BY product_key;

-- name: want_fragments!
-- Digests of the fragments that a corpus should serve. A current copy of another is none: the first one cites its source.
CREATE TEMPORARY TABLE wanted_fragments ON COMMIT DROP AS
SELECT f.fragment_id, d.document_id, d.serving_state,
       corpus.marked_digest(corpus.fragment_digest(d.fragment_head, f), m) AS row_sha256
FROM corpus.fragments AS f
JOIN pg_temp.wanted_documents AS d ON d.document_id = f.document_id
LEFT JOIN corpus.fragment_marks AS m ON m.fragment_id = f.fragment_id
WHERE f.corpus = :corpus AND CASE WHEN m.copy_of IS NULL THEN true ELSE d.serving_state <> 'current' END;

-- name: want_parents!
-- Digests of the parents that a corpus should serve.
CREATE TEMPORARY TABLE wanted_parents ON COMMIT DROP AS
SELECT p.parent_id, d.document_id, corpus.parent_digest(d.parent_head, p) AS row_sha256
FROM corpus.parents AS p
JOIN pg_temp.wanted_documents AS d ON d.document_id = p.document_id
WHERE p.corpus = :corpus;

-- name: unknown_document$
-- A document that has fragments and is none of the corpus's any more.
SELECT f.document_id
FROM corpus.fragments AS f
WHERE f.corpus = :corpus
  AND NOT EXISTS (SELECT FROM pg_temp.wanted_documents AS d WHERE d.document_id = f.document_id)
LIMIT 1;

-- name: wanted_counts^
-- What the generation should serve, for validation after loading.
SELECT count(*) AS row_count,
       count(*) FILTER (WHERE serving_state = 'current') AS current_count,
       count(*) FILTER (WHERE serving_state = 'archived') AS archived_count,
       count(DISTINCT document_id) FILTER (WHERE serving_state = 'current') AS documents_current,
       0 AS without_vector
FROM pg_temp.wanted_fragments;

-- name: added_rows
-- Documents with rows that a generation does not serve, and how many.
SELECT w.document_id, count(*) AS row_count
FROM {wanted} AS w
WHERE NOT EXISTS (
    SELECT FROM {table} AS s
    WHERE s.corpus = :corpus AND s.row_sha256 = w.row_sha256
      AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation))
GROUP BY w.document_id;

-- name: retired_rows
-- Digests of rows that a generation serves and should serve no more.
SELECT s.row_sha256
FROM {table} AS s
WHERE s.corpus = :corpus
  AND s.generation_from <= :generation AND (s.generation_to IS NULL OR s.generation_to > :generation)
  AND NOT EXISTS (SELECT FROM {wanted} AS w WHERE w.row_sha256 = s.row_sha256);

-- name: keep_added_rows!
-- Of the wanted rows, those that the base generation does not serve.
CREATE TEMPORARY TABLE {added} ON COMMIT DROP AS
SELECT w.*
FROM {wanted} AS w
WHERE NOT EXISTS (
    SELECT FROM {table} AS s
    WHERE s.corpus = :corpus AND s.row_sha256 = w.row_sha256
      AND s.generation_from <= :base AND (s.generation_to IS NULL OR s.generation_to > :base));

-- name: insert_fragments!
-- Adds the kept fragments with vectors and terms from the caches.
INSERT INTO {partition} ({columns}, also_in, is_boilerplate, row_sha256, embedding, term_count, terms, term_levels,
                         generation_from)
SELECT {values}, coalesce(m.also_in, '[]'::jsonb), coalesce(m.is_boilerplate, false), n.row_sha256,
       e.vector::halfvec, a.term_count, a.terms, a.term_levels, :generation
FROM pg_temp.added_fragments AS n
JOIN corpus.fragments AS f ON f.fragment_id = n.fragment_id
JOIN pg_temp.wanted_documents AS d ON d.document_id = n.document_id
LEFT JOIN corpus.fragment_marks AS m ON m.fragment_id = n.fragment_id
JOIN corpus.embeddings AS e ON e.embedded_sha256 = f.embedded_sha256 AND e.fingerprint = :fingerprint
JOIN corpus.analysed_texts AS a ON a.embedded_sha256 = f.embedded_sha256 AND a.analyser = :analyser;

-- name: insert_parents!
-- Adds the kept parents.
INSERT INTO {partition} ({columns}, row_sha256, generation_from)
SELECT {values}, n.row_sha256, :generation
FROM pg_temp.added_parents AS n
JOIN corpus.parents AS p ON p.parent_id = n.parent_id
JOIN pg_temp.wanted_documents AS d ON d.document_id = n.document_id;

-- name: cached_dimensions$
-- Dimensions of the vectors of a fingerprint, as the cache has them.
SELECT vector_dims(vector) FROM corpus.embeddings WHERE fingerprint = :fingerprint LIMIT 1;

-- name: unanalysed_texts
-- Distinct texts of a corpus of which an analyser has not made terms yet.
SELECT DISTINCT ON (embedded_sha256) embedded_sha256, embedded_text
FROM corpus.fragments f
WHERE corpus = :corpus
  AND NOT EXISTS (
      SELECT FROM corpus.analysed_texts a WHERE a.analyser = :analyser AND a.embedded_sha256 = f.embedded_sha256);

-- name: keep_analysed_texts!
-- Takes over analysed texts; one that another run has analysed meanwhile stays.
INSERT INTO corpus.analysed_texts (analyser, embedded_sha256, term_count, terms, term_levels)
SELECT :analyser, embedded_sha256, term_count, terms, term_levels FROM pg_temp.incoming_texts
ON CONFLICT (analyser, embedded_sha256) DO NOTHING;

-- name: lexical_size^
-- Number of fragments that a generation answers from, of all their terms, and of those of the shortest.
SELECT count(*) AS lexical_fragments, coalesce(sum(term_count), 0) AS lexical_terms,
       coalesce(min(term_count), 0) AS lexical_shortest
FROM {leaf}
WHERE generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation);

-- name: count_terms!
-- In how many of a generation's fragments each term occurs.
CREATE TEMPORARY TABLE counted_terms ON COMMIT DROP AS
SELECT term, count(*)::integer AS fragment_count
FROM {leaf}, unnest(terms) AS term
WHERE generation_from <= :generation AND (generation_to IS NULL OR generation_to > :generation)
GROUP BY term;

-- name: count_changed_terms!
-- The same from the statistics of the generation before and the rows that differ from it.
CREATE TEMPORARY TABLE counted_terms ON COMMIT DROP AS
WITH changed AS (
    SELECT term, sum(CASE WHEN generation_from = :generation THEN 1 ELSE -1 END) AS difference
    FROM {leaf}, unnest(terms) AS term
    WHERE (generation_from = :generation) <> (generation_to IS NOT DISTINCT FROM :generation)
    GROUP BY term
)
SELECT changed.term, (coalesce(s.fragment_count, 0) + difference)::integer AS fragment_count
FROM changed
LEFT JOIN corpus.term_statistics s ON s.corpus = :corpus AND s.term = changed.term AND s.generation_to IS NULL
WHERE difference <> 0;

-- name: end_term_statistics!
-- Counts that no longer hold; all of them, or those of terms that were counted anew.
UPDATE corpus.term_statistics s
SET generation_to = :generation
WHERE corpus = :corpus AND generation_to IS NULL
  AND (NOT :only_counted OR EXISTS (SELECT FROM pg_temp.counted_terms c WHERE c.term = s.term));

-- name: add_term_statistics!
-- Counts that hold from this generation on.
INSERT INTO corpus.term_statistics (corpus, term, fragment_count, generation_from)
SELECT :corpus, term, fragment_count, :generation FROM pg_temp.counted_terms WHERE fragment_count > 0;

-- name: remove_term_statistics_above!
-- Counts of generations above the published one.
DELETE FROM corpus.term_statistics WHERE corpus = :corpus AND generation_from > :published;

-- name: clear_term_marks_above!
-- Counts ended by generations above the published one hold again.
UPDATE corpus.term_statistics SET generation_to = NULL WHERE corpus = :corpus AND generation_to > :published;

-- name: remove_unneeded_term_statistics!
-- Counts that no kept generation needs.
DELETE FROM corpus.term_statistics
WHERE corpus = :corpus AND generation_from <= :published
  AND NOT EXISTS (
      SELECT FROM unnest(:kept::integer[]) AS kept
      WHERE generation_from <= kept AND (generation_to IS NULL OR generation_to > kept)
  );

-- name: posting_index^
-- The posting lists of a corpus in a serving table.
SELECT index_id, places FROM corpus.posting_indexes WHERE serving_table = :serving_table AND corpus = :corpus;

-- name: add_posting_index$
-- Begins the posting lists of a corpus.
INSERT INTO corpus.posting_indexes (serving_table, corpus, leaf, places, least_mean_terms)
VALUES (:serving_table, :corpus, :leaf, 0, :mean_terms)
RETURNING index_id;

-- name: extend_posting_index!
-- Posting lists that reach up to a place now.
UPDATE corpus.posting_indexes
SET places = :places, least_mean_terms = least(least_mean_terms, :mean_terms)
WHERE index_id = :index_id;

-- name: drop_posting_index!
-- Removes the posting lists of a corpus.
WITH dropped AS (
    DELETE FROM corpus.posting_indexes WHERE serving_table = :serving_table AND corpus = :corpus RETURNING index_id
), places AS (
    DELETE FROM corpus.posting_places WHERE index_id IN (SELECT index_id FROM dropped)
)
DELETE FROM corpus.posting_blocks WHERE index_id IN (SELECT index_id FROM dropped);

-- name: posting_rows^
-- Rows of a leaf, and how many of them have a place.
SELECT count(*) AS total, count(p.place) AS placed
FROM {leaf} AS f
LEFT JOIN corpus.posting_places AS p
    ON p.index_id = :index_id AND p.fragment_id = f.fragment_id AND p.generation_from = f.generation_from;

-- name: place_rows!
-- Gives places to the rows of a leaf that have none; fragments of a document lie beside one another.
INSERT INTO corpus.posting_places (index_id, place, fragment_id, generation_from)
SELECT :index_id, :first + row_number() OVER (ORDER BY f.document_id, f.fragment_id, f.generation_from) - 1,
       f.fragment_id, f.generation_from
FROM {leaf} AS f
WHERE NOT EXISTS (
    SELECT FROM corpus.posting_places AS p
    WHERE p.index_id = :index_id AND p.fragment_id = f.fragment_id AND p.generation_from = f.generation_from);

-- name: posting_terms
-- Terms of the rows that have places from one on.
SELECT p.place, f.term_count, public.sparsevec_send(f.term_levels) AS levels
FROM corpus.posting_places AS p
JOIN {leaf} AS f ON f.fragment_id = p.fragment_id AND f.generation_from = p.generation_from
WHERE p.index_id = :index_id AND p.place >= :first
ORDER BY p.place;

-- name: lexical_statistics^
-- Number of current fragments of a generation, and of all their terms.
SELECT lexical_fragments, lexical_terms FROM corpus.generations WHERE corpus = :corpus AND generation = :generation;

-- name: term_counts
-- In how many current fragments of a generation each term occurs.
SELECT term, fragment_count
FROM corpus.term_statistics
WHERE corpus = :corpus AND term < :buckets AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY term;
