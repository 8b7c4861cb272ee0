-- Versions: cached evidence, decisions with their history, relations, conflicts.
CREATE TABLE corpus.version_evidence (
    document_sha256 text NOT NULL,
    extractor_version text NOT NULL,
    evidence jsonb NOT NULL,
    PRIMARY KEY (document_sha256, extractor_version)
);
COMMENT ON TABLE corpus.version_evidence IS 'What a converted document says about versions; depends on its content and the extractor alone.';

CREATE TABLE corpus.document_versions (
    corpus text NOT NULL,
    document_id text NOT NULL,
    family text NOT NULL,
    version text,
    lifecycle text NOT NULL,
    valid_from date,
    valid_until date,
    superseded_by text,
    current_document_id text NOT NULL,
    duplicate_of text,
    is_canonical boolean NOT NULL,
    is_current boolean NOT NULL,
    serving_state text NOT NULL,
    exclusion_reason text,
    exclusion_ref text,
    evidence text NOT NULL,
    needs_review boolean NOT NULL,
    decision_sha256 text NOT NULL,
    PRIMARY KEY (corpus, document_id)
);
COMMENT ON COLUMN corpus.document_versions.current_document_id IS 'End of the chain of successors; the document itself when nothing replaced it.';
CREATE INDEX document_versions_family ON corpus.document_versions (corpus, family);

CREATE TABLE corpus.document_version_history (
    corpus text NOT NULL,
    document_id text NOT NULL,
    known_from date NOT NULL,
    known_until date,
    decision_sha256 text NOT NULL,
    decision jsonb NOT NULL,
    PRIMARY KEY (corpus, document_id, known_from),
    CHECK (known_until IS NULL OR known_until > known_from)
);
COMMENT ON TABLE corpus.document_version_history IS 'Decisions as they were known on [known_from, known_until); a row is added only when a decision changes.';
CREATE INDEX document_version_history_open ON corpus.document_version_history (corpus) WHERE known_until IS NULL;

CREATE TABLE corpus.version_relations (
    corpus text NOT NULL,
    ordinal integer NOT NULL,
    source_id text,
    target_id text,
    source_reference text NOT NULL,
    target_reference text NOT NULL,
    relation text NOT NULL,
    rule text NOT NULL,
    evidence text NOT NULL,
    confidence double precision NOT NULL,
    applied boolean NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (corpus, ordinal)
);

CREATE TABLE corpus.version_conflicts (
    corpus text NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    documents text[] NOT NULL,
    message text NOT NULL,
    suggestion text NOT NULL,
    resolved boolean NOT NULL,
    PRIMARY KEY (corpus, ordinal)
);
COMMENT ON COLUMN corpus.version_conflicts.suggestion IS 'A line for corpora.yaml that would settle the conflict.';
