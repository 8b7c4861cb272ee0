-- name: text_profiles
-- Stored profiles of these texts.
SELECT text_sha256, normalised_sha256, word_count, line_digests, line_words
FROM corpus.text_profiles
WHERE normaliser = :normaliser AND text_sha256 = ANY(:text_sha256s);

-- name: insert_profiles*!
-- Stores profiles; another run may have stored the same ones.
INSERT INTO corpus.text_profiles (text_sha256, normaliser, normalised_sha256, word_count, line_digests, line_words)
VALUES (:text_sha256, :normaliser, :normalised_sha256, :word_count, :line_digests, :line_words)
ON CONFLICT DO NOTHING;

-- name: stored_signatures
-- Which of these signatures exist already.
SELECT signature_sha256, signature_id
FROM corpus.document_signatures
WHERE signature_sha256 = ANY(:signature_sha256s);

-- name: claim_signatures!
-- Keeps stored signatures that no document uses at present from being removed while a run needs them.
UPDATE corpus.document_signatures AS signatures
SET claimed_at = now()
WHERE signature_id = ANY(:signature_ids) AND claimed_at < now() - interval '1 day'
    AND NOT EXISTS (
        SELECT FROM corpus.compared_documents AS documents WHERE documents.signature_id = signatures.signature_id
    );

-- name: insert_signatures
-- Registers signatures; those another run registered meanwhile are left out of the answer.
INSERT INTO corpus.document_signatures
    (signature_sha256, parameters_sha256, text_sha256, shingle_count, dense_keys, sparse_keys, signature, shingles)
SELECT signature_sha256, :parameters_sha256, text_sha256, shingle_count, dense_keys, sparse_keys, signature, shingles
FROM unnest(
    :signature_sha256s::text[], :text_sha256s::text[], :shingle_counts::integer[], :dense_keys::integer[],
    :sparse_keys::integer[], :signatures::bytea[], :shingles::bytea[]
) AS given (signature_sha256, text_sha256, shingle_count, dense_keys, sparse_keys, signature, shingles)
ON CONFLICT (signature_sha256) DO NOTHING
RETURNING signature_id, signature_sha256;

-- name: copy_bands!
-- Target of the COPY of band keys.
COPY corpus.lsh_bands (band_key, signature_id) FROM STDIN (FORMAT BINARY);

-- name: copy_containment_keys!
-- Target of the COPY of sampled shingles.
COPY corpus.containment_keys (shingle_key, signature_id) FROM STDIN (FORMAT BINARY);

-- name: unsearched_sizes
-- Signatures among these whose candidates were never searched.
SELECT signature_id, shingle_count
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids) AND NOT candidates_searched;

-- name: unsearched_signatures
-- Signatures with what their candidates are searched by, in the order they were registered.
SELECT signature_id, signature, shingles
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids)
ORDER BY signature_id;

-- name: band_candidates
-- Signatures that agree with a given one in at least one band.
SELECT DISTINCT probe.signature_id AS searched, bands.signature_id AS found
FROM unnest(:band_keys::bigint[], :signature_ids::bigint[]) AS probe (band_key, signature_id)
JOIN corpus.lsh_bands AS bands ON bands.band_key = probe.band_key
WHERE bands.signature_id <> probe.signature_id;

-- name: containment_candidates
-- Signatures that share sampled shingles with a given one, and how many.
SELECT probe.signature_id AS searched, keys.signature_id AS found, count(*) AS shared
FROM unnest(:shingle_keys::bigint[], :signature_ids::bigint[]) AS probe (shingle_key, signature_id)
JOIN corpus.containment_keys AS keys ON keys.shingle_key = probe.shingle_key
WHERE keys.signature_id <> probe.signature_id
GROUP BY probe.signature_id, keys.signature_id;

-- name: signature_sizes
-- Sizes of shingle sets and samples.
SELECT signature_id, shingle_count, dense_keys, sparse_keys
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids);

