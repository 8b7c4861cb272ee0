-- Golden queries against generations: figures, and what became of each query.
CREATE TABLE corpus.evaluations (
    corpus text NOT NULL,
    generation integer NOT NULL,
    is_staged boolean NOT NULL,
    inputs_sha256 text NOT NULL,
    output_sha256 text NOT NULL,
    root_sha256 text NOT NULL,
    golden_sha256 text NOT NULL,
    as_of date NOT NULL,
    metrics jsonb NOT NULL,
    evaluated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (corpus, generation)
);
COMMENT ON TABLE corpus.evaluations IS 'Last evaluation of each generation; metrics holds overall, domains and categories.';

CREATE TABLE corpus.evaluation_queries (
    corpus text NOT NULL,
    generation integer NOT NULL,
    query_id text NOT NULL,
    query text NOT NULL,
    domain text NOT NULL,
    category text NOT NULL,
    should_match boolean NOT NULL,
    passed boolean NOT NULL,
    expected text[] NOT NULL,
    accepted jsonb NOT NULL,
    forbidden_hits text[] NOT NULL,
    stale_hits text[] NOT NULL,
    misses jsonb NOT NULL,
    best_score double precision,
    reason text NOT NULL,
    PRIMARY KEY (corpus, generation, query_id),
    FOREIGN KEY (corpus, generation) REFERENCES corpus.evaluations (corpus, generation) ON DELETE CASCADE
);
COMMENT ON TABLE corpus.evaluation_queries IS 'One golden query against one generation; expected and hits are document ids.';
