"""Make the demo model: draw pictures, train, export to ONNX, quantise, measure.

    pip install -r examples/demo/requirements.txt
    python examples/demo/make_demo.py

It overwrites the generated files in this folder. Seeds and the number of threads are fixed; bytes may still
differ between processors, because torch picks its kernels by instruction set. The compiler does not need this
script: its results are committed.
"""

# torch and onnxruntime's quantiser have few types or are not installed where the types are checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return,no-untyped-call,call-overload"

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from demo_data import INPUT_NAME, OUTPUT_NAME, preprocess, top1_accuracy
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from resnet8 import ResNet8, deployable
from shapes import CLASSES, SIDE_PX, Images, Labels, make_dataset

logger = logging.getLogger("make_demo")

TRAIN_COUNT, TRAIN_SEED = 20_000, 1
TEST_COUNT, TEST_SEED = 200, 2  # the committed pictures
HELD_OUT_COUNT, HELD_OUT_SEED = 5_000, 3  # not committed: a sharper estimate than 200 pictures can give
CALIBRATION_COUNT = 500  # the first of the training pictures

EPOCHS = 14
BATCH_SIZE = 128
PEAK_LEARNING_RATE = 0.01
WEIGHT_DECAY = 1e-4
TORCH_SEED = 0
THREADS = 2  # part of the recipe: it decides the order in which gradients are summed

OPSET = 17
GRAPH_NAME = "resnet8_shapes"


def main() -> None:
    """Make every generated file of this folder anew."""
    parser = argparse.ArgumentParser(description="Train, export and quantise the demo model.")
    parser.add_argument("--output-dir", type=Path, default=Path(__file__).parent)
    output_dir: Path = parser.parse_args().output_dir
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    output_dir.mkdir(parents=True, exist_ok=True)

    logger.info("drawing pictures")
    train_images, train_labels = make_dataset(TRAIN_COUNT, TRAIN_SEED)
    test_images, test_labels = make_dataset(TEST_COUNT, TEST_SEED)
    held_out_images, held_out_labels = make_dataset(HELD_OUT_COUNT, HELD_OUT_SEED)

    network = train(train_images, train_labels)
    quantised_path = output_dir / "resnet8_shapes.onnx"
    with tempfile.TemporaryDirectory() as scratch:
        float_path = Path(scratch) / "float.onnx"
        export(network, float_path)
        quantise(float_path, quantised_path, train_images[:CALIBRATION_COUNT])
        check_quantised(quantised_path)
        accuracy = {
            form: {
                "test": accuracy_of(path, test_images, test_labels),
                "held_out": accuracy_of(path, held_out_images, held_out_labels),
            }
            for form, path in (("float32", float_path), ("int8", quantised_path))
        }
    for form, top1 in accuracy.items():
        logger.info("%-7s test %.1f %%, held out %.1f %%", form, 100 * top1["test"], 100 * top1["held_out"])

    np.savez_compressed(output_dir / "test_images.npz", images_u8=test_images, labels=test_labels)
    write_json(output_dir / "classes.json", list(CLASSES))
    versions = {"numpy": np.__version__, "onnx": onnx.__version__, "onnxruntime": ort.__version__}
    versions["torch"] = str(torch.__version__)
    counts = {"train": TRAIN_COUNT, "test": TEST_COUNT, "held_out": HELD_OUT_COUNT}
    write_json(output_dir / "accuracy.json", {"top1": accuracy, "pictures": counts, "versions": versions})


