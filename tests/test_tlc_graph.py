"""Two state graphs are compared, and the first difference is found with the run to it."""

from __future__ import annotations

from mmcache_ref.tlc.graph import Edge, EdgeReader, Graph, difference

RING = [Edge(0, "up", 1), Edge(1, "up", 2), Edge(2, "reset", 0)]


def test_the_same_edges_in_any_order_make_the_same_graph() -> None:
    assert difference(Graph.of(0, RING), Graph.of(0, RING[::-1])) is None


def test_a_state_that_one_side_lacks_is_found_with_the_run_to_it() -> None:
    longer = Graph.of(0, [*RING, Edge(2, "up", 3), Edge(3, "up", 4)])
    found = difference(Graph.of(0, RING), longer)
    assert found is not None
    assert (found.side, found.what, found.state) == ("TLC", "state", 3)
    assert [edge.call for edge in found.run] == ["up", "up", "up"]


def test_a_step_that_one_side_lacks_is_found() -> None:
    found = difference(Graph.of(0, [*RING, Edge(1, "reset", 0)]), Graph.of(0, RING))
    assert found is not None
    assert (found.side, found.what, [edge.call for edge in found.run]) == ("Python", "step", ["up", "reset"])


def test_a_step_that_one_side_names_otherwise_is_found() -> None:
    found = difference(Graph.of(0, RING), Graph.of(0, [*RING[:2], Edge(2, "clear", 0)]))
    assert found is not None
    assert found.what == "step"


def test_a_step_that_one_side_makes_twice_is_found() -> None:
    found = difference(Graph.of(0, RING), Graph.of(0, [*RING, RING[0]]))
    assert found is not None
    assert (found.what, len(found.run)) == ("times", 1)


def test_another_first_state_is_found() -> None:
    found = difference(Graph.of(0, RING), Graph.of(1, RING))
    assert found is not None
    assert found.what == "first state"


def test_edges_are_read_from_what_a_model_prints() -> None:
    reader = EdgeReader()
    reader.line('"<<\\"edge\\", \\"<<>>\\", \\"[op |-> \\\\\\"get\\\\\\"]\\", \\"<<1>>\\">>"')
    reader.line("Parsing file Counter.tla")
    assert [(edge.before, edge.call["op"], edge.after) for edge in reader.edges] == [((), "get", (1,))]
