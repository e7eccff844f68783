"""What is no cause in the loader, memory, and two causes at once."""
import pytest

import situations


@pytest.mark.parametrize("cause, name", [("training", "training_is_the_limit"), ("suspended", "stopped_for_a_while"),
                                         ("suspended", "stopped_in_a_step")])
def test_no_cause_in_the_loader(cause, name, tracer):
    situations.is_told(tracer, cause, name, "beyond")


@pytest.mark.parametrize("name", ["names"])
def test_memory(name, tracer):
    situations.is_told(tracer, "memory", name)


@pytest.mark.parametrize("larger, smaller, name", [
    ("startup", "op", "startup_and_op"),
    ("sampler", "op", "sampler_and_op"),
    ("lock", "own_code", "lock_and_own_code"),
    ("gc", "op", "garbage_and_op"),
])
def test_the_larger_of_two_is_told_first(larger, smaller, name, tracer):
    situations.larger_first(tracer, larger, smaller, name)
