"""holdfast run: what the command sees, and with what the run ends."""
import json
import os
import signal
import subprocess

import harness
from harness import CONFLICT, LOST, NOT_EXECUTABLE, NOT_FOUND, STORE_FAILED, TIMED_OUT


class ExitCodes(harness.Case):
    def test_the_commands_own_code_is_passed_on(self):
        for code in (0, 1, 2, 7, 64, 126, 127, 130, 193, 255):
            with self.subTest(code=code):
                done = self.run_program("run", "--lock", "x", "--", "sh", "-c", f"exit {code}")
                self.assertEqual((done.returncode, done.stderr), (code, ""))

    def test_death_by_a_signal_is_passed_on_as_such(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, 35):
            with self.subTest(signal=number):
                done = self.run_program("run", "--lock", "x", "--", "sh", "-c",
                                        f"kill -{int(number)} $$")
                self.assertEqual(done.returncode, -number)

    def test_a_shell_sees_death_by_a_signal_as_128_and_its_number(self):
        done = subprocess.run(
            ["sh", "-c", f"{harness.PROGRAM} run --lock x -- sh -c 'kill -TERM $$'; echo $?"],
            env=self.environment, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "143\n")

    def test_a_held_lock_without_waiting_is_a_conflict(self):
        self.hold()
        for words in (["-n"], ["--wait", "0"], ["--nonblock"], ["-w", "0s"]):
            done = self.run_program("run", "--lock", "x", *words, "--", "touch", self.file("ran"))
            self.assertEqual(done.returncode, CONFLICT, done.stderr)
            self.assertRegex(done.stderr, r"^holdfast: x: .*held by .*\n$")
        self.assertFalse(self.file("ran").exists())

    def test_a_wait_that_is_over_has_a_code_of_its_own(self):
        self.hold()
        done = self.run_program("run", "--lock", "x", "-w", "0.05", "--", "touch", self.file("ran"))
        self.assertEqual(done.returncode, TIMED_OUT, done.stderr)
        self.assertFalse(self.file("ran").exists())
        self.assertEqual(self.waiters(), [])

    def test_the_code_for_both_can_be_chosen(self):
        self.hold()
        for words, code in ((["-n", "-E", "1"], 1), (["-w", "10ms", "-E", "0"], 0),
                            (["-n", "--conflict-exit-code", "75"], 75)):
            done = self.run_program("run", "--lock", "x", *words, "--", "true")
            self.assertEqual(done.returncode, code)

    def test_a_store_that_cannot_be_opened(self):
        file = self.file("file")
        file.write_text("this is no database, whatever its name may say " * 100)
        done = self.run_program("run", "--store", f"sqlite:{file}", "--lock", "x", "--", "true")
        self.assertEqual(done.returncode, STORE_FAILED, done.stderr)
        self.assertRegex(done.stderr, r"^holdfast: .+\n$")

    def test_a_command_that_does_not_exist_or_is_no_program(self):
        done = self.run_program("run", "--lock", "x", "--", "no-such-command")
        self.assertEqual(done.returncode, NOT_FOUND)
        self.assertEqual(done.stderr,
                         "holdfast: cannot run 'no-such-command': No such file or directory\n")
        self.file("text").write_text("true\n")
        done = self.run_program("run", "--lock", "x", "--", str(self.file("text")))
        self.assertEqual(done.returncode, NOT_EXECUTABLE)
        self.assertEqual(self.run_program("run", "--lock", "x", "--", "/").returncode,
                         NOT_EXECUTABLE)
        self.assert_free()


