-- Vectors, once for each text and model, shared by all corpora and generations.
CREATE TABLE corpus.embedding_models (
    fingerprint text PRIMARY KEY,
    parts jsonb NOT NULL,
    dimensions integer NOT NULL CHECK (dimensions > 0),
    max_tokens integer NOT NULL CHECK (max_tokens > 0),
    registered_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.embedding_models IS 'What each embedding fingerprint stands for; parts are what it is the hash of.';

CREATE TABLE corpus.embeddings (
    fingerprint text NOT NULL REFERENCES corpus.embedding_models,
    embedded_sha256 text NOT NULL,
    vector public.vector NOT NULL,
    PRIMARY KEY (fingerprint, embedded_sha256)
);
COMMENT ON TABLE corpus.embeddings IS 'Float32 vectors of unit length; a cache: what a generation serves is named by text hash and fingerprint.';
