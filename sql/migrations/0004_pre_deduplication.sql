-- Profiles, signatures and verified pairs by content; edges and clusters by corpus.
CREATE TABLE corpus.text_profiles (
    text_sha256 text NOT NULL,
    normaliser text NOT NULL,
    normalised_sha256 text NOT NULL,
    word_count integer NOT NULL,
    line_digests bytea NOT NULL,
    line_words bytea NOT NULL,
    PRIMARY KEY (text_sha256, normaliser)
);
COMMENT ON TABLE corpus.text_profiles IS 'What a converted text is compared by exactly, and its lines as little-endian 64-bit hashes with their words (32-bit).';

CREATE TABLE corpus.document_signatures (
    signature_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    signature_sha256 text NOT NULL UNIQUE,
    parameters_sha256 text NOT NULL,
    text_sha256 text NOT NULL,
    shingle_count integer NOT NULL,
    dense_keys integer NOT NULL,
    sparse_keys integer NOT NULL,
    signature bytea NOT NULL,
    shingles bytea NOT NULL,
    candidates_searched boolean NOT NULL DEFAULT false,
    claimed_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE corpus.document_signatures ALTER COLUMN signature SET STORAGE EXTERNAL;
ALTER TABLE corpus.document_signatures ALTER COLUMN shingles SET STORAGE EXTERNAL;
COMMENT ON TABLE corpus.document_signatures IS 'One row for each (text, removed lines, parameters): MinHash values (32-bit) and sorted shingle hashes (64-bit), little-endian.';
COMMENT ON COLUMN corpus.document_signatures.claimed_at IS 'When a run last needed it while no document used it; unused signatures are removed some time later.';
COMMENT ON COLUMN corpus.document_signatures.candidates_searched IS 'Its pairs with everything registered before it are in signature_pairs.';

CREATE TABLE corpus.lsh_bands (
    band_key bigint NOT NULL,
    signature_id bigint NOT NULL,
    PRIMARY KEY (band_key, signature_id)
);
COMMENT ON TABLE corpus.lsh_bands IS 'Index of signatures by the hash of each LSH band; the hash includes band number and parameters.';

CREATE TABLE corpus.containment_keys (
    shingle_key bigint NOT NULL,
    signature_id bigint NOT NULL,
    PRIMARY KEY (shingle_key, signature_id)
);
COMMENT ON TABLE corpus.containment_keys IS 'Index of signatures by a sample of their shingles, to find texts contained in others.';

CREATE TABLE corpus.signature_pairs (
    left_signature bigint NOT NULL REFERENCES corpus.document_signatures ON DELETE CASCADE,
    right_signature bigint NOT NULL REFERENCES corpus.document_signatures ON DELETE CASCADE,
    shared_shingles integer NOT NULL,
    PRIMARY KEY (left_signature, right_signature),
    CHECK (left_signature < right_signature)
);
CREATE INDEX signature_pairs_right ON corpus.signature_pairs (right_signature);
COMMENT ON TABLE corpus.signature_pairs IS 'Pairs at or above a threshold of their parameters, verified by counting shared shingles.';

CREATE TABLE corpus.compared_documents (
    corpus text NOT NULL,
    document_id text NOT NULL,
    text_sha256 text NOT NULL,
    normalised_sha256 text NOT NULL,
    signature_id bigint REFERENCES corpus.document_signatures,
    PRIMARY KEY (corpus, document_id)
);
CREATE INDEX compared_documents_normalised ON corpus.compared_documents (normalised_sha256);
CREATE INDEX compared_documents_signature ON corpus.compared_documents (signature_id);
COMMENT ON TABLE corpus.compared_documents IS 'Documents as the last run compared them; signature_id is null for copies of a smaller document_id and for texts shorter than a shingle.';

CREATE TABLE corpus.duplicate_edges (
    corpus text NOT NULL,
    left_id text NOT NULL,
    right_id text NOT NULL,
    kind text NOT NULL,
    jaccard double precision NOT NULL,
    containment double precision NOT NULL,
    contained_id text NOT NULL,
    PRIMARY KEY (corpus, left_id, right_id)
);
COMMENT ON TABLE corpus.duplicate_edges IS 'Verified pairs within a corpus; equal documents are represented by the smallest document_id.';

CREATE TABLE corpus.duplicate_cluster_members (
    corpus text NOT NULL,
    cluster_id text NOT NULL,
    document_id text NOT NULL,
    kind text NOT NULL,
    similarity double precision NOT NULL,
    is_centre boolean NOT NULL,
    PRIMARY KEY (corpus, document_id)
);
CREATE INDEX duplicate_cluster_members_cluster ON corpus.duplicate_cluster_members (corpus, cluster_id);
COMMENT ON TABLE corpus.duplicate_cluster_members IS 'Clusters of at least two documents; similarity is the exact Jaccard to the centre, kind that of the cluster.';

CREATE TABLE corpus.cross_corpus_edges (
    left_corpus text NOT NULL,
    left_document_id text NOT NULL,
    right_corpus text NOT NULL,
    right_document_id text NOT NULL,
    kind text NOT NULL,
    jaccard double precision NOT NULL,
    containment double precision NOT NULL,
    PRIMARY KEY (left_corpus, left_document_id, right_corpus, right_document_id),
    CHECK (left_corpus COLLATE "C" < right_corpus COLLATE "C")
);
CREATE INDEX cross_corpus_edges_right ON corpus.cross_corpus_edges (right_corpus, right_document_id);
COMMENT ON TABLE corpus.cross_corpus_edges IS 'Verified pairs between corpora, for collapsing copies at query time; never used to suppress a document.';