class Command(harness.Case):
    def output(self, *words, **how):
        done = self.run_program("run", *words, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_standard_input_and_output_are_the_callers(self):
        self.assertEqual(self.output("--lock", "x", "--", "cat", input="a\nb"), "a\nb")
        done = self.run_program("run", "--lock", "x", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))

    def test_no_marker_is_needed_and_the_commands_options_stay_its_own(self):
        self.assertEqual(self.output("--lock", "x", "echo", "--lock", "y", "-n", "--", "--help"),
                         "--lock y -n -- --help\n")
        self.assertEqual(self.output("--lock", "x", "--", "echo", "--", "a"), "-- a\n")
        self.assertEqual(self.output("--lock", "x", "echo", "list", "run"), "list run\n")
        self.assertEqual(self.output("--lock", "x", "echo", ""), "\n")

    def test_no_shell_comes_between(self):
        self.assertEqual(self.output("--lock", "x", "--", "echo", "$HOME", "`id`", "a  b", "*"),
                         "$HOME `id` a  b *\n")

    def test_a_string_is_run_by_the_shell(self):
        self.environment["SHELL"] = "/bin/bash"
        self.assertEqual(self.output("--lock", "x", "-c", "echo $BASH | cat; exit 0"), "/bin/bash\n")
        del self.environment["SHELL"]
        self.assertEqual(self.output("--lock", "x", "--command", "echo $0"), "/bin/sh\n")

    def test_the_environment_tells_lock_token_and_deadline(self):
        before = harness.boot_time()
        self.environment["HOLDFAST_TOKENS"] = "stale"
        self.environment["HOLDFAST_OF_MINE"] = "kept"
        text = self.output("--lock", "stock:1001", "--ttl", "20s", "--", "env")
        variables = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        self.assertEqual(variables["HOLDFAST_LOCK"], "stock:1001")
        self.assertEqual(bytes.fromhex(variables["HOLDFAST_LOCK_HEX"]), b"stock:1001")
        token = int(variables["HOLDFAST_TOKEN"])
        self.assertGreater(token, 0)
        self.assertEqual(variables["HOLDFAST_TOKENS"], f"stock:1001={token}")
        self.assertEqual(variables["HOLDFAST_STORE"], self.store)
        self.assertEqual(variables["HOLDFAST_OF_MINE"], "kept")
        self.assertTrue(18 < float(variables["HOLDFAST_EXPIRES_IN"]) <= 20)
        deadline = int(variables["HOLDFAST_DEADLINE"]) / 1e9
        self.assertTrue(before + 15 < deadline < harness.boot_time() + 20)

    def test_tokens_rise(self):
        tokens = [int(self.output("--lock", "x", "--", "printenv", "HOLDFAST_TOKEN"))
                  for _ in range(3)]
        self.assertEqual(sorted(set(tokens)), tokens)

    def test_several_locks_are_held_together(self):
        text = self.output("-l", "b", "-l", "a", "--lock", "b", "--", "sh", "-c",
                           f'echo "$HOLDFAST_TOKENS"; {harness.PROGRAM} list --json')
        lines, listed = text.rsplit("\n", 2)[0].splitlines(), json.loads(text.splitlines()[-1])
        self.assertEqual([line.split("=")[0] for line in lines], ["a", "b"])
        held = {lock["name"]: lock["holders"][0]["token"] for lock in listed["locks"]}
        self.assertEqual([f"{name}={token}" for name, token in sorted(held.items())], lines)

    def test_several_locks_are_had_all_or_none(self):
        self.hold(lock="b")
        done = self.run_program("run", "-n", "--lock", "a", "--lock", "b", "--", "true")
        self.assertEqual(done.returncode, CONFLICT)
        self.assert_free("a")

    def test_the_token_can_be_read_from_a_descriptor(self):
        text = self.output("--lock", "x", "--token-fd", "9", "--", "bash", "-c",
                           "cat <&9; printenv HOLDFAST_TOKEN")
        first, second = text.splitlines()
        self.assertEqual(first, second)

    def test_no_other_descriptor_leaks_into_the_command(self):
        text = self.output("--lock", "x", "--", "ls", "-l", "/proc/self/fd")
        numbers = [line.split()[-3] for line in text.splitlines() if "->" in line]
        self.assertEqual([number for number in numbers if int(number) > 3], [])

    def test_signal_mask_and_dispositions_are_as_they_were(self):
        def prepare():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        look = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]
        plain = subprocess.run(look, stdout=subprocess.PIPE, preexec_fn=prepare, text=True,
                               check=False).stdout
        self.assertEqual(self.output("--lock", "x", "--", *look, preexec_fn=prepare), plain)

    def test_shared_holds_go_together_and_exclude_exclusive_ones(self):
        self.hold("-s")
        self.assertEqual(self.output("-s", "-n", "--lock", "x", "echo", "in"), "in\n")
        self.assertEqual(self.run_program("run", "-n", "--lock", "x", "true").returncode, CONFLICT)

    def test_permits_are_counted(self):
        self.hold("--permits", "2/3")
        self.assertEqual(self.output("-n", "--permits", "1/3", "--lock", "x", "echo", "in"), "in\n")
        done = self.run_program("run", "-n", "--permits", "2/3", "--lock", "x", "true")
        self.assertEqual(done.returncode, CONFLICT)

    def test_the_lock_is_free_when_the_run_ends(self):
        self.output("--lock", "x", "true")
        self.assert_free()

    def test_what_the_command_leaves_behind_does_not_keep_the_lock(self):
        self.output("--lock", "x", "--", "sh", "-c",
                    f"sleep 1000 >/dev/null 2>&1 & echo $! > {self.file('left')}")
        left = self.pid_in("left")
        self.addCleanup(os.kill, left, signal.SIGKILL)
        self.assertTrue(harness.is_alive(left))
        self.assert_free()

    def test_a_waiting_run_gets_the_lock_when_it_is_free(self):
        holder = self.hold()
        waiter = self.start("run", "--lock", "x", "--", "true")
        self.wait_for_waiters(1)
        self.let_go(holder)
        self.assertEqual(self.end_of(waiter), (0, ""))

    def test_label_and_place_of_the_holder_are_shown(self):
        holder = self.hold("--label", "night job")
        owner = self.ask("show", "x")["holders"][0]["owner"]
        self.assertEqual(owner, f"{os.uname().nodename}/{holder.pid}/night job")

    def test_json_tells_in_one_line_how_it_ended(self):
        done = self.run_program("run", "--json", "--lock", "a\tb", "--", "sh", "-c", "exit 3")
        told = json.loads(done.stderr)
        self.assertEqual((told["result"], told["exit_code"], told["signal"]), ("ended", 3, None))
        self.assertEqual(told["locks"][0]["name"], "a\\x09b")
        self.assertEqual(bytes.fromhex(told["locks"][0]["name_hex"]), b"a\tb")
        self.hold()
        done = self.run_program("run", "--json", "-n", "--lock", "x", "true")
        self.assertEqual(json.loads(done.stderr.splitlines()[-1])["result"], "busy")

    def test_verbose_tells_without_a_terminal_and_nothing_else_does(self):
        holder = self.hold()
        waiter = self.start("run", "-v", "--lock", "x", "--", "true")
        self.wait_for_waiters(1)
        told = harness.wait_until(waiter.stderr.readline, "a line about the wait")
        self.assertRegex(told, r"^holdfast: waiting for x — held by .*, token \d+\n$")
        self.let_go(holder)
        code, err = self.end_of(waiter)
        self.assertEqual(code, 0)
        self.assertRegex(err, r"^holdfast: holding x=\d+ after .*\n$")

    def test_a_hook_that_cannot_be_had_is_no_reason_to_lose_the_code(self):
        self.assertNotEqual(self.run_program("run", "--lock", "x", "--on-lost", "exec:nothing", "--",
                                             "true").returncode, LOST)


if __name__ == "__main__":
    harness.main()
