"""The groups in which the page draws layers: by name, without circles, small, and with equal blocks together."""

from collections.abc import Callable

import pytest

from irshape import verbs
from irshape.answers.hierarchy import Hierarchy
from irshape.page.data import PageData
from tests.page.generated import MODELS, Named, circle, speech, tangle, transformer
from tests.page.test_data import named
from tests.support.ir import Net
from tests.support.places import ATROUS

MODELS_AND_MORE: dict[str, Callable[[], Net]] = {**MODELS, "large tangle": lambda: tangle(5_000), "large circle": lambda: circle(3_000)}


def members(hierarchy: Hierarchy) -> dict[int, list[int]]:
    """The members of each group that stand for themselves: layers from 0 on, groups after the last layer."""
    found: dict[int, list[int]] = {}
    for position, group in enumerate(hierarchy.group_of):
        if hierarchy.nodes[position] not in hierarchy.hidden:
            found.setdefault(group, []).append(position)
    for number, one in enumerate(hierarchy.groups):
        if one.holder < 0:
            found.setdefault(one.parent, []).append(len(hierarchy.nodes) + number)
    return found


def hierarchy_of(net: Net) -> Hierarchy:
    return PageData(verbs.read(net.xml, weights=net.bin)).hierarchy


def groups(hierarchy: Hierarchy) -> set[tuple[str, int]]:
    """The names of the groups, and how often they repeat."""
    return {(one.name, one.repeats) for one in hierarchy.groups}


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["a", "b"], ["", ""]),
        (["block/a", "block/b", "c"], ["block", "block", ""]),
        (["x/block/a", "x/block/b", "c"], ["x/block", "x/block", ""]),  # a group with one member is joined with it
        (["x/block/a", "x/block/b"], ["", ""]),  # no group around everything
        (["alone/a", "b"], ["", ""]),  # no group of one layer
        (["__module.m.0/aten::relu/Relu", "__module.m.0.q/aten::relu/Relu", "__module.m.1/aten::add/Add"], ["0", "0", ""]),
        (["block/a", "Multiply_17", "block/b", "c"], ["block", "block", "block", ""]),  # a made-up name stands with its reader
        (["block/a", "Multiply_98765/Relu", "block/b", "c"], ["block", "block", "block", ""]),
        (["n_1", "n_2/inner", "n_2", "n_3", "n_4/inner", "n_4"], ["", "", "", "", "", ""]),  # a layer is no group
        (["//block//a", "block/b", "c"], ["block", "block", ""]),
        # An activation that several modules use stands with the layer that it reads.
        (
            ["a/in/f", "e/act/f", "b/in/f", "e/act/g", "e/in/f", "e/act/h"],
            ["a/in", "a/in", "b/in", "b/in", "e/in", "e/in"],
        ),
        (["e/in/f", "e/act/f", "e/act/g", "e/act/h"], ["", "act", "act", "act"]),
        (["l/a", "l/b", "r/a", "r/b", "l/c", "l/d"], ["l (1 of 2)", "l (1 of 2)", "r", "r", "l (2 of 2)", "l (2 of 2)"]),
    ],
)
def test_groups_come_from_names(names: list[str], paths: list[str]) -> None:
    model = named(*names)
    hierarchy = Hierarchy(model, (), lambda node: node.name)  # no two layers are equal
    assert [" > ".join(hierarchy.path(node)) for node in model.of_type("Relu")] == paths


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", MODELS_AND_MORE)
def test_no_group_has_too_many_members(name: str) -> None:
    hierarchy = hierarchy_of(MODELS_AND_MORE[name]())
    for group, inside in members(hierarchy).items():
        assert len(inside) <= 18 or (group >= 0 and hierarchy.groups[group].repeats == len(inside))
        assert group < 0 or not hierarchy.groups[group].repeats or hierarchy.groups[group].repeats == len(inside)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", MODELS_AND_MORE)
