"""Runs the programs of tests/programs/situations and cases, and looks at what their reports name as the cause.

Only situations whose reports were right in all of several runs, beside other programs, are in the tests.
"""
import harness


def verdict_on(tracer, command):
    outcome, trace = tracer.trace(command)
    assert outcome.code == 0, outcome.stderr.decode()
    return trace.report["verdict"]


def traced(tracer, kind, name, variant):
    """The verdict on a situation."""
    return verdict_on(tracer, harness.program(f"situations/{kind}", name, variant))


def causes(verdict):
    """All causes that hold, the first one first."""
    return [judged["cause"] for judged in verdict["causes"]]


def is_told(tracer, cause, name, kind=None):
    """The cause is named first, with what it rests on; without the cause nothing of it is said. The verdict on the cause."""
    return _is_told(cause, lambda variant: traced(tracer, kind or cause, name, variant))


def case_is_told(tracer, cause, name, data):
    """Like is_told(), of a program of programs/cases."""
    _is_told(cause, lambda variant: verdict_on(tracer, harness.program(f"cases/{name}", variant, data=data)))


def _is_told(cause, verdict):
    bad = verdict("bad")
    assert bad["cause"] == cause, bad
    assert bad["evidence"], bad
    # Without it another operation takes most of the time, however little that is.
    subject = next((fact["value"] for fact in bad["evidence"] if fact["fact"] == "operation"), "")
    fix = verdict("fix")
    assert not any(judged["cause"] == cause and subject in judged["message"] for judged in fix["causes"]), fix
    return bad


def larger_first(tracer, larger, smaller, name):
    """Of two causes the larger one is told first; once it is mended, the smaller one."""
    bad = traced(tracer, "several", name, "bad")
    assert bad["cause"] == larger, bad
    assert bad["evidence"], bad
    fix = traced(tracer, "several", name, "fix")
    assert fix["cause"] == smaller, fix
    assert larger not in causes(fix), fix


def is_healthy(tracer, name):
    """Nothing is advised in the loader. On a busy machine that may be said."""
    verdict = traced(tracer, "healthy", name, "fix")
    assert verdict["cause"] in ("training", "balanced", "crowded"), verdict
    assert {advice["action"] for advice in verdict["advice"]} <= {"none", "train_step"}, verdict
