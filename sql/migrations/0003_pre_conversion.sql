-- Structured documents by content, how files were routed, the documents of each corpus, quarantine.
CREATE TABLE corpus.conversions (
    source_sha256 text COLLATE "C" NOT NULL,
    converter_fingerprint text COLLATE "C" NOT NULL,
    effective_converter text NOT NULL,
    document_sha256 text NOT NULL,
    text_sha256 text NOT NULL,
    char_count bigint NOT NULL,
    page_count integer,
    title text,
    language text,
    properties jsonb NOT NULL,
    content bytea NOT NULL,
    elapsed_seconds double precision NOT NULL,
    converted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source_sha256, converter_fingerprint)
);
ALTER TABLE corpus.conversions ALTER COLUMN content SET STORAGE EXTERNAL;
COMMENT ON TABLE corpus.conversions IS 'Cache of structured documents, shared by all corpora; content is zlib-compressed canonical JSON.';

CREATE TABLE corpus.conversion_routes (
    source_sha256 text COLLATE "C" NOT NULL,
    policy_sha256 text COLLATE "C" NOT NULL,
    file_format text NOT NULL,
    tried jsonb NOT NULL,
    converter_fingerprint text NOT NULL,
    PRIMARY KEY (source_sha256, policy_sha256)
);
COMMENT ON TABLE corpus.conversion_routes IS 'Which conversion a policy led to for a content; tried holds [converter, identity] in order, the last one succeeded.';

CREATE TABLE corpus.documents (
    corpus text NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    relative_path text NOT NULL,
    source_uri text NOT NULL,
    source_sha256 text NOT NULL,
    source_extension text NOT NULL,
    size_bytes bigint NOT NULL,
    modified_at timestamptz,
    requested_converter text NOT NULL,
    effective_converter text NOT NULL,
    processor_version text NOT NULL,
    converter_fingerprint text NOT NULL,
    document_sha256 text NOT NULL,
    text_sha256 text NOT NULL,
    char_count bigint NOT NULL,
    page_count integer,
    title text,
    language text,
    metadata jsonb NOT NULL,
    metadata_provenance jsonb NOT NULL,
    properties jsonb NOT NULL,
    PRIMARY KEY (corpus, document_id)
);
COMMENT ON TABLE corpus.documents IS 'The converted documents of each corpus with their merged metadata.';

CREATE TABLE corpus.quarantine (
    corpus text NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    source_uri text NOT NULL,
    source_sha256 text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    requested_converter text NOT NULL,
    policy_sha256 text NOT NULL,
    limits_sha256 text NOT NULL,
    tried jsonb NOT NULL,
    attempts integer NOT NULL,
    first_failed_at timestamptz NOT NULL,
    last_failed_at timestamptz NOT NULL,
    replay_requested boolean NOT NULL DEFAULT false,
    PRIMARY KEY (corpus, document_id)
);
COMMENT ON TABLE corpus.quarantine IS 'Files without a converted document and why; tried again when file, policy, limits or converter change, or when replay is requested.';
