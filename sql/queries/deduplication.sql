-- name: changed_documents
-- Documents of a corpus that are new or have another text than the last comparison saw; all of them when asked for.
SELECT now.document_id, now.text_sha256
FROM corpus.documents AS now
LEFT JOIN corpus.compared_documents AS before ON before.corpus = now.corpus AND before.document_id = now.document_id
WHERE now.corpus = :corpus AND (:everything OR before.text_sha256 IS DISTINCT FROM now.text_sha256);

-- name: gone_documents
-- Documents of the last comparison that are no longer there.
SELECT before.document_id
FROM corpus.compared_documents AS before
LEFT JOIN corpus.documents AS now ON now.corpus = before.corpus AND now.document_id = before.document_id
WHERE before.corpus = :corpus AND now.document_id IS NULL;

-- name: documents_by_id
-- Some converted documents of a corpus.
SELECT corpus, document_id, relative_path, source_uri, source_sha256, source_extension, size_bytes, modified_at,
       requested_converter, effective_converter, processor_version, converter_fingerprint, document_sha256, text_sha256,
       char_count, page_count, title, language, metadata, metadata_provenance, properties
FROM corpus.documents
WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: comparison_state^
-- What the last comparison of a corpus was made with, and the hash over its result.
SELECT settings_sha256, boilerplate, combination FROM corpus.comparison_states WHERE corpus = :corpus;

-- name: save_comparison_state!
-- Keeps what this comparison was made with.
INSERT INTO corpus.comparison_states (corpus, settings_sha256, boilerplate, combination)
VALUES (:corpus, :settings_sha256, :boilerplate, :combination)
ON CONFLICT (corpus) DO UPDATE SET
    settings_sha256 = excluded.settings_sha256,
    boilerplate = excluded.boilerplate,
    combination = excluded.combination;

-- name: lock_registration!
-- One registration of profiles and signatures at a time, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('corpus_pipeline:deduplication_registration', 0));

-- name: known_words
-- Hash of the words and their number of stored profiles.
SELECT text_sha256, normalised_sha256, word_count
FROM corpus.text_profiles
WHERE normaliser = :normaliser AND text_sha256 = ANY(:text_sha256s);

-- name: text_profiles
-- Stored profiles of these texts.
SELECT text_sha256, normalised_sha256, word_count, line_digests, line_words
FROM corpus.text_profiles
WHERE normaliser = :normaliser AND text_sha256 = ANY(:text_sha256s);

-- name: copy_profiles!
-- Target of the COPY of profiles.
COPY corpus.text_profiles (text_sha256, normaliser, normalised_sha256, word_count, line_digests, line_words)
FROM STDIN (FORMAT BINARY);

-- name: stored_signatures
-- Which of these signatures exist already.
SELECT signature_sha256, signature_id
FROM corpus.document_signatures
WHERE signature_sha256 = ANY(:signature_sha256s);

-- name: claim_signatures!
-- Keeps stored signatures that no document uses at present from being removed while a run needs them.
UPDATE corpus.unused_signatures SET since = now() WHERE signature_id = ANY(:signature_ids);

-- name: next_signature_ids
-- Numbers for new signatures.
SELECT nextval(pg_get_serial_sequence('corpus.document_signatures', 'signature_id')) AS signature_id
FROM generate_series(1, :count);

-- name: copy_signatures!
-- Target of the COPY of signatures.
COPY corpus.document_signatures
    (signature_id, signature_sha256, shingle_count, dense_keys, sparse_keys, band_keys, shingle_keys, shingles)
FROM STDIN (FORMAT BINARY);

-- name: copy_bands!
-- Target of the COPY of band keys.
COPY corpus.lsh_bands (band_key, signature_id) FROM STDIN (FORMAT BINARY);

-- name: copy_containment_keys!
-- Target of the COPY of sampled shingles.
COPY corpus.containment_keys (shingle_key, signature_id) FROM STDIN (FORMAT BINARY);

-- name: insert_unused!
-- Registered signatures are unused until a comparison has ended.
INSERT INTO corpus.unused_signatures (signature_id)
SELECT unnest(:signature_ids::bigint[])
ON CONFLICT DO NOTHING;

-- name: delete_used!
-- Signatures that documents use now.
DELETE FROM corpus.unused_signatures WHERE signature_id = ANY(:signature_ids);

-- name: release_signatures!
-- Notes which of these signatures no document of any corpus uses any more.
INSERT INTO corpus.unused_signatures (signature_id)
SELECT given.signature_id
FROM unnest(:signature_ids::bigint[]) AS given (signature_id)
WHERE NOT EXISTS (
    SELECT FROM corpus.compared_documents AS documents WHERE documents.signature_id = given.signature_id
)
ON CONFLICT DO NOTHING;