def test_the_members_of_a_group_make_no_circle(name: str) -> None:
    hierarchy = hierarchy_of(MODELS_AND_MORE[name]())
    count = len(hierarchy.nodes)
    ways = []
    for position in range(count):
        way, group = [position], hierarchy.group_of[position]
        while group >= 0:
            way.append(count + group)
            group = hierarchy.groups[group].parent
        ways.append([-1, *way[::-1]])
    reads: dict[int, set[int]] = {}
    for position, node in enumerate(hierarchy.nodes):
        for source in node.producers:
            if node.type == "ShapeOf" or {node, source} & hierarchy.hidden:
                continue
            own, other = ways[position], ways[hierarchy.position[source]]
            at = next(at for at, (one, two) in enumerate(zip(own, other, strict=False)) if one != two)
            reads.setdefault(own[at], set()).add(other[at])
    done: set[int] = set()
    while reads:
        ready = [item for item, read in reads.items() if not any(one in reads and one not in done for one in read)]
        assert ready
        for item in ready:
            done.add(item)
            del reads[item]


@pytest.mark.slow("take long")
def test_equal_blocks_are_one_group() -> None:
    assert ("net/layers", 48) in groups(hierarchy_of(transformer(48)))
    assert ("Parameter", 12) in groups(hierarchy_of(transformer(12)))
    assert {("encoder/layers", 12), ("decoder/layers", 12)} <= groups(hierarchy_of(speech(12)))


def test_blocks_that_differ_are_not_equal() -> None:
    """An attribute, a shape, or the way in which the layers of a block read each other."""
    net = Named()
    data = net.input("x", "f32[1,8]")
    for block in range(6):
        one = net.add(f"blocks.{block}/a", "ReLU", [data])
        two = net.add(f"blocks.{block}/b", "Elu", [one], alpha=1.0 + (block == 2))
        data = net.add(f"blocks.{block}/c", "Add", [two, data if block == 4 else one])
    net.result(data)
    assert not {repeats for _, repeats in groups(hierarchy_of(net))} - {0, 2}


LRN = {"alpha": 1.0, "beta": 0.5, "bias": 1.0, "size": 5}


@pytest.mark.parametrize("late", range(4))
def test_equal_blocks_may_have_their_layers_in_any_order(late: int) -> None:
    """In one block, the layers of the second branch stand before those of the first."""
    net = Named()
    data = net.input("x", "f32[1,8]")
    for block in range(4):
        scope, ends = f"blocks.{block}", {}
        for branch in ("kv", "vk")[block == late]:
            first = net.add(f"{scope}/{branch}/first", "Elu", [data], alpha=1.0)
            ends[branch] = net.add(f"{scope}/{branch}/last", "ReLU", [first])
        data = net.add(f"{scope}/joined", "Subtract", [ends["k"], ends["v"]])
    net.result(data)
    assert ("blocks", 4) in groups(hierarchy_of(net))


def test_equal_blocks_may_have_their_attributes_in_any_order() -> None:
    net = Named()
    data = net.input("x", "f32[1,8,8,8]")
    for block in range(8):
        data = net.add(f"blocks.{block}/lrn", "LRN", [data, net.const([1])], **dict([*LRN.items()][:: (-1) ** block]))
    net.result(data)
    assert ("LRN", 8) in groups(hierarchy_of(net))


def test_blocks_without_names_are_found() -> None:
    net = Named()
    data = net.input("x", "f32[1,8]")
    for block in range(30):
        inner = net.add(f"Relu_{10_000 + block}", "ReLU", [data])
        inner = net.add(f"Elu_{20_000 + block}", "Elu", [inner], alpha=1.0)
        data = net.add(f"Add_{30_000 + block}", "Add", [inner, data])
    net.result(data)
    (stack,) = [one for one in groups(hierarchy_of(net)) if one[1]]
    assert stack == ("ReLU and 2 more", 30)  # one type stands for the block: a list of them is too long for a row


def test_deep_and_long_names_make_few_levels() -> None:
    model = named("/".join("ab" * 5_000), "/".join("ab" * 5_000) + "c")
    hierarchy = Hierarchy(model)
    assert max(len(hierarchy.path(node)) for node in model) <= 17


def test_layers_that_depend_on_constants_alone_are_hidden() -> None:
    model = verbs.read(ATROUS)
    hidden = Hierarchy(model).hidden
    assert {node.type for node in hidden} == {"Const"}
    assert not Hierarchy(model, hidden).hidden  # faults are shown
