-- A route depends on the options that matter for its format, and holds the limits that its conversion kept.
ALTER TABLE corpus.conversion_routes
    ADD COLUMN options_sha256 text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN limits jsonb NOT NULL DEFAULT '{}'::jsonb,
    DROP CONSTRAINT conversion_routes_pkey,
    ADD PRIMARY KEY (source_sha256, policy_sha256, options_sha256);
COMMENT ON TABLE corpus.conversion_routes IS 'Which conversion a policy led to for a content, by the options of its format; tried holds [converter, identity] in order, the last one succeeded; limits are the strictest ones kept.';
