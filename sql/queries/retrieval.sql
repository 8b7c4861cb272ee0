-- name: nearest_fragments
-- Fragments of one corpus nearest to a vector among those the session may see (row-level security
-- adds generation, groups and state), with every filter applied before ranking. {table} is a serving table.
WITH nearest AS MATERIALIZED (
    SELECT fragment_id, parent_id, corpus, document_id, source_uri, title, section_path, page_number, char_start, char_end,
           text, text_sha256, exclusion_reason, exclusion_ref, product, domain, plan_tiers, region, customer_segment,
           environment, audience, answer_use, source_class, source_type, source_extension, trust_level, lifecycle,
           version, family, language, valid_from, valid_until, acl_groups, owner, last_reviewed_at, attributes,
           embedding, embedding <=> :vector AS distance
    FROM {table} AS f
    WHERE corpus = :corpus
      AND serving_state = 'current'
      AND answer_use <> 'never'
      AND (valid_from IS NULL OR valid_from <= :as_of)
      AND (valid_until IS NULL OR valid_until >= :as_of)
      AND (CAST(:product AS text) IS NULL OR lower(product) = lower(:product))
      AND (CAST(:audience AS text) IS NULL OR lower(audience) = lower(:audience))
      AND (CAST(:domain AS text) IS NULL OR lower(domain) = lower(:domain))
      AND (CAST(:source_class AS text) IS NULL OR lower(source_class) = lower(:source_class))
      AND (CAST(:region AS text) IS NULL OR region IS NULL OR lower(region) = lower(:region))
      AND (CAST(:environment AS text) IS NULL OR environment IS NULL OR lower(environment) = lower(:environment))
      AND (CAST(:plan_tier AS text) IS NULL OR cardinality(plan_tiers) = 0
           OR EXISTS (SELECT FROM unnest(plan_tiers) AS tier WHERE lower(tier) = lower(:plan_tier)))
      AND (NOT CAST(:customer_facing AS boolean) OR answer_use = 'any')
      AND (CAST(:attributes AS jsonb) IS NULL
           OR NOT EXISTS (SELECT FROM jsonb_each_text(:attributes) AS wanted
                          WHERE lower(attributes ->> wanted.key) IS DISTINCT FROM lower(wanted.value)))
    ORDER BY embedding <=> :vector
    LIMIT :fetch_limit
)
SELECT *, round(CAST(1 - distance AS numeric), 6) >= :min_score AS is_accepted
FROM nearest
ORDER BY distance, fragment_id;

-- name: nearest_of_state
-- For explanations, past permissions: fragments of one generation nearest to a vector, in one state. {table} is a serving table.
SELECT fragment_id, parent_id, corpus, document_id, source_uri, title, section_path, page_number, char_start, char_end,
       text, text_sha256, exclusion_reason, exclusion_ref, product, domain, plan_tiers, region, customer_segment,
       environment, audience, answer_use, source_class, source_type, source_extension, trust_level, lifecycle,
       version, family, language, valid_from, valid_until, acl_groups, owner, last_reviewed_at, attributes,
       embedding, embedding <=> :vector AS distance
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
       fragment_id, parent_id, corpus, document_id, source_uri, title, section_path, page_number, char_start, char_end,
       text, text_sha256, exclusion_reason, exclusion_ref, product, domain, plan_tiers, region, customer_segment,
       environment, audience, answer_use, source_class, source_type, source_extension, trust_level, lifecycle,
       version, family, language, valid_from, valid_until, acl_groups, owner, last_reviewed_at, attributes,
       embedding, embedding <=> :vector AS distance
FROM {table}
WHERE corpus = :corpus
  AND document_id = ANY(:documents)
  AND generation_from <= :generation
  AND (generation_to IS NULL OR generation_to > :generation)
ORDER BY document_id, distance, fragment_id;

-- name: parent_texts
-- Texts of the sections around fragments, as far as the session may see them.
SELECT parent_id, text
FROM serving.parents
WHERE corpus = ANY(:corpora) AND parent_id = ANY(:parent_ids);

-- name: widen_scan^
-- Settings of this transaction for a scan of the vector index that goes on until the limit is reached.
SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', :ef_search, true);
