from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.reading_order import reading_order

HEIGHT = 800


def test_single_column_is_read_downwards():
    assert reading_order([Box(50, 300, 500, 400), Box(50, 100, 500, 200)], HEIGHT) == [1, 0]


def test_left_column_comes_before_right_below_a_spanning_heading():
    boxes = [
        Box(310, 100, 550, 300),  # right, upper
        Box(50, 310, 290, 600),  # left, lower
        Box(50, 50, 550, 80),  # heading
        Box(50, 100, 290, 300),  # left, upper
        Box(310, 310, 550, 600),  # right, lower
    ]
    assert reading_order(boxes, HEIGHT) == [2, 3, 1, 0, 4]


def test_spanning_element_splits_columns_into_strips():
    boxes = [
        Box(50, 100, 290, 300),
        Box(310, 100, 550, 300),
        Box(50, 310, 550, 350),
        Box(50, 360, 290, 600),
        Box(310, 360, 550, 600),
    ]
    assert reading_order(boxes, HEIGHT) == [0, 1, 2, 3, 4]


def test_short_texts_side_by_side_are_read_across():
    boxes = [Box(300, 101, 400, 111), Box(50, 100, 150, 110), Box(50, 130, 150, 140)]
    assert reading_order(boxes, HEIGHT) == [1, 0, 2]


def test_right_to_left_page_starts_with_its_right_column():
    boxes = [Box(50, 100, 290, 600), Box(310, 100, 550, 340), Box(310, 350, 550, 600)]
    assert reading_order(boxes, HEIGHT, right_to_left=True) == [1, 2, 0]


def test_no_boxes_have_no_order():
    assert reading_order([], HEIGHT) == []
