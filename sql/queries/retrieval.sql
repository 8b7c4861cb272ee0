-- name: counted_rows
-- About how many rows each of some tables has, as far as they were ever counted (-1 when they were not).
SELECT t.name, (SELECT c.reltuples FROM pg_class c WHERE c.oid = to_regclass(t.name)) AS rows
FROM unnest(:names::text[]) AS t (name);

-- name: nearest_fragments
-- Fragments of one corpus nearest to a vector among those the session may see (row-level security
-- adds generation, groups and state), with every filter applied before ranking. {table} is a serving table.
-- A sum is in no order of the vector index, so that the search is exact; the graph has nearest_by_graph.
-- Whole rows are looked up for the nearest alone: exact search sorts thousands, and would copy each of them.
WITH nearest AS MATERIALIZED (
    SELECT fragment_id, generation_from, embedding <=> :vector AS distance
    FROM {table} AS f
    WHERE corpus = :corpus
      AND serving_state = 'current'
      AND answer_use <> 'never'
      AND (valid_from IS NULL OR valid_from <= :as_of)
      AND (valid_until IS NULL OR valid_until >= :as_of)
      AND serving.passes_filters(:filters, {product_key}, {domain_key}, {audience_key}, {source_class_key},
                                 {region_key}, {environment_key}, plan_tiers, answer_use, attributes)
      AND (NOT f.is_boilerplate OR current_setting('corpus.show_boilerplate', true) IN ('on', 'true', '1'))
    ORDER BY (embedding <=> :vector) + 0
    LIMIT :fetch_limit
)
SELECT {columns}, distance
FROM nearest
JOIN {table} AS f USING (fragment_id, generation_from)
WHERE f.corpus = :corpus AND f.serving_state = 'current'
ORDER BY distance, fragment_id;

-- name: nearest_by_graph
-- As nearest_fragments, by the graph or by the index of a filter that leaves few rows. All but the vector stands in the text: so
-- it is planned once a connection and not for every question, which takes a third of the time, and yet for these
-- filters. Those that were not given are gone from the plan.
WITH nearest AS MATERIALIZED (
    SELECT fragment_id, generation_from, embedding <=> :vector AS distance
    FROM {table} AS f
    WHERE corpus = {this_corpus}
      AND serving_state = 'current'
      AND answer_use <> 'never'
      AND (valid_from IS NULL OR valid_from <= {as_of})
      AND (valid_until IS NULL OR valid_until >= {as_of})
      AND serving.passes_filters({filters}, {product_key}, {domain_key}, {audience_key}, {source_class_key},
                                 {region_key}, {environment_key}, plan_tiers, answer_use, attributes)
      AND (NOT f.is_boilerplate OR current_setting('corpus.show_boilerplate', true) IN ('on', 'true', '1'))
    ORDER BY embedding <=> :vector
    LIMIT {fetch_limit}
)
SELECT {columns}, distance
FROM nearest
JOIN {table} AS f USING (fragment_id, generation_from)
WHERE f.corpus = {this_corpus} AND f.serving_state = 'current'
ORDER BY distance, fragment_id;

-- name: lexical_fragments
-- Fragments of one corpus that share the most telling words with a query, by BM25. The function applies permissions,
-- generation, state, validity and filters before ranking; row-level security is applied to its rows once more.
-- The limit tells the planner how few rows come, so that each is looked up by its key. With corpus and limit in the text
-- no plan is better than one for all questions, which the server finds out by itself.
SELECT {columns}, bm25
FROM (SELECT fragment_id, bm25 FROM {function}(:corpus, :terms, :filters, :fetch_limit) LIMIT {fetch_limit}) AS best
JOIN {table} AS f USING (fragment_id)
WHERE f.corpus = {this_corpus} AND f.serving_state = 'current'
  AND (NOT f.is_boilerplate OR current_setting('corpus.show_boilerplate', true) IN ('on', 'true', '1'))
ORDER BY bm25 DESC, fragment_id COLLATE "C";

-- name: nearest_of_state
-- For explanations, past permissions: fragments of one generation nearest to a vector, in one state. {table} is a serving table.
SELECT {columns}, embedding <=> :vector AS distance
FROM {table}
WHERE corpus = :corpus
  AND serving_state = :serving_state
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY embedding <=> :vector
LIMIT :fetch_limit;

-- name: best_of_documents
-- For explanations, past permissions: the fragment of each named document that is nearest to a vector. {table} is a serving table.
SELECT DISTINCT ON (document_id)
       {columns}, embedding <=> :vector AS distance
FROM {table}
WHERE corpus = :corpus
  AND document_id = ANY(:documents)
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id, distance, fragment_id;

-- name: facet_rows
-- The distinct scopes that the documents of a corpus declare, as far as the session may see them. {table} is a serving table.
SELECT DISTINCT product, plan_tiers, region, environment, audience, attributes
FROM {table}
WHERE corpus = :corpus AND serving_state = 'current' AND answer_use <> 'never';

-- name: parent_texts
-- Texts of the sections around fragments, as far as the session may see them.
SELECT parent_id, text, token_count
FROM serving.parents
WHERE corpus = ANY(:corpora) AND parent_id = ANY(:parent_ids);

-- name: widen_scan^
-- Settings of this transaction for a scan of the vector index that goes on until the limit is reached.
SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', :ef_search, true);

-- name: prefer_graph^
-- Settings of this transaction for a scan of the vector index where no filter has a selective index, and back. Of what
-- row-level security lets through the planner expects next to nothing, and would look at every row of the leaf.
-- The statement is prepared, with one plan for all questions of these filters.
SELECT set_config('hnsw.ef_search', :ef_search, true), set_config('enable_seqscan', :others, true),
       set_config('enable_bitmapscan', :others, true), set_config('plan_cache_mode', :plans, true);
