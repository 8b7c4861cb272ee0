-- What other corpora may know of a corpus moves with its pointer: documents are kept by the generations that have
-- them, so that a rollback need not write them again.
ALTER TABLE corpus.published_documents
    ADD COLUMN generation_from integer,
    ADD COLUMN generation_to integer;
UPDATE corpus.published_documents SET generation_from = generation;

CREATE TABLE corpus.published_roots (
    corpus text PRIMARY KEY,
    generation integer NOT NULL,
    root_sha256 text NOT NULL,
    known_from integer NOT NULL
);
COMMENT ON TABLE corpus.published_roots IS 'The generation of a corpus that others may know: moved in the transaction that moves the pointer.';
COMMENT ON COLUMN corpus.published_roots.known_from IS 'Documents are kept for the published generations from this one on.';
INSERT INTO corpus.published_roots
SELECT DISTINCT ON (corpus) corpus, generation, root_sha256, generation FROM corpus.published_documents ORDER BY corpus, generation DESC;

ALTER TABLE corpus.published_documents
    DROP CONSTRAINT published_documents_pkey,
    DROP COLUMN generation,
    DROP COLUMN root_sha256,
    ALTER COLUMN generation_from SET NOT NULL,
    ADD PRIMARY KEY (corpus, document_id, generation_from);
COMMENT ON TABLE corpus.published_documents IS
    'Documents of published generations, for what other corpora may know: a row for the generations from generation_from up to, not including, generation_to.';
