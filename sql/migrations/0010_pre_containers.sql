-- Archives and mails as containers of documents: what they held when they were opened, and whose members files are.
ALTER TABLE corpus.source_files ADD COLUMN container text NOT NULL DEFAULT '';
ALTER TABLE corpus.source_files ADD COLUMN refusal text NOT NULL DEFAULT '';
ALTER TABLE corpus.source_readings ADD COLUMN may_be_container boolean NOT NULL DEFAULT false;

CREATE TABLE corpus.container_readings (
    corpus text NOT NULL,
    path text COLLATE "C" NOT NULL,
    sha256 text NOT NULL,
    opened_with text NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    members jsonb NOT NULL,
    PRIMARY KEY (corpus, path)
);
COMMENT ON TABLE corpus.container_readings IS 'Cache: what a container held while its bytes and the limits were these; may be emptied at any time.';
