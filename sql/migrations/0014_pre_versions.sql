-- Versions: two axes of time in the history, and the facts of periodic editions.
ALTER TABLE corpus.document_versions
    ADD COLUMN series_key text,
    ADD COLUMN period_label text,
    ADD COLUMN period_end date,
    ADD COLUMN is_latest boolean,
    ADD COLUMN organisation text;
COMMENT ON COLUMN corpus.document_versions.series_key IS 'Series of periodic editions that the document belongs to; NULL outside of one.';
COMMENT ON COLUMN corpus.document_versions.period_label IS 'Period as metadata or the name declare it, such as 2023-Q1.';
COMMENT ON COLUMN corpus.document_versions.period_end IS 'Last day of the period, as the text states it.';
COMMENT ON COLUMN corpus.document_versions.is_latest IS 'The newest edition of its series; NULL outside of a series and where the order is open.';
COMMENT ON COLUMN corpus.document_versions.organisation IS 'Who issued the document, as metadata or its text state it.';

-- The day decided for becomes an axis of its own beside the time at which the database knew of it.
DROP INDEX corpus.document_version_history_open;
ALTER TABLE corpus.document_version_history DROP CONSTRAINT document_version_history_pkey;
ALTER TABLE corpus.document_version_history RENAME COLUMN known_from TO decided_from;
ALTER TABLE corpus.document_version_history RENAME COLUMN known_until TO decided_until;
ALTER TABLE corpus.document_version_history ADD COLUMN known_from timestamptz, ADD COLUMN known_until timestamptz;
-- Until a decision ended it was known without an end; since then it is known with one.
INSERT INTO corpus.document_version_history
    (corpus, document_id, decided_from, decided_until, known_from, known_until, decision_sha256, decision)
SELECT corpus, document_id, decided_from, NULL, decided_from::timestamp AT TIME ZONE 'UTC',
       decided_until::timestamp AT TIME ZONE 'UTC', decision_sha256, decision
FROM corpus.document_version_history
WHERE decided_until IS NOT NULL;
UPDATE corpus.document_version_history
SET known_from = coalesce(decided_until, decided_from)::timestamp AT TIME ZONE 'UTC'
WHERE known_from IS NULL;
ALTER TABLE corpus.document_version_history
    ALTER COLUMN known_from SET NOT NULL,
    ADD CONSTRAINT document_version_history_pkey PRIMARY KEY (corpus, document_id, decided_from, known_from),
    ADD CONSTRAINT document_version_history_known CHECK (known_until IS NULL OR known_until > known_from);
COMMENT ON TABLE corpus.document_version_history IS 'Decisions that hold for the days [decided_from, decided_until), as the database knew them during [known_from, known_until); rows are added only where a decision changes.';
CREATE INDEX document_version_history_open ON corpus.document_version_history (corpus)
    WHERE known_until IS NULL AND decided_until IS NULL;
