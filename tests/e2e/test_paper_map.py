"""The functions of each operation, from one run of the real job: image classification, segmentation, detection.

Expects the functions that the paper lists, or their counterparts in Debian 12's libraries: libjpeg-turbo is
stripped and decodes with SIMD functions, so its functions are named by their code; Pillow lets it produce RGBX, so copying (memcpy) replaces ImagingUnpackRGB; the kernels of libtorch_cpu are stripped, too, so
the operators that run them are checked.

A run is short, and rare functions have few samples. So a second run need only have the functions that it was
certain to see: those whose lower bound in the first run is at least 1 % and gives 10 expected samples or
more.
"""
import collections
import pathlib

import pytest

import harness
import map_reader

CERTAIN = 10  # expected samples: the probability of none is 1 in 20,000
IMAGES, EPOCHS, BATCH = 64, 12, 8
CASES = 4 * 50
BOXED = pathlib.Path("/usr/share/doc/labelme-examples/examples/bbox_detection/data_annotated")
DETECTED = 3 * 100
FLIPPING = {"ImagingFlipLeftRight", "ImagingNew", "ImagingNewDirty", "ImagingNewInternal", "ImagingNewPrologue",
            "ImagingNewPrologueSubtype", "ImagingAllocateArray", "ImagingCopyPalette", "ImagingDelete",
            "ImagingSectionEnter", "ImagingSectionLeave", "ImagingDestroyArray"}


class Runs:
    def __init__(self, tracer, command):
        self.maps, paths = [], []
        for _ in range(2):
            outcome, trace = tracer.trace(command, LOTUS_SAMPLE_HZ=999)
            assert outcome.code == 0, outcome.stderr.decode()
            paths.append(trace.path)
            self.maps.append(map_reader.read(trace.path))
        self.both = map_reader.read(*paths)


@pytest.fixture(scope="module")
def classification(tmp_path_factory, tracers, photos):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("classification")))
    options = ["--workers", 2, "--epochs", EPOCHS, "--batch-size", BATCH]
    return Runs(tracers[-1], harness.program("classify", *options, data=photos))


@pytest.fixture(scope="module")
def segmentation(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("segmentation")))
    return Runs(tracers[-1], harness.program("segment", "--workers", 2, data=tmp_path_factory.mktemp("volumes")))


@pytest.fixture(scope="module")
def detection(tmp_path_factory, tracers):
    assert BOXED.is_dir(), f"{BOXED} is missing: run `apt-get install labelme-examples` and try again"
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("detection")))
    return Runs(tracers[-1], harness.program("detect", "--workers", 2, data=BOXED))


def of_library(op, library):
    """The share of an operation's CPU time that is spent in a library's functions."""
    return sum(function.share for function in op.functions if function.library.startswith(library))


def sampled(op):
    """Names of the functions in the operation's stacks."""
    return {function.name for function in op.functions if function.total > 0}


def certain(op, other):
    """Functions of an operation that the other run was certain to see."""
    least = max(0.01, CERTAIN / other.effective) if other.effective > 0 else 1
    return {(function.name, function.library) for function in op.functions if function.low >= least}


def assert_agreement(runs, least):
    """Checks that two runs agree. `least`: the number of functions that must be comparable."""
    compared = 0
    for one, other in (runs.maps, runs.maps[::-1]):
        for name, op in one.ops.items():
            expected = certain(op, other.ops[name])
            compared += len(expected)
            seen = {(function.name, function.library) for function in other.ops[name].functions if function.samples}
            assert expected <= seen, name
    assert compared >= 2 * least


def test_loader_decodes(classification):
    for run in classification.maps:
        loader = run.ops["Loader"]
        assert of_library(loader, "libjpeg.so") > 0.3
        assert {"ImagingJpegDecode", "jpeg_read_scanlines"} <= sampled(loader)
        assert loader.entry_points["jpeg_read_header"] == IMAGES * EPOCHS
        assert loader.functions[0][:2] == ("decode_mcu", "libjpeg.so.62") and loader.functions[0].listed
        ways = collections.Counter()
        for function in loader.functions:
            if function.library.startswith("libjpeg.so"):
                ways[function.named_by] += function.samples
        assert ways["code"] + ways["symbol"] >= 0.8 * ways.total()
        assert "jsimd_idct_islow_avx2" in sampled(loader) or "jsimd_idct_islow_sse2" in sampled(loader)
    names = " ".join(sampled(classification.both.ops["Loader"]))
    assert "memcpy" in names or "memmove" in names
    assert "memset" in names  # from calloc


def test_crop_resamples(classification):
    for run in classification.maps:
        crop = run.ops["RandomResizedCrop"]
        assert {function.name for function in crop.functions[:2]} == {
            "ImagingResampleHorizontal_8bpc", "ImagingResampleVertical_8bpc"}
        assert all(function.listed for function in crop.functions[:2])
        assert crop.entry_points["ImagingCore.resize"] == IMAGES * EPOCHS
        assert crop.entry_points["ImagingCore.crop"] == IMAGES * EPOCHS


def test_flip_flips(classification):
    flip = classification.both.ops["RandomHorizontalFlip"]
    flipped = flip.entry_points["ImagingCore.transpose"]
    assert 0.4 < flipped / flip.calls < 0.6
    # The flip takes 20 µs and may have no sample in such a short run, but no other function of Pillow may
    # have one.
    assert {name for name in sampled(flip) if name.startswith("Imaging")} <= FLIPPING


