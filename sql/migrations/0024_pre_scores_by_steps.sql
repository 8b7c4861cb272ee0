-- The score of a row asks once how often its most frequent word occurs, and stops at the first step that none reaches. Before, each of
-- fifteen levels took the row's terms apart anew.
DO $$
DECLARE
    definition text :=
        pg_get_functiondef('corpus.prepared_lexical_search(name, text, text, integer, integer[], jsonb)'::regprocedure);
    former CONSTANT text[] := ARRAY[
        $part$        SELECT string_agg(
            format(CASE WHEN level = 1 THEN '%2$s' ELSE 'CASE WHEN f.terms[cardinality(f.terms)] >= %1$s THEN %2$s ELSE 0 END' END,
                   (SELECT min(k.number) - 1 FROM generate_subscripts(most_of_key, 1) AS k (number)
                    WHERE most_of_key[k.number] >= level) * buckets,
                   format('%s / (%s + n.norm) * (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels)', -level, level, vector)),
            ' + ' ORDER BY level) AS score
        FROM asked
$part$,
        $part$%L::double precision * f.term_count AS norm OFFSET 0) AS n$part$];
    present CONSTANT text[] := ARRAY[
        $part$        SELECT string_agg(CASE WHEN step.key = 0 THEN step.score
                               ELSE format('CASE WHEN n.last_key >= %s THEN %s', step.key * buckets, step.score) END,
                          ' + ' ORDER BY step.key)
               || repeat(' ELSE 0 END', (count(*) FILTER (WHERE step.key > 0))::integer) AS score
        FROM (
            SELECT k.key, string_agg(format('%s / (%s + n.norm) * (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels)',
                                            -level, level, vector), ' + ' ORDER BY level) AS score
            FROM asked, LATERAL (SELECT min(k.number) - 1 AS key FROM generate_subscripts(most_of_key, 1) AS k (number)
                                 WHERE most_of_key[k.number] >= level) AS k
            GROUP BY k.key
        ) AS step
$part$,
        $part$%L::double precision * f.term_count AS norm, f.terms[cardinality(f.terms)] AS last_key OFFSET 0) AS n$part$];
BEGIN
    FOR part IN 1..cardinality(former) LOOP
        IF strpos(definition, former[part]) = 0 THEN
            RAISE EXCEPTION 'corpus.prepared_lexical_search is not the function of the migration before';
        END IF;
        definition := replace(definition, former[part], present[part]);
    END LOOP;
    EXECUTE definition;
END
$$;
