# shellcheck shell=bash
# The rings of tests. Each prints one closing line with counts; a ring that ran nothing has failed.
# Sourced by dev.

default_rings=(unit conformance simulation process cli consumers interop layout bench-smoke format
    asan tsan fuzz check)

# Counts of the ring that runs, and of all.
passed=0 failed=0 skipped=0 passed_in_all=0 failed_in_all=0

test_command() {
    need_to_test
    if [[ $# -eq 0 ]]; then
        test_rings "${default_rings[@]}"
    else
        test_rings "$@"
    fi
}

test_rings() {
    local ring
    for ring in "$@"; do
        declare -F "ring_$ring" >/dev/null || fail "there is no ring '$ring'; see ./dev help"
    done
    for ring in "$@"; do
        run_ring "$ring"
    done
    echo "$passed_in_all passed, $failed_in_all failed"
    [[ $failed_in_all -eq 0 ]]
}

run_ring() {
    passed=0 failed=0 skipped=0
    local started=$SECONDS remark=""
    # A ring that breaks off, for example because it does not build, has failed besides its counts.
    "ring_$1" || [[ $failed -gt 0 ]] || { failed=1 remark=", broke off"; }
    [[ $((passed + failed)) -gt 0 ]] || { failed=1 remark=", ran nothing"; }
    echo "ring $1: $passed passed, $failed failed, $skipped skipped, $((SECONDS - started)) s$remark"
    passed_in_all=$((passed_in_all + passed))
    failed_in_all=$((failed_in_all + failed))
}

# Runs one check as one test case.
count() {
    echo "--- $*"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "--- FAILED: $*"
    fi
}

# run_ctest BUILD_DIR LABELS [COMMAND...]: all tests with one of the labels (a|b), counted. The
# command, if given, runs ctest.
run_ctest() {
    local report=$PWD/$1/ring-report.xml cases
    rm -f "$report"
    "${@:3}" ctest --test-dir "$1" -L "^($2)$" -j "$(nproc)" --output-on-failure \
        --output-junit "$report" --no-tests=error >"$1/ring.log" 2>&1 </dev/null ||
        grep -Ev '^ *Start |  Passed  |^$' "$1/ring.log" | tail -n 300
    [[ -f $report ]] || return 1
    # Text inside the report is escaped, so these marks are its own. A case that could not be
    # started is "notrun" without the mark of a chosen skip: it counts as failed.
    cases=$(grep -c '<testcase ' "$report") || true
    passed=$(grep -c '<testcase .*status="run"' "$report") || true
    skipped=$(grep -c '<skipped message="SKIP_' "$report") || true
    failed=$((cases - passed - skipped))
}

# show_output BUILD_DIR NAMES: what the tests of these names (a regular expression) printed.
show_output() {
    awk -v names="^$2\$" '
        /^[0-9]+\/[0-9]+ Testing: / { wanted = $3 ~ names }
        /^<end of output>/ { inside = 0 }
        inside && !/^-+$/
        /^Output:/ { inside = wanted }' "$1/Testing/Temporary/LastTest.log"
}

ring_of_dev() {
    build dev && run_ctest build "$1"
}

ring_unit() { ring_of_dev unit; }
ring_conformance() { ring_of_dev conformance; }
ring_simulation() {
    ring_of_dev simulation && show_output build 'simulation[.](seeds|small_worlds|planted_bugs)'
}
ring_process() { ring_of_dev process; }
ring_cli() { ring_of_dev cli; }
ring_consumers() { ring_of_dev consumers; }
ring_interop() {
    need_to_meet_peers
    ring_of_dev interop
}
ring_layout() { ring_of_dev layout; }

ring_asan() {
    build asan && run_ctest build-asan 'unit|conformance|simulation|process'
}

# Without the simulation, which has one thread. The thread sanitizer of GCC 12 cannot live with the
# address space layout of newer kernels.
ring_tsan() {
    local fixed_layout=()
    setarch -R true 2>/dev/null && fixed_layout=(setarch -R)
    build tsan && run_ctest build-tsan 'unit|conformance|process' "${fixed_layout[@]}"
}

ring_fuzz() {
    build fuzz fuzz_targets && run_ctest build-fuzz fuzz
}

ring_bench-smoke() {
    build dev && run_ctest build bench-smoke
}

ring_format() {
    count check_format
    count check_scripts
}

ring_check() {
    count check_tidy
}

# Not part of `./dev test`: what runs for hours, before a release.
ring_release() {
    build dev && run_ctest build release
}
