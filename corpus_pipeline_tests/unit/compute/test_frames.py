from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.compute import FrameBuffer, pack_frame, read_frame

heads = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(), st.booleans()), max_size=4)


@given(st.lists(st.tuples(heads, st.binary(max_size=50)), max_size=5), st.integers(1, 7))
def test_messages_arrive_whole_however_the_bytes_are_cut(frames: list[tuple[dict, bytes]], step: int) -> None:
    data = b"".join(pack_frame(head, payload) for head, payload in frames)
    buffer = FrameBuffer()
    found = []
    for position in range(0, len(data), step):
        buffer.feed(data[position : position + step])
        found.extend(buffer.frames())
    assert found == frames
    stream = io.BytesIO(data)
    assert [read_frame(stream) for _ in frames] == frames


def test_a_message_that_breaks_off_is_none() -> None:
    data = pack_frame({"a": 1}, b"payload")
    for length in range(len(data)):
        assert read_frame(io.BytesIO(data[:length])) is None