def train(images: Images, labels: Labels) -> ResNet8:
    """Train on (count, 3, 32, 32) pictures; each batch is turned and mirrored at random."""
    torch.manual_seed(TORCH_SEED)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    inputs = torch.from_numpy(preprocess(images))
    targets = torch.from_numpy(labels)
    network = ResNet8(len(CLASSES)).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(network.parameters(), weight_decay=WEIGHT_DECAY)
    batches_per_epoch = len(images) // BATCH_SIZE
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=PEAK_LEARNING_RATE, total_steps=EPOCHS * batches_per_epoch
    )
    network.train()
    for epoch in range(EPOCHS):
        loss_sum = 0.0
        # The last, incomplete batch is left out; the order is new in every epoch.
        for chosen in torch.randperm(len(images))[: batches_per_epoch * BATCH_SIZE].split(BATCH_SIZE):
            quarter_turns, mirrored = torch.randint(4, ()).item(), torch.randint(2, ()).item()
            batch = torch.rot90(inputs[chosen], int(quarter_turns), (2, 3))
            batch = batch.flip(3) if mirrored else batch
            logits = network(batch.contiguous(memory_format=torch.channels_last))
            loss = torch.nn.functional.cross_entropy(logits, targets[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            loss_sum += loss.item()
        logger.info("epoch %2d of %d: mean loss %.4f", epoch + 1, EPOCHS, loss_sum / batches_per_epoch)
    return network.eval()


def export(network: ResNet8, path: Path) -> None:
    """Write the float model: batch 1, NCHW, static shapes, batch normalisation folded."""
    example = torch.zeros(1, 3, SIDE_PX, SIDE_PX)
    # The TorchScript exporter: the newer one writes opset 18 and up, and its node names hide the layer.
    torch.onnx.export(
        deployable(network),
        (example,),
        str(path),
        input_names=[INPUT_NAME],
        output_names=[OUTPUT_NAME],
        opset_version=OPSET,
        dynamo=False,
    )


class Calibration(CalibrationDataReader):
    """Hands the quantiser one picture at a time."""

    def __init__(self, images: Images) -> None:
        self._samples = iter(preprocess(images)[:, np.newaxis])

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        """The next picture as {input name: (1, 3, 32, 32)}, None at the end."""
        sample = next(self._samples, None)
        return None if sample is None else {INPUT_NAME: sample}


def quantise(float_path: Path, quantised_path: Path, calibration_images: Images) -> None:
    """QDQ: asymmetric int8 activations, symmetric int8 weights per output channel, int32 bias.

    Graph input and output stay float32.
    """
    # The picture's range is known, so it is stated instead of calibrated: q = p - 128 without rounding.
    input_range = {"scale": np.array(1 / 128, dtype=np.float32), "zero_point": np.array(0, dtype=np.int8)}
    quantize_static(
        str(float_path),
        str(quantised_path),
        Calibration(calibration_images),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        extra_options={
            "TensorQuantOverrides": {INPUT_NAME: [input_range]},
            # Conv -> Relu -> QuantizeLinear without a pair between the two: one rounding per layer, and the
            # activation function stays visible in the file.
            "QDQKeepRemovableActivations": True,
            "OpTypesToExcludeOutputQuantization": ["Conv", "Add"],
        },
    )
    model = onnx.load(quantised_path)
    model.graph.name = GRAPH_NAME
    onnx.save(model, quantised_path)


def check_quantised(path: Path) -> None:
    """Raise ValueError unless the file has opset 17, integer weights and biases, and nothing unused."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    if opsets != {"": OPSET} or model.ir_version > 10:
        raise ValueError(f"{path}: opsets {opsets}, IR {model.ir_version}; wanted {OPSET} alone, IR <= 10")
    quantising = [node for node in model.graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
    scales = {node.input[1] for node in quantising}
    stored = {tensor.name for tensor in model.graph.initializer}
    stored_as_float = {t.name for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
    used = {name for node in model.graph.node for name in node.input}
    if stored_as_float - scales or stored - used:
        raise ValueError(f"{path}: float weights {stored_as_float - scales}, unused tensors {stored - used}")


def accuracy_of(path: Path, images: Images, labels: Labels) -> float:
    """Top-1 accuracy in ONNX Runtime, in [0, 1]."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    samples = preprocess(images)[:, np.newaxis]
    outputs = [session.run([OUTPUT_NAME], {INPUT_NAME: sample})[0] for sample in samples]
    return top1_accuracy(np.concatenate(outputs), labels)


def write_json(path: Path, value: object) -> None:
    """Write `value` indented, keys in the order given."""
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