-- name: sketches
-- What signatures are found by, in their order.
SELECT signature_id, signature_sha256, shingle_count, dense_keys, sparse_keys, band_keys, shingle_keys
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids)
ORDER BY signature_id;

-- name: sketch_sizes
-- Sizes of shingle sets and samples, and the order of leaders.
SELECT signature_id, signature_sha256, shingle_count, dense_keys, sparse_keys
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids)
ORDER BY signature_id;

-- name: shingle_sets
-- Shingle sets, for exact comparison.
SELECT signature_id, shingles
FROM corpus.document_signatures
WHERE signature_id = ANY(:signature_ids)
ORDER BY signature_id;

-- name: band_members
-- Signatures of a corpus that have one of these band keys.
SELECT bands.band_key AS key, bands.signature_id
FROM unnest(:keys::bigint[]) AS probe (key)
JOIN corpus.lsh_bands AS bands ON bands.band_key = probe.key
JOIN corpus.compared_documents AS documents ON documents.signature_id = bands.signature_id
WHERE documents.corpus = :corpus;

-- name: containment_members
-- Signatures of a corpus that have one of these sampled shingles; a shingle of very many texts is cut off.
SELECT probe.key, found.signature_id
FROM unnest(:keys::bigint[]) AS probe (key)
CROSS JOIN LATERAL (
    SELECT keys.signature_id
    FROM corpus.containment_keys AS keys
    JOIN corpus.compared_documents AS documents ON documents.signature_id = keys.signature_id
    WHERE keys.shingle_key = probe.key AND documents.corpus = :corpus
    LIMIT :most
) AS found;

-- name: compared_by_id
-- Documents as the last comparison saw them.
SELECT document_id, text_sha256, normalised_sha256, signature_id
FROM corpus.compared_documents
WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: compared_by_class
-- Documents with these words, as the last comparison saw them.
SELECT document_id, text_sha256, normalised_sha256, signature_id
FROM corpus.compared_documents
WHERE corpus = :corpus AND normalised_sha256 = ANY(:normalised_sha256s);

-- name: compared_by_signature
-- The documents that these signatures stand for in a corpus.
SELECT document_id, text_sha256, normalised_sha256, signature_id
FROM corpus.compared_documents
WHERE corpus = :corpus AND signature_id = ANY(:signature_ids);

-- name: smallest_classes
-- The first words by hash, with the first text that has them; some left out.
SELECT normalised_sha256, min(text_sha256) AS text_sha256
FROM corpus.compared_documents
WHERE corpus = :corpus AND NOT normalised_sha256 = ANY(:excluded)
GROUP BY normalised_sha256
ORDER BY normalised_sha256
LIMIT :most;

-- name: compared_profiles
-- Texts and lines of the documents that have a signature.
SELECT documents.normalised_sha256, profiles.text_sha256, profiles.word_count, profiles.line_digests, profiles.line_words
FROM corpus.compared_documents AS documents
JOIN corpus.text_profiles AS profiles USING (text_sha256)
WHERE documents.corpus = :corpus AND documents.signature_id IS NOT NULL AND profiles.normaliser = :normaliser;

-- name: delete_compared!
-- Forgets documents that are gone or will be written anew.
DELETE FROM corpus.compared_documents WHERE corpus = :corpus AND document_id = ANY(:document_ids);

-- name: delete_all_compared
-- Forgets all documents of a corpus, whose settings have changed.
DELETE FROM corpus.compared_documents WHERE corpus = :corpus RETURNING signature_id;

-- name: delete_all_edges!
-- Forgets all edges of a corpus, whose settings have changed.
DELETE FROM corpus.duplicate_edges WHERE corpus = :corpus;

-- name: delete_all_members!
-- Forgets all clusters of a corpus, whose settings have changed.
DELETE FROM corpus.duplicate_cluster_members WHERE corpus = :corpus;

-- name: copy_compared!
-- Target of the COPY of compared documents.
COPY corpus.compared_documents (corpus, document_id, text_sha256, normalised_sha256, signature_id) FROM STDIN;

-- name: delete_edges!
-- Removes edges that will be written anew or are no more.
DELETE FROM corpus.duplicate_edges AS edges
USING unnest(:left_ids::text[], :right_ids::text[]) AS given (left_id, right_id)
WHERE edges.corpus = :corpus AND edges.left_id = given.left_id AND edges.right_id = given.right_id;

-- name: copy_edges!
-- Target of the COPY of edges.
COPY corpus.duplicate_edges (corpus, left_id, right_id, kind, jaccard, containment, contained_id) FROM STDIN;

-- name: delete_clusters!
-- Removes clusters that will be written anew or are no more.
DELETE FROM corpus.duplicate_cluster_members WHERE corpus = :corpus AND cluster_id = ANY(:cluster_ids);

