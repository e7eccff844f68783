"""A loop that steps through several loaders at once is as long as it is, not as all of them together."""
import checks
import harness


def test_the_loop_is_counted_once(measured):
    both = measured("both", harness.program("loaders_at_once"))
    verdict = both.trace.report["verdict"]
    assert len(both.trace.report["loaders"]) == 2
    # The tracer starts its collector within the first call. Counted twice, the loop were twice as long.
    checks.near(verdict["loop_s"], both.truth["loop"], slack=0.2)
    checks.near(verdict["waited_s"], both.truth["waited"], slack=0.2)
    checks.near(verdict["waited_percent"], 100 * both.truth["waited"] / both.truth["loop"], share=0, slack=10)
