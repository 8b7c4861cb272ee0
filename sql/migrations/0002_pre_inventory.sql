-- The files of each corpus as last found, what reading them gave, and what became of them.
CREATE TABLE corpus.source_files (
    corpus text NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    relative_path text NOT NULL,
    source_uri text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    modified_at timestamptz,
    extension text NOT NULL,
    declared jsonb NOT NULL,
    declared_by jsonb NOT NULL,
    doubt text NOT NULL,
    PRIMARY KEY (corpus, document_id)
);
COMMENT ON TABLE corpus.source_files IS 'Every file of a corpus as the last inventory found it; sha256 is empty for a file that could not be read.';

CREATE TABLE corpus.source_readings (
    corpus text NOT NULL,
    path text COLLATE "C" NOT NULL,
    change_token text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    declared jsonb NOT NULL,
    problems jsonb NOT NULL,
    PRIMARY KEY (corpus, path)
);
COMMENT ON TABLE corpus.source_readings IS 'Cache: what reading a file or sidecar gave while its change_token was this; may be emptied at any time.';

CREATE TABLE corpus.removal_holds (
    corpus text NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    run_id text NOT NULL,
    held_at timestamptz NOT NULL DEFAULT now(),
    approved_by text,
    approved_at timestamptz,
    PRIMARY KEY (corpus, document_id),
    CHECK ((approved_by IS NULL) = (approved_at IS NULL))
);
COMMENT ON TABLE corpus.removal_holds IS 'Files that a short listing lacked: kept until they reappear or a person approves their removal.';

CREATE TABLE corpus.source_changes (
    change_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    corpus text NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    change text NOT NULL CHECK (change IN ('added', 'changed', 'removed', 'restored')),
    sha256 text NOT NULL,
    previous_sha256 text NOT NULL,
    renamed_from text,
    approved_by text,
    run_id text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.source_changes IS 'What each inventory found added, changed (content or metadata), removed or restored; rows are only added.';
CREATE INDEX source_changes_document ON corpus.source_changes (corpus, document_id, change_id DESC);
