"""An encoder as an int8 ONNX graph, written node by node from plain arrays. Needs numpy and onnx, nothing else.

Weights have one scale for each output column, the words' vectors one for each row; activations are quantised while the
model runs. Weights use 7 of the 8 bits: processors without int8 dot products add pairs of products in 16 bits, and full
weights would overflow there without a word.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
LARGEST = 63


class Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def linear(self, name: str, x: str, weight: np.ndarray, bias: np.ndarray, integer: bool = True) -> str:
        """``x @ weight.T + bias``, in int8."""
        if not integer:
            product = self.node("MatMul", [x, self.weight(f"{name}.w", weight.T)], f"{name}.product")
            return self.node("Add", [product, self.weight(f"{name}.b", bias)], name)
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-8) / LARGEST
        small = np.clip(np.round(weight / scale[:, None]), -LARGEST, LARGEST).astype(np.int8)
        inputs = [
            x,
            self.weight(f"{name}.w", small.T),
            self.weight(f"{name}.scale", scale.astype(np.float32)),
            self.weight(f"{name}.zero", np.zeros(len(scale), dtype=np.int8)),
            self.weight(f"{name}.b", bias),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, name, MICROSOFT)


def build(
    arrays: Mapping[str, np.ndarray],
    layers: list[int],
    heads: int = 12,
    head: tuple[np.ndarray, np.ndarray] | None = None,
    epsilon: float = 1e-12,
    integer: bool = True,
) -> onnx.ModelProto:
    """``input_ids`` (1, length) → the last layer's states, or the numbers of a linear layer on top of them.

    ``arrays`` has the names of the container (`l0.q.w` …). One text at a time: there is no mask.
    """
    graph = Graph()
    x = _embeddings(graph, arrays, epsilon, integer)
    for number in layers:
        x = _layer(graph, arrays, f"l{number}.", x, heads, epsilon, integer)
    if head:
        x = graph.linear("head", x, *head, integer=False)
    graph.node("Identity", [x], "output")
    width = len(head[1]) if head else arrays["emb.pos"].shape[1]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "length"])],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, "length", width])],
            graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=8,
    )
    return model


def _embeddings(graph: Graph, arrays: Mapping[str, np.ndarray], epsilon: float, integer: bool) -> str:
    words = arrays["emb.word"]
    if integer:
        scale = np.maximum(np.abs(words).max(axis=1), 1e-8) / 127
        small = np.round(words / scale[:, None]).astype(np.int8)
        rows = graph.node("Gather", [graph.weight("word", small), "input_ids"], "word.rows")
        rows = graph.node("Cast", [rows], "word.float", to=TensorProto.FLOAT)
        scales = graph.weight("word.scale", scale.astype(np.float32)[:, None])
        found = graph.node("Mul", [rows, graph.node("Gather", [scales, "input_ids"], "word.scales")], "word.vectors")
    else:
        found = graph.node("Gather", [graph.weight("word", words), "input_ids"], "word.vectors")
    shape = graph.node("Shape", ["input_ids"], "shape")
    one = graph.weight("one", np.array([1], dtype=np.int64))
    length = graph.node("Gather", [shape, one], "length")
    positions = arrays["emb.pos"] + arrays["emb.type"][0] if "emb.type" in arrays else arrays["emb.pos"]
    zero = graph.weight("zero", np.array([0], dtype=np.int64))
    place = graph.node("Slice", [graph.weight("pos", positions), zero, length, zero], "positions")
    added = graph.node("Add", [found, place], "embedded")
    return _norm(graph, "emb.ln", added, arrays, epsilon)


def _norm(graph: Graph, name: str, x: str, arrays: Mapping[str, np.ndarray], epsilon: float) -> str:
    gain, shift = graph.weight(f"{name}.w", arrays[f"{name}.w"]), graph.weight(f"{name}.b", arrays[f"{name}.b"])
    return graph.node("LayerNormalization", [x, gain, shift], name, epsilon=epsilon, axis=-1)


def _layer(
    graph: Graph, arrays: Mapping[str, np.ndarray], name: str, x: str, heads: int, epsilon: float, integer: bool
) -> str:
    weight = np.concatenate([arrays[f"{name}{part}.w"] for part in "qkv"])
    bias = np.concatenate([arrays[f"{name}{part}.b"] for part in "qkv"])
    both = graph.linear(f"{name}qkv", x, weight, bias, integer)
    parts = [f"{name}{part}" for part in "qkv"]
    graph.nodes.append(helper.make_node("Split", [both], parts, name=f"{name}split", axis=2))
    seen = graph.node("MultiHeadAttention", parts, f"{name}seen", MICROSOFT, num_heads=heads)
    mixed = graph.linear(f"{name}ao", seen, arrays[f"{name}ao.w"], arrays[f"{name}ao.b"], integer)
    x = _norm(graph, f"{name}aln", graph.node("Add", [x, mixed], f"{name}sum1"), arrays, epsilon)
    wide = graph.linear(f"{name}fi", x, arrays[f"{name}fi.w"], arrays[f"{name}fi.b"], integer)
    bent = graph.node("Gelu", [wide], f"{name}gelu", MICROSOFT)
    back = graph.linear(f"{name}fo", bent, arrays[f"{name}fo.w"], arrays[f"{name}fo.b"], integer)
    return _norm(graph, f"{name}oln", graph.node("Add", [x, back], f"{name}sum2"), arrays, epsilon)
