"""``python -m corpus_pipeline.cli``."""

from corpus_pipeline.cli.app import main

if __name__ == "__main__":
    import corpus_pipeline.cli  # noqa: F401 - registers the commands

    main()