-- name: copy_members!
-- Target of the COPY of cluster members.
COPY corpus.duplicate_cluster_members (corpus, cluster_id, document_id, kind, similarity, is_centre) FROM STDIN;

-- name: duplicate_edges
-- Verified pairs of a corpus.
SELECT left_id, right_id, kind, jaccard, containment, contained_id
FROM corpus.duplicate_edges
WHERE corpus = :corpus
ORDER BY left_id COLLATE "C", right_id COLLATE "C";

-- name: edges_of
-- Verified pairs with one of these documents on either side.
SELECT left_id, right_id, kind, jaccard, containment, contained_id
FROM corpus.duplicate_edges
WHERE corpus = :corpus AND left_id = ANY(:document_ids)
UNION
SELECT left_id, right_id, kind, jaccard, containment, contained_id
FROM corpus.duplicate_edges
WHERE corpus = :corpus AND right_id = ANY(:document_ids);

-- name: duplicate_cluster_members
-- Clusters of a corpus, one row a member.
SELECT cluster_id, document_id, kind, similarity, is_centre
FROM corpus.duplicate_cluster_members
WHERE corpus = :corpus
ORDER BY document_id COLLATE "C";

-- name: clusters_of
-- The whole clusters that have one of these documents, one row a member.
SELECT cluster_id, document_id, kind, similarity, is_centre
FROM corpus.duplicate_cluster_members
WHERE corpus = :corpus AND cluster_id IN (
    SELECT cluster_id FROM corpus.duplicate_cluster_members WHERE corpus = :corpus AND document_id = ANY(:document_ids)
)
ORDER BY document_id COLLATE "C";

-- name: duplicate_figures^
-- Documents, edges by kind, and clusters of a corpus in numbers.
SELECT
    (SELECT count(*) FROM corpus.compared_documents WHERE corpus = :corpus) AS documents,
    (SELECT count(signature_id) FROM corpus.compared_documents WHERE corpus = :corpus) AS signatures,
    count(*) FILTER (WHERE kind = 'exact') AS exact_duplicates,
    count(*) FILTER (WHERE kind = 'near') AS near_duplicates,
    count(*) FILTER (WHERE kind = 'contained') AS contained
FROM corpus.duplicate_edges
WHERE corpus = :corpus;

-- name: cluster_sizes
-- How many clusters there are of each size.
SELECT size, count(*) AS clusters
FROM (
    SELECT count(*) AS size FROM corpus.duplicate_cluster_members WHERE corpus = :corpus GROUP BY cluster_id
) AS sizes
GROUP BY size
ORDER BY size;

-- name: lock_cross_corpus!
-- One corpus at a time, so that of two that finish together the later sees the earlier.
SELECT pg_advisory_xact_lock(hashtextextended('corpus_pipeline:cross_corpus_edges', 0));

-- name: other_corpora
-- Corpora that documents may be copies across, and by what they are compared.
SELECT corpus, settings_sha256 FROM corpus.comparison_states WHERE corpus <> :corpus ORDER BY corpus;

-- name: delete_cross_corpus_edges!
-- Removes the edges between these documents of a corpus and others before they are written anew; all when asked for.
DELETE FROM corpus.cross_corpus_edges
WHERE (left_corpus = :corpus AND (:everything OR left_document_id = ANY(:document_ids)))
   OR (right_corpus = :corpus AND (:everything OR right_document_id = ANY(:document_ids)));

-- name: insert_cross_corpus_edges*!
-- Stores edges between corpora.
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

-- name: abandoned_signatures
-- Signatures no document has used for that many days.
SELECT signatures.signature_id, signatures.band_keys, signatures.shingle_keys
FROM corpus.unused_signatures AS unused
JOIN corpus.document_signatures AS signatures USING (signature_id)
WHERE unused.since <= now() - make_interval(days => :days)
    AND NOT EXISTS (
        SELECT FROM corpus.compared_documents AS documents WHERE documents.signature_id = unused.signature_id
    );

-- name: delete_bands!
-- Takes signatures out of the band index.
DELETE FROM corpus.lsh_bands AS bands
USING unnest(:keys::bigint[], :signature_ids::bigint[]) AS given (key, signature_id)
WHERE bands.band_key = given.key AND bands.signature_id = given.signature_id;

-- name: delete_containment_keys!
-- Takes signatures out of the containment index.
DELETE FROM corpus.containment_keys AS keys
USING unnest(:keys::bigint[], :signature_ids::bigint[]) AS given (key, signature_id)
WHERE keys.shingle_key = given.key AND keys.signature_id = given.signature_id;

-- name: delete_signatures!
-- Removes signatures.
DELETE FROM corpus.document_signatures WHERE signature_id = ANY(:signature_ids);
