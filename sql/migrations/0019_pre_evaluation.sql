-- What an evaluation observed beyond its figures, and how it compares with the published generation.
ALTER TABLE corpus.evaluations
    ADD COLUMN search_sha256 text NOT NULL DEFAULT '',
    ADD COLUMN comparison jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN corpus.evaluations.search_sha256 IS 'Digest of the golden queries, the search configuration and the day; only equal ones are compared.';
COMMENT ON COLUMN corpus.evaluations.comparison IS 'Paired comparison with the generation that was published then; empty when there was none.';

ALTER TABLE corpus.evaluation_queries
    ADD COLUMN ranked text[] NOT NULL DEFAULT '{}',
    ADD COLUMN authorisation_hits text[] NOT NULL DEFAULT '{}',
    ADD COLUMN observed jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN corpus.evaluation_queries.ranked IS 'Document ids in order of their best candidate, accepted or not, at most 50.';
