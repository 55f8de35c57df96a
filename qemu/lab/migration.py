"""Says whether a guest may move between two machines without TSC scaling, by the machines' measured TSC rates."""
import itertools

# Linux arch/x86/kvm/x86.c: kvm_set_tsc_khz() scales the TSC only if the guest's rate differs from the host's by more than
# the parameter tsc_tolerance_ppm, by default 250.
LIMIT_PPM = 250.0
MACHINES_MAX = 8  # with more machines, the pairs would fill the summary
ALLOWED, NOT_ALLOWED, NOT_DETERMINED = "allowed", "not allowed", "not determined"


def calculate_difference_ppm(guest, host):
    """Return (value, low, high): by how many ppm the rate GUEST is above the rate HOST. Both are (value, low, high) in Hz, or
    None. Return None if a rate is not known.
    """
    if any(rate is None or None in rate or not 0 < rate[1] <= rate[0] <= rate[2] for rate in (guest, host)):
        return None
    return tuple((a / b - 1) * 1e6 for a, b in ((guest[0], host[0]), (guest[1], host[2]), (guest[2], host[1])))


def judge_difference(ppm):
    """Return whether KVM runs a guest without TSC scaling whose rate differs from the host's by PPM (value, low, high)."""
    if ppm is None:
        return NOT_DETERMINED
    _, low, high = ppm
    if -LIMIT_PPM <= low and high <= LIMIT_PPM:
        return ALLOWED
    return NOT_ALLOWED if low > LIMIT_PPM or high < -LIMIT_PPM else NOT_DETERMINED


def describe_pair(first, second):
    """Return a sentence on the machines FIRST and SECOND, which are (name, rate). A guest may move in both directions, so the
    worse of the two results counts.
    """
    differences = [calculate_difference_ppm(first[1], second[1]), calculate_difference_ppm(second[1], first[1])]
    results = {judge_difference(ppm) for ppm in differences}
    result = next(one for one in (NOT_ALLOWED, NOT_DETERMINED, ALLOWED) if one in results)
    if differences[0] is None:
        return f"{NOT_DETERMINED}: a rate was not measured"
    value, low, high = differences[0]
    return (f"{result}: the TSC of {first[0]} is {abs(value):.3f} ppm {'faster' if value > 0 else 'slower'} ({low:+.3f} to {high:+.3f}) than "
            f"that of {second[0]}; KVM's limit without TSC scaling is {LIMIT_PPM:g} ppm")


def describe_pairs(machines):
    """Yield (heading, sentence) for each pair of MACHINES, a list of (name, rate). Yield nothing for more than MACHINES_MAX."""
    if len(machines) <= MACHINES_MAX:
        for first, second in itertools.combinations(machines, 2):
            yield f"{first[0]} and {second[0]}", describe_pair(first, second)