-- name: shingle_sets
-- Shingle sets, for exact comparison.
SELECT signature_id, shingles
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids)
ORDER BY signature_id;

-- name: insert_pairs!
-- Stores verified pairs.
INSERT INTO corpus.signature_pairs (left_signature, right_signature, shared_shingles)
SELECT * FROM unnest(:lefts::bigint[], :rights::bigint[], :shared::integer[])
ON CONFLICT DO NOTHING;

-- name: mark_searched!
-- All pairs of these signatures are stored.
UPDATE corpus.document_signatures SET candidates_searched = true WHERE signature_id = ANY(:signature_ids);

-- name: pairs_within
-- Verified pairs with both sides among these signatures.
SELECT pairs.left_signature, pairs.right_signature, pairs.shared_shingles,
    l.shingle_count AS left_shingles, r.shingle_count AS right_shingles
FROM unnest(:signature_ids::bigint[]) AS mine (signature_id)
JOIN corpus.signature_pairs AS pairs ON pairs.left_signature = mine.signature_id
JOIN unnest(:signature_ids::bigint[]) AS other (signature_id) ON other.signature_id = pairs.right_signature
JOIN corpus.document_signatures AS l ON l.signature_id = pairs.left_signature
JOIN corpus.document_signatures AS r ON r.signature_id = pairs.right_signature
ORDER BY pairs.left_signature, pairs.right_signature;

-- name: compared_documents
-- The documents of a corpus as the last run compared them.
SELECT document_id, text_sha256, normalised_sha256, signature_id
FROM corpus.compared_documents
WHERE corpus = :corpus
ORDER BY document_id;

-- name: delete_compared!
-- Forgets documents that are gone or will be written anew.
DELETE FROM corpus.compared_documents WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: copy_compared!
-- Target of the COPY of compared documents.
COPY corpus.compared_documents (corpus, document_id, text_sha256, normalised_sha256, signature_id) FROM STDIN;

-- name: delete_edges!
-- Clears the edges of a corpus before they are written anew.
DELETE FROM corpus.duplicate_edges WHERE corpus = :corpus;

-- name: copy_edges!
-- Target of the COPY of edges.
COPY corpus.duplicate_edges (corpus, left_id, right_id, kind, jaccard, containment, contained_id) FROM STDIN;

-- name: delete_members!
-- Clears the clusters of a corpus before they are written anew.
DELETE FROM corpus.duplicate_cluster_members WHERE corpus = :corpus;

-- name: copy_members!
-- Target of the COPY of cluster members.
COPY corpus.duplicate_cluster_members (corpus, cluster_id, document_id, kind, similarity, is_centre) FROM STDIN;

-- name: delete_cross_corpus_edges!
-- Clears the edges between a corpus and others before they are written anew.
DELETE FROM corpus.cross_corpus_edges WHERE left_corpus = :corpus OR right_corpus = :corpus;

-- name: insert_exact_cross_corpus_edges!
-- Documents with the same words in a corpus and another, each side represented by its smallest document_id.
WITH mine AS (
    SELECT normalised_sha256, min(document_id COLLATE "C") AS document_id
    FROM corpus.compared_documents WHERE corpus = :corpus GROUP BY normalised_sha256
), theirs AS (
    SELECT other.corpus, other.normalised_sha256, min(other.document_id COLLATE "C") AS document_id
    FROM corpus.compared_documents AS other JOIN mine USING (normalised_sha256)
    WHERE other.corpus <> :corpus
    GROUP BY other.corpus, other.normalised_sha256
)
INSERT INTO corpus.cross_corpus_edges
    (left_corpus, left_document_id, right_corpus, right_document_id, kind, jaccard, containment)
