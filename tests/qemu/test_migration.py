"""qemu/lab/migration.py: the TSC rates of two machines against KVM's limit for a guest without TSC scaling."""
import pytest

from lab import migration

HZ = 2_900_000_000.0


def rate(ppm, within_ppm=0.4):
    value = HZ * (1 + ppm * 1e-6)
    return value, value * (1 - within_ppm * 1e-6), value * (1 + within_ppm * 1e-6)


@pytest.mark.parametrize("ppm, within_ppm, result", [
    (0, 0.4, migration.ALLOWED), (249, 0.4, migration.ALLOWED), (-249, 0.4, migration.ALLOWED), (251, 0.4, migration.NOT_ALLOWED),
    (-251, 0.4, migration.NOT_ALLOWED), (249, 5, migration.NOT_DETERMINED), (251, 5, migration.NOT_DETERMINED), (100_000, 5, migration.NOT_ALLOWED),
])
def test_a_pair_is_allowed_only_if_its_whole_interval_is_within_250_ppm(ppm, within_ppm, result):
    sentence = migration.describe_pair(("a", rate(0, within_ppm)), ("b", rate(ppm, within_ppm)))
    assert sentence.startswith(f"{result}: ")


def test_the_interval_contains_the_difference_in_both_directions():
    for first, second in ((rate(0), rate(249)), (rate(249), rate(0))):
        value, low, high = migration.calculate_difference_ppm(first, second)
        assert low < value < high and abs(abs(value) - 249) < 0.1 and 1.5 < high - low < 1.7


@pytest.mark.parametrize("unknown", [None, (None, None, None), (HZ, None, HZ), (0.0, 0.0, 0.0)])
def test_a_rate_that_was_not_measured_decides_nothing(unknown):
    assert migration.describe_pair(("a", rate(0)), ("b", unknown)) == "not determined: a rate was not measured"


def test_eight_machines_have_28_pairs_and_nine_have_no_line():
    machines = [(str(i), rate(i)) for i in range(9)]
    assert len(list(migration.describe_pairs(machines[:8]))) == 28
    assert not list(migration.describe_pairs(machines))
