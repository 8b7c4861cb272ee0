-- Comparison kept from run to run: what was compared, with what, and a sum over its result. Signatures and their indexes
-- are a cache and are computed anew by the next run; edges and clusters stay until it has finished.
DROP TABLE corpus.signature_pairs;
TRUNCATE corpus.lsh_bands, corpus.containment_keys;
DROP TABLE corpus.compared_documents;
DROP TABLE corpus.document_signatures;

CREATE TABLE corpus.document_signatures (
    signature_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    signature_sha256 bytea NOT NULL UNIQUE,
    shingle_count integer NOT NULL,
    dense_keys integer NOT NULL,
    sparse_keys integer NOT NULL,
    band_keys bytea NOT NULL,
    shingle_keys bytea NOT NULL,
    shingles bytea NOT NULL
) WITH (toast_tuple_target = 4080);
ALTER TABLE corpus.document_signatures ALTER COLUMN band_keys SET STORAGE EXTERNAL;
ALTER TABLE corpus.document_signatures ALTER COLUMN shingle_keys SET STORAGE EXTERNAL;
ALTER TABLE corpus.document_signatures ALTER COLUMN shingles SET STORAGE EXTERNAL;
COMMENT ON TABLE corpus.document_signatures IS 'One row for each (text, removed lines, parameters): the keys it is found by and its sorted shingle hashes, 64-bit little-endian.';
COMMENT ON COLUMN corpus.document_signatures.signature_sha256 IS 'Of text, removed lines and parameters; also the order in which leaders of a large bucket are taken.';

CREATE TABLE corpus.unused_signatures (
    signature_id bigint PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.unused_signatures IS 'Signatures that no document uses, since when or since a run last needed them; removed some time later.';

CREATE TABLE corpus.compared_documents (
    corpus text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    text_sha256 text COLLATE "C" NOT NULL,
    normalised_sha256 text COLLATE "C" NOT NULL,
    signature_id bigint REFERENCES corpus.document_signatures,
    PRIMARY KEY (corpus, document_id)
);
CREATE INDEX compared_documents_class ON corpus.compared_documents (corpus, normalised_sha256, text_sha256);
CREATE INDEX compared_documents_signature ON corpus.compared_documents (signature_id) WHERE signature_id IS NOT NULL;
COMMENT ON TABLE corpus.compared_documents IS 'Documents as the last run compared them; signature_id is null for copies of a smaller document_id and for texts shorter than a shingle.';

CREATE TABLE corpus.comparison_states (
    corpus text COLLATE "C" PRIMARY KEY,
    settings_sha256 text NOT NULL,
    boilerplate bytea NOT NULL,
    combination bytea NOT NULL
);
COMMENT ON TABLE corpus.comparison_states IS 'What the last run compared by; boilerplate lines as 64-bit hashes; a homomorphic hash over all edges and clusters.';

CREATE INDEX duplicate_edges_right ON corpus.duplicate_edges (corpus, right_id);