SELECT
    least(:corpus::text COLLATE "C", theirs.corpus COLLATE "C"),
    CASE WHEN :corpus::text COLLATE "C" < theirs.corpus COLLATE "C" THEN mine.document_id ELSE theirs.document_id END,
    greatest(:corpus::text COLLATE "C", theirs.corpus COLLATE "C"),
    CASE WHEN :corpus::text COLLATE "C" < theirs.corpus COLLATE "C" THEN theirs.document_id ELSE mine.document_id END,
    'exact', 1, 1
FROM mine JOIN theirs USING (normalised_sha256)
ON CONFLICT DO NOTHING;

-- name: cross_corpus_pairs
-- Verified pairs between a document of a corpus and one of another.
SELECT mine.document_id, other.corpus AS other_corpus, other.document_id AS other_document_id,
    pairs.shared_shingles, l.shingle_count AS left_shingles, r.shingle_count AS right_shingles
FROM corpus.compared_documents AS mine
JOIN LATERAL (
    SELECT right_signature AS other_signature, left_signature, right_signature, shared_shingles
    FROM corpus.signature_pairs WHERE left_signature = mine.signature_id
    UNION ALL
    SELECT left_signature, left_signature, right_signature, shared_shingles
    FROM corpus.signature_pairs WHERE right_signature = mine.signature_id
) AS pairs ON true
JOIN corpus.compared_documents AS other ON other.signature_id = pairs.other_signature AND other.corpus <> :corpus
JOIN corpus.document_signatures AS l ON l.signature_id = pairs.left_signature
JOIN corpus.document_signatures AS r ON r.signature_id = pairs.right_signature
WHERE mine.corpus = :corpus AND mine.normalised_sha256 <> other.normalised_sha256
ORDER BY mine.document_id, other.corpus, other.document_id;

-- name: insert_cross_corpus_edges*!
-- Stores near-duplicates and containments between corpora.
INSERT INTO corpus.cross_corpus_edges
    (left_corpus, left_document_id, right_corpus, right_document_id, kind, jaccard, containment)
VALUES (:left_corpus, :left_document_id, :right_corpus, :right_document_id, :kind, :jaccard, :containment)
ON CONFLICT DO NOTHING;

-- name: cross_corpus_edges
-- Edges between a corpus and others.
SELECT left_corpus, left_document_id, right_corpus, right_document_id, kind, jaccard, containment
FROM corpus.cross_corpus_edges
WHERE left_corpus = :corpus OR right_corpus = :corpus
ORDER BY left_corpus, left_document_id, right_corpus, right_document_id;

-- name: count_cross_corpus_edges$
-- How many edges a corpus has to others.
SELECT count(*) FROM corpus.cross_corpus_edges WHERE left_corpus = :corpus OR right_corpus = :corpus;

-- name: duplicate_edges
-- Verified pairs of a corpus.
SELECT left_id, right_id, kind, jaccard, containment, contained_id
FROM corpus.duplicate_edges
WHERE corpus = :corpus
ORDER BY left_id COLLATE "C", right_id COLLATE "C";

-- name: duplicate_cluster_members
-- Clusters of a corpus, one row a member.
SELECT cluster_id, document_id, kind, similarity, is_centre
FROM corpus.duplicate_cluster_members
WHERE corpus = :corpus
ORDER BY document_id COLLATE "C";

-- name: abandoned_signatures
-- Signatures no document has used for that many days.
SELECT signature_id
FROM corpus.document_signatures AS signatures
WHERE claimed_at < now() - make_interval(days => :days)
    AND NOT EXISTS (
        SELECT FROM corpus.compared_documents AS documents WHERE documents.signature_id = signatures.signature_id
    );

-- name: delete_bands!
-- Takes signatures out of the band index.
DELETE FROM corpus.lsh_bands WHERE signature_id = ANY(:signature_ids);

-- name: delete_containment_keys!
-- Takes signatures out of the containment index.
DELETE FROM corpus.containment_keys WHERE signature_id = ANY(:signature_ids);

-- name: delete_signatures!
-- Removes signatures and their pairs.
DELETE FROM corpus.document_signatures WHERE signature_id = ANY(:signature_ids);
