-- Purged documents: receipts without text, and files that are not taken in again.
CREATE TABLE corpus.purges (
    purge_id text PRIMARY KEY,
    reason text NOT NULL,
    purged_by text NOT NULL,
    purged_at timestamptz NOT NULL DEFAULT now(),
    receipt jsonb NOT NULL
);
COMMENT ON TABLE corpus.purges IS
    'What was removed for good, when, by whom and why. A receipt has numbers and hashes only; a row is never changed.';
COMMENT ON COLUMN corpus.purges.purge_id IS 'The beginning of the SHA-256 of the receipt.';

CREATE TABLE corpus.purged_files (
    file_sha256 text PRIMARY KEY,
    purge_id text NOT NULL REFERENCES corpus.purges
);
COMMENT ON TABLE corpus.purged_files IS 'Files that the inventory leaves out, wherever they turn up.';

ALTER TABLE corpus.publication_log
    DROP CONSTRAINT publication_log_action_check,
    ADD CONSTRAINT publication_log_action_check CHECK (action IN ('publish', 'rollback', 'resume', 'repair', 'purge'));
COMMENT ON TABLE corpus.publication_log IS
    'Every move of the pointer, every lifted hold, and every change to the rows of a published generation.';