def test_tensors_are_made_by_operators(classification):
    images = IMAGES * EPOCHS
    counted = {"ToTensor": {"aten::contiguous": images, "aten::div": images},
               "Normalize": {"aten::sub_": images, "aten::div_": images, "aten::clone": images},
               "Collation": {"aten::stack": images // BATCH}}
    for run in classification.maps:
        for op, calls in counted.items():
            assert calls.items() <= run.ops[op].entry_points.items()
        collation = run.ops["Collation"]
        assert collation.functions[0].library.startswith("libtorch_cpu.so") and collation.functions[0].low > 0.3
    for op, operator in {"ToTensor": "div_Tensor", "Normalize": "copy_", "Collation": "cat_out"}.items():
        found = classification.both.ops[op]
        assert any(name.startswith(f"at::_ops::{operator}::call(") for name in sampled(found))
        assert of_library(found, "libtorch_cpu.so") > 0.15
        assert any(function.listed for function in found.functions if function.library.startswith("libtorch_cpu.so"))


def test_nothing_is_misplaced(classification):
    homes = {"Loader": lambda function: function.library.startswith("libjpeg.so") or "Jpeg" in function.name,
             "RandomResizedCrop": lambda function: function.name.startswith("ImagingResample"),
             "RandomHorizontalFlip": lambda function: function.name.startswith("ImagingFlip"),
             "Collation": lambda function: "stack_out" in function.name}
    for run in classification.maps:
        for home, chosen in homes.items():
            assert run.ops_with(chosen) <= {home}
        for name, op in run.ops.items():
            assert name == "Loader" or not any(point.startswith("jpeg_") for point in op.entry_points)
        assert run.ops_with(homes["Loader"]) == {"Loader"}
        assert run.ops_with(homes["RandomResizedCrop"]) == {"RandomResizedCrop"}


def test_two_runs_of_classification_agree(classification):
    assert_agreement(classification, 4)


def test_operations_of_segmentation(segmentation):
    for run in segmentation.maps:
        load = run.ops["LoadImage"]
        assert load.entry_points["fromfile"] == 2 * CASES
        assert any("read" in function.name and function.library == "libc.so.6" for function in load.functions[:2])
        noise = run.ops["GaussianNoise"]
        assert of_library(noise, "_generator.") + of_library(noise, "_pcg64.") > 0.4
        assert noise.named("random_standard_normal").listed
    crop = segmentation.both.ops["RandBalancedCrop"]
    assert of_library(crop, "_multiarray_umath.") > 0.6  # argwhere
    for name in ("RandFlip", "Cast", "RandomBrightnessAugmentation"):
        op = segmentation.both.ops[name]
        libraries = {function.library.partition(".")[0] for function in op.functions}
        assert op.samples < CERTAIN or "_multiarray_umath" in libraries, name
    collation = segmentation.both.ops["Collation"]
    assert collation.entry_points["aten::stack"] == 2 * CASES
    assert of_library(collation, "libtorch_cpu.so") > 0.3


def test_nothing_is_misplaced_in_segmentation(segmentation):
    homes = {"GaussianNoise": lambda function: function.name in ("random_standard_normal", "random_normal"),
             "Collation": lambda function: "stack_out" in function.name}
    for run in segmentation.maps:
        for home, chosen in homes.items():
            assert run.ops_with(chosen) == {home}
        for name, op in run.ops.items():
            assert name == "LoadImage" or not {"fromfile", "fread"} & set(op.entry_points)


def test_two_runs_of_segmentation_agree(segmentation):
    assert_agreement(segmentation, 4)


def test_operations_of_detection(detection):
    for run in detection.maps:
        load, resize = run.ops["Load"], run.ops["Resize"]
        assert of_library(load, "libjpeg.so") > 0.4
        assert load.entry_points["jpeg_read_header"] == DETECTED
        assert {function.name for function in resize.functions[:2]} == {
            "ImagingResampleHorizontal_8bpc", "ImagingResampleVertical_8bpc"}
        for op, operators in {"ToTensor": {"aten::div"}, "Normalize": {"aten::sub_", "aten::div_"},
                              "Collation": {"aten::copy_"}}.items():
            assert all(run.ops[op].entry_points[operator] == DETECTED for operator in operators)
    for op, operator in {"ToTensor": "div_Tensor", "Normalize": "copy_", "Collation": "copy_"}.items():
        assert any(name.startswith(f"at::_ops::{operator}::call(") for name in sampled(detection.both.ops[op]))
        assert of_library(detection.both.ops[op], "libtorch_cpu.so") > 0.3
    flip = detection.both.ops["RandomHorizontalFlip"]
    assert flip.effective < 3 * CERTAIN or "ImagingFlipLeftRight" in sampled(flip)


def test_nothing_is_misplaced_in_detection(detection):
    homes = {"Load": lambda function: function.library.startswith("libjpeg.so") or "Jpeg" in function.name,
             "Resize": lambda function: function.name.startswith("ImagingResample")}
    for run in detection.maps:
        for home, chosen in homes.items():
            assert run.ops_with(chosen) == {home}
        assert run.ops_with(lambda function: function.name.startswith("ImagingFlip")) <= {"RandomHorizontalFlip"}


def test_two_runs_of_detection_agree(detection):
    assert_agreement(detection, 4)
