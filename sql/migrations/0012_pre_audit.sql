-- How well documents were converted, and what people said about it.
ALTER TABLE corpus.conversions ADD COLUMN measures jsonb;
COMMENT ON COLUMN corpus.conversions.measures IS 'Figures for the checks; null or of an older version until the next run measures the document.';

CREATE TABLE corpus.conversion_audit_reports (
    report_id text PRIMARY KEY,
    corpus text NOT NULL,
    html_sha256 text NOT NULL,
    converters jsonb NOT NULL,
    files jsonb NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.conversion_audit_reports IS 'What each audit report compared; report_id is the SHA-256 of files, converters and results.';
COMMENT ON COLUMN corpus.conversion_audit_reports.converters IS 'Identity of each converter compared, by name.';
COMMENT ON COLUMN corpus.conversion_audit_reports.files IS 'One entry a file: document id, SHA-256, format, and for each converter its fingerprint and document SHA-256.';

CREATE TABLE corpus.conversion_audits (
    audit_id text PRIMARY KEY,
    report_id text NOT NULL REFERENCES corpus.conversion_audit_reports (report_id),
    html_sha256 text NOT NULL,
    corpus text NOT NULL,
    reviewer text NOT NULL,
    reviewed_on date NOT NULL,
    comment text NOT NULL,
    verdicts jsonb NOT NULL,
    record_sha256 text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    recorded_by text NOT NULL
);
CREATE INDEX conversion_audits_corpus ON corpus.conversion_audits (corpus, recorded_at);
COMMENT ON TABLE corpus.conversion_audits IS 'Signed results of conversion audits; audit_id is the beginning of record_sha256, the hash of the signed result.';
