from corpus_pipeline.conversion.pdf.geometry import Box, bounding_box, cluster_centres, index_between, merge_intervals


def test_overlap_is_negative_across_a_gap():
    assert Box(0, 0, 10, 10).overlap_x(Box(14, 0, 20, 10)) == -4


def test_intersection_of_boxes_apart_is_nothing():
    assert Box(0, 0, 10, 10).intersection_area(Box(20, 20, 30, 30)) == 0


def test_clipped_box_outside_the_page_is_empty():
    assert Box(700, 10, 800, 20).clipped(612, 792).width == 0


def test_bounding_box_encloses_all():
    assert bounding_box([Box(1, 5, 2, 6), Box(0, 7, 4, 8)]) == Box(0, 5, 4, 8)


def test_clusters_chain_through_neighbours():
    assert cluster_centres([1, 2, 3, 10], 1) == [2, 10]


def test_intervals_join_up_to_the_gap():
    assert merge_intervals([(5, 6), (0, 1), (1.5, 2)], 0.5) == [(0, 2), (5, 6)]


def test_values_outside_the_separators_fall_into_the_outer_slots():
    assert [index_between([0, 10, 20], value) for value in (-5, 3, 10, 50)] == [0, 0, 1, 1]
