"""The prefix tree: every token of a set of sequences is computed once (ENGINE 2).

Sequences over one picture share their beginning: system text, picture, often the question. Their
tokens form a tree. A tree goes through the model as *one* row: its nodes in order, positions by
depth, and a mask in which a node sees its ancestors and itself. Siblings then cost neither padding
nor copies of the keys they share, which a cache repeated over a batch would.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Tree:
    """Sequences with a common picture, each token once.

    Attributes:
        members: the sequences, as indices into the batch.
        ids: token id of each node; parents come before children.
        parents: index of each node's parent, -1 at the root.
        depths: absolute position of each node in its sequences.
        groups: key group of each node.
        paths: for each member, its nodes from the first token to the last.
        whole: nodes at the start that hold the picture and what sees ahead; every member goes through them.
    """

    members: tuple[int, ...]
    ids: Int[np.ndarray, " node"]
    parents: Int[np.ndarray, " node"]
    depths: Int[np.ndarray, " node"]
    groups: Int[np.ndarray, " node"]
    paths: tuple[Int[np.ndarray, "_"], ...]
    whole: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def trunk(self) -> int:
        """Nodes at the start that every member goes through, up to the first fork or end."""
        first = self.paths[0]
        length = min(len(path) for path in self.paths)
        for path in self.paths[1:]:
            differs = np.flatnonzero(path[:length] != first[:length])
            length = int(differs[0]) if differs.size else length
        return length

    @property
    def is_chain(self) -> bool:
        """Whether there is nothing to share."""
        return len(self.members) == 1


def grow(
    members: Sequence[int],
    ids: Sequence[Int[np.ndarray, "_"]],
    groups: Sequence[Int[np.ndarray, "_"]],
    whole: int = 0,
) -> Tree:
    """The tree of some sequences.

    A token is shared when it and everything before it are equal, key groups included.

    Args:
        members: what the sequences are called.
        ids: their token ids.
        groups: the key group of each token.
        whole: tokens at the start that are equal in all of them and hold the picture.
    """
    children: dict[tuple[int, int, int], int] = {}
    node_ids: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    node_groups: list[int] = []
    paths = []
    for sequence, sequence_groups in zip(ids, groups, strict=True):
        node = -1
        path = np.empty(len(sequence), dtype=np.int64)
        pairs = zip(sequence.tolist(), sequence_groups.tolist(), strict=True)
        for depth, (token, group) in enumerate(pairs):
            key = (node, token, group)
            found = children.get(key)
            if found is None:
                found = children[key] = len(node_ids)
                node_ids.append(token)
                parents.append(node)
                depths.append(depth)
                node_groups.append(group)
            node = path[depth] = found
        paths.append(path)
    columns = np.array([node_ids, parents, depths, node_groups], dtype=np.int64)
    return Tree(tuple(members), columns[0], columns[1], columns[2], columns[3], tuple(paths), whole)


def forest(
    ids: Sequence[Int[np.ndarray, "_"]],
    groups: Sequence[Int[np.ndarray, "_"]],
    images: Sequence[Hashable],
    whole: Sequence[int],
) -> tuple[Tree, ...]:
    """One tree a picture and beginning.

    Args:
        ids: token ids of each sequence.
        groups: the key group of each token.
        images: identity of each sequence's picture; equal values share it.
        whole: tokens of each sequence's beginning: those that hold the picture or see ahead.
    """
    sets: dict[Hashable, list[int]] = {}
    for number, (sequence, start) in enumerate(zip(ids, whole, strict=True)):
        sets.setdefault((images[number], sequence[:start].tobytes()), []).append(number)
    return tuple(
        grow(members, [ids[m] for m in members], [groups[m] for m in members], whole[members[0]])
        for members in sets.values()
    )


def visible(tree: Tree, nodes: Int[np.ndarray, " query"] | None = None) -> Bool[np.ndarray, "query node"]:
    """Which nodes each node sees: its ancestors and itself.

    Args:
        nodes: only these queries; all when ``None``.
    """
    sees = np.zeros((len(tree), len(tree)), dtype=bool)
    for node, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            sees[node, : parent + 1] = sees[parent, : parent + 1]
        sees[node, node] = True
    return sees if nodes is None else sees[nodes]


def visible_beyond(tree: Tree, trunk: int, limb: Int[np.ndarray, " query"]) -> Bool[np.ndarray, "query key"]:
    """Which keys each node of a limb sees, the keys being the trunk's nodes and then the limb's own.

    The rows of `visible` for these nodes, without the matrix of the whole tree: a constant picture's tree
    has tens of thousands of nodes.

    Args:
        trunk: nodes at the start through which every member goes, at most `Tree.trunk`.
        limb: nodes beyond the trunk in their order; with the trunk closed under parents.
    """
    sees = np.zeros((len(limb), trunk + len(limb)), dtype=bool)
    sees[:, :trunk] = True
    place = {node: row for row, node in enumerate(limb.tolist())}
    for row, parent in enumerate(tree.parents[limb].tolist()):
        if parent >= trunk:
            sees[row, trunk:] = sees[place[parent], trunk:]
        sees[row, trunk + row] = True
    return sees


def limbs(tree: Tree, trunk: int, budget: int) -> tuple[tuple[list[int], Int[np.ndarray, "_"]], ...]:
    """Cut what lies beyond a trunk into pieces of about ``budget`` nodes, along the members.

    A node that two pieces need is in both, so that each piece with the trunk is closed under parents.

    Args:
        tree: what is cut.
        trunk: nodes at the start that are left out, at most `Tree.trunk`.
        budget: nodes of a piece; one member alone may exceed it.

    Returns:
        Members (numbers within the tree) and nodes of each piece.
    """
    pieces: list[tuple[list[int], Int[np.ndarray, "_"]]] = []
    members: list[int] = []
    nodes: set[int] = set()
    for member, path in enumerate(tree.paths):
        new = set(path[trunk:].tolist())
        if members and len(nodes | new) > budget:
            pieces.append((members, np.array(sorted(nodes), dtype=np.int64)))
            members, nodes = [], set()
        members.append(member)
        nodes |= new
    pieces.append((members, np.array(sorted(nodes), dtype=np.int64)))
    return tuple(pieces)


def branches(tree: Tree, budget: int) -> list[list[int]]:
    """Members that go on from a trunk side by side, similar lengths together; numbers within the tree.

    Args:
        tree: its members are cut into groups.
        budget: keys of a group, padding and each member's copy of the trunk counted; one may exceed it.
    """
    found: list[list[int]] = []
    for member in sorted(range(len(tree.paths)), key=lambda member: (len(tree.paths[member]), member)):
        if found and (len(found[-1]) + 1) * len(tree.paths[member]) <= budget:
            found[-1].append(member)
        else:
            found.append([member])
    return found


def batches(
    images: Sequence[Hashable],
    prompts: Sequence[int],
    continuations: Sequence[int],
    budget: int,
    *,
    sharing: bool,
    alone: Collection[Hashable] = (),
) -> list[list[int]]:
    """Cut texts into batches under a budget of padded tokens; similar lengths together.

    With ``sharing``, texts over one picture stay together and their prompt is counted once.

    Args:
        images: identity of each text's picture.
        prompts: about how many tokens each prompt has.
        continuations: how many tokens each continuation has.
        budget: padded tokens in a batch; a batch of one picture may exceed it.
        alone: pictures whose texts share a batch with no other picture's.
    """
    units: dict[Hashable, list[int]] = {}
    for index, image in enumerate(images):
        units.setdefault((image, None if sharing else index), []).append(index)
    sized = [
        (max(prompts[i] for i in unit) + sum(continuations[i] for i in unit), unit) for unit in units.values()
    ]
    sized.sort(key=lambda pair: (pair[0], pair[1][0]))
    lonely = [unit for _, unit in sized if sharing and images[unit[0]] in alone]
    found: list[list[int]] = []
    count = 0
    for size, unit in sized:
        if unit in lonely:
            continue
        if found and (count + 1) * size <= budget:
            found[-1] += unit
            count += 1
        else:
            found.append(list(unit))
            count = 1
    return lonely + found
