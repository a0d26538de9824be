"""The independent judge: the package onnx evaluates the right and the wrong model in float64 on many inputs. It says whether they
are the same function, and whether their difference lies above the limits on inputs like those that `verify` draws. It shares no
code with onnxport."""
import numpy
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

SAMPLES = 12  # of each kind of input
RTOL, ATOL = 1e-3, 1e-4  # the defaults of `verify`
TIGHT = 0.01  # an absolute limit above this share of an output's scale tells nothing ...
TIGHTENED = 1e-3  # ... and becomes this share
NEGLIGIBLE = 0.02  # of the limits: what an epsilon leaves of a factor that a normalization takes out again
MARGIN = 2  # a difference counts as one to be seen from here on; between 1 and this lies chance
SAME = 1e-9  # of the scale: what rounding in float64 explains


def widened(model):
    """The same model in float64. The scales of Resize stay float32, as the operator wants them."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    graph = wide.graph
    kept = {node.input[2] for node in graph.node if node.op_type == "Resize" and len(node.input) > 2}
    for tensor in graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.name not in kept:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float64), tensor.name))
    for value in [*graph.input, *graph.output]:
        value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    del graph.value_info[:]
    return wide


def evaluate(model, x):
    """The outputs in float64; None where the model cannot be evaluated."""
    wide = widened(model)
    try:
        with numpy.errstate(all="ignore"):
            return ReferenceEvaluator(wide).run(None, {wide.graph.input[0].name: x})
    except Exception:  # a fault may leave a model that no shape fits
        return None


class Judge:
    """Knows a right model's values on its inputs. `centre` and `spread`: where `verify` drew its values from, per channel."""

    def __init__(self, model, shape, seed, centre=0.0, spread=1.0):
        random = numpy.random.default_rng(seed)
        broad = (1, -1) + (1,) * (len(shape) - 1)
        drawn = random.uniform(-1, 1, (SAMPLES, *shape))
        self.like = numpy.reshape(centre, broad) + numpy.reshape(spread, broad) * drawn
        far = random.standard_normal((SAMPLES, *shape)) * numpy.geomspace(0.1, 30, SAMPLES).reshape(-1, *[1] * len(shape))
        self.inputs = numpy.concatenate([self.like, numpy.reshape(centre, broad) + far])
        self.right = evaluate(model, self.inputs)
        if self.right is None:
            raise ValueError("the judge cannot evaluate the right model")

    def look(self, model):
        """(same function, makes a difference, to be seen) of a wrong model. One that has no values, or of other shapes, is to be seen."""
        wrong = evaluate(model, self.inputs)
        if wrong is None or [w.shape for w in wrong] != [r.shape for r in self.right]:
            return False, True, True
        same = all(self.equal(r, w) for r, w in zip(self.right, wrong))
        apart = [self.of_limits(r[:SAMPLES], w[:SAMPLES]) for r, w in zip(self.right, wrong)]
        # Above the limits with a margin, in most samples: then the ten samples of a run cannot all miss it.
        visible = any((of.reshape(SAMPLES, -1).max(axis=1) > MARGIN).mean() > 0.5 for of in apart)
        return same, any((of > NEGLIGIBLE).any() for of in apart), not same and visible

    @staticmethod
    def equal(right, wrong):
        if not (numpy.isfinite(right) == numpy.isfinite(wrong)).all():
            return False
        finite = numpy.isfinite(right)
        scale = numpy.abs(right[finite]).max(initial=0)
        return bool((numpy.abs(right[finite] - wrong[finite]) <= SAME * scale).all())

    @staticmethod
    def of_limits(right, wrong):
        """The difference in each place, as a share of the limits there; infinite where only one is a number."""
        axes = tuple(axis for axis in range(right.ndim) if axis != 1)
        scale = numpy.abs(right).max(axis=axes, keepdims=True) if right.ndim > 1 else numpy.abs(right).max()
        atol = numpy.where(ATOL > TIGHT * scale, TIGHTENED * scale, ATOL)
        with numpy.errstate(all="ignore"):
            share = numpy.abs(right - wrong) / (atol + RTOL * numpy.abs(right))
        return numpy.where((right == wrong) | (numpy.isnan(right) & numpy.isnan(wrong)), 0, numpy.nan_to_num(share, nan=numpy.inf))
