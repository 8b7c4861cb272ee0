-- Schemas, roles, the chain's state and the gate verdicts.
-- Roles belong to the whole server, so they may exist already.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'corpus_writer') THEN
        CREATE ROLE corpus_writer NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'corpus_reader') THEN
        CREATE ROLE corpus_reader NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'corpus_evaluator') THEN
        CREATE ROLE corpus_evaluator NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made them at the same moment
END
$$;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE SCHEMA corpus;
CREATE SCHEMA serving;
COMMENT ON SCHEMA corpus IS 'Working state of the pipeline; readers have no access.';
COMMENT ON SCHEMA serving IS 'What readers see, under row-level security.';
GRANT USAGE ON SCHEMA corpus TO corpus_writer;
GRANT USAGE ON SCHEMA serving TO corpus_writer, corpus_reader, corpus_evaluator;
ALTER DEFAULT PRIVILEGES IN SCHEMA corpus GRANT ALL ON TABLES TO corpus_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA corpus GRANT ALL ON SEQUENCES TO corpus_writer;

CREATE TABLE corpus.stage_states (
    corpus text NOT NULL,
    stage text NOT NULL,
    input_sha256 text NOT NULL,
    output_sha256 text NOT NULL,
    as_of date NOT NULL,
    run_id text NOT NULL,
    counts jsonb NOT NULL,
    elapsed_seconds double precision NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (corpus, stage)
);
COMMENT ON TABLE corpus.stage_states IS 'Last finished output of each stage; input_sha256 is the output_sha256 of the stage before.';

CREATE TABLE corpus.gate_verdicts (
    verdict_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    corpus text NOT NULL,
    stage text NOT NULL,
    output_sha256 text NOT NULL,
    thresholds_sha256 text NOT NULL,
    passed boolean NOT NULL,
    failures jsonb NOT NULL,
    evaluated_expectations integer NOT NULL,
    run_id text NOT NULL,
    evaluated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.gate_verdicts IS 'What a suite said of one stage output; publication reads the newest for the output it publishes.';
CREATE INDEX gate_verdicts_lookup ON corpus.gate_verdicts (corpus, stage, output_sha256, verdict_id DESC);

CREATE TABLE corpus.published_documents (
    corpus text NOT NULL,
    document_id text NOT NULL,
    text_sha256 text NOT NULL,
    exclusion_reason text,
    superseded_by text,
    generation integer NOT NULL,
    root_sha256 text NOT NULL,
    PRIMARY KEY (corpus, document_id)
);
COMMENT ON TABLE corpus.published_documents IS 'Documents of each published generation, for what other corpora may know of it: written with the pointer.';
