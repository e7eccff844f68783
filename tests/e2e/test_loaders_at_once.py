"""A loop that steps through several loaders at once is as long as it is, not as all of them together."""
import checks
import harness


def test_the_loop_is_counted_once(measured):
    both = measured("both", harness.program("loaders_at_once"))
    verdict = both.trace.report["verdict"]
    assert len(both.trace.report["loaders"]) == 2
    checks.near(verdict["loop_s"], both.truth["loop"], share=0.05, slack=0.05)
    checks.near(verdict["waited_s"], both.truth["waited"], share=0.05, slack=0.05)
    checks.near(verdict["waited_percent"], 100 * both.truth["waited"] / both.truth["loop"], share=0, slack=5)
