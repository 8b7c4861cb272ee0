-- Searching for words looks at twice as many places as are wanted at first, not at half as many again: one question in seventeen
-- had to be asked once more, which took half as long again.
DO $$
DECLARE
    former CONSTANT text := 'wanted := greatest(1.5 * most, most + 30.0);';
    definition CONSTANT text :=
        pg_get_functiondef('corpus.candidates_by_impact(corpus.lexical_search, corpus.posting_indexes, integer)'::regprocedure);
BEGIN
    IF strpos(definition, former) = 0 THEN
        RAISE EXCEPTION 'corpus.candidates_by_impact is not the function of the migration before';
    END IF;
    EXECUTE replace(definition, former, 'wanted := greatest(2.0 * most, most + 30.0);');
END
$$;

-- An evaluator who asks for the words of the published generation and the rows of a staged one would get a mixture.
REVOKE EXECUTE ON FUNCTION serving.lexical_candidates(text, integer[], jsonb, integer) FROM corpus_evaluator;
