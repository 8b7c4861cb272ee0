"""Where model weights are: inside an installed package, in a local folder, or on a hub.

The same resolution serves the tokenizer that counts and the model that embeds, so that
both always come from the same files.
"""
