-- Parents and fragments. A document's rows are replaced as a whole, in the transaction of the stage.
CREATE TABLE corpus.chunked_documents (
    document_id text PRIMARY KEY,
    corpus text NOT NULL,
    input_sha256 text NOT NULL,
    content_sha256 text NOT NULL,
    chunker_fingerprint text NOT NULL,
    parent_count integer NOT NULL,
    fragment_count integer NOT NULL,
    token_count bigint NOT NULL,
    max_token_count integer NOT NULL,
    chunked_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.chunked_documents IS 'One row a document that was cut; input_sha256 covers its text, title and the chunker, content_sha256 its rows.';
CREATE INDEX chunked_documents_corpus ON corpus.chunked_documents (corpus);

CREATE TABLE corpus.parents (
    parent_id text PRIMARY KEY,
    corpus text NOT NULL,
    document_id text NOT NULL REFERENCES corpus.chunked_documents ON DELETE CASCADE,
    ordinal integer NOT NULL,
    section_path text[] NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    token_count integer NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    page_number integer,
    UNIQUE (document_id, ordinal)
);
COMMENT ON TABLE corpus.parents IS 'Sections that can be read alone; they tile the converted text.';
CREATE INDEX parents_corpus ON corpus.parents (corpus);

CREATE TABLE corpus.fragments (
    fragment_id text PRIMARY KEY,
    parent_id text NOT NULL REFERENCES corpus.parents ON DELETE CASCADE,
    corpus text NOT NULL,
    document_id text NOT NULL,
    ordinal integer NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    embedded_text text NOT NULL,
    embedded_sha256 text NOT NULL,
    token_count integer NOT NULL,
    section_path text[] NOT NULL,
    page_number integer,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    UNIQUE (document_id, ordinal)
);
COMMENT ON TABLE corpus.fragments IS 'What is matched; token_count is of embedded_text by the embedding model''s own tokenizer.';
CREATE INDEX fragments_embedded ON corpus.fragments (corpus, embedded_sha256);
CREATE INDEX fragments_parent ON corpus.fragments (parent_id);
