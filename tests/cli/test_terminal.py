"""holdfast run on a terminal, under an interactive shell with job control."""
import os
import re
import signal

import harness
from harness import Terminal


class JobControl(harness.Case):
    def setUp(self):
        super().setUp()
        self.terminal = Terminal(self)

    def start_recorder(self, signals, line="$H run --lock x -- $R $D {}"):
        self.terminal.type(line.format(" ".join(str(int(each)) for each in signals)) + "\n")
        return self.pid_in("pid")

    def wait_for_foreground(self, group):
        harness.wait_until(lambda: self.terminal.foreground() == group,
                           f"{group} to get the foreground")

    def test_the_command_is_the_foreground_job(self):
        command = self.start_recorder([])
        self.wait_for_foreground(command)
        os.kill(command, signal.SIGUSR2)
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 42)

    def test_control_c_reaches_the_command_once(self):
        self.start_recorder([signal.SIGINT])
        self.terminal.type("\x03")
        self.wait_for_note("SIGINT")
        os.kill(self.pid_in("pid"), signal.SIGUSR2)
        self.terminal.prompt()
        self.assertEqual(self.noted(), ["SIGINT"])

    def test_control_c_ends_command_and_run_as_one(self):
        command = self.start_recorder([])
        self.wait_for_foreground(command)
        self.terminal.type("\x03")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 128 + signal.SIGINT)
        self.assert_free()

    def test_control_c_ends_a_loop_in_a_script_too(self):
        script = self.file("script")
        script.write_text(f"#!/bin/bash\nwhile :; do {harness.PROGRAM} run --lock x -- "
                          f"{harness.RECORDER} {self.directory}; done\n")
        script.chmod(0o700)
        self.terminal.type("$D/script\n")
        self.wait_for_foreground(self.pid_in("pid"))
        self.terminal.type("\x03")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 128 + signal.SIGINT)

    def test_control_z_stops_both_and_fg_goes_on(self):
        command = self.start_recorder([signal.SIGINT])
        self.wait_for_foreground(command)
        for _ in range(2):
            self.terminal.type("\x1a")
            self.terminal.expect(r"Stopped")
            self.terminal.prompt()
            harness.wait_until_stopped(command)
            self.wait_for_foreground(self.terminal.pid)
            self.terminal.type("fg\n")
            self.wait_for_foreground(command)
            harness.wait_until_running(command)
        self.terminal.type("\x03")
        self.wait_for_note("SIGINT")
        self.assertEqual(self.noted(), ["SIGINT"])
        os.kill(command, signal.SIGUSR2)
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 42)

    def test_bg_lets_the_command_go_on_without_the_terminal(self):
        command = self.start_recorder([])
        self.wait_for_foreground(command)
        self.terminal.type("\x1a")
        self.terminal.expect(r"Stopped")
        self.terminal.prompt()
        self.terminal.type("bg\n")
        self.terminal.prompt()
        harness.wait_until_running(command)
        self.assertEqual(self.terminal.foreground(), self.terminal.pid)
        self.terminal.type("fg\n")
        harness.wait_until(lambda: self.terminal.foreground() != self.terminal.pid, "a job in front")
        os.kill(command, signal.SIGUSR2)
        self.terminal.prompt()
        self.assertEqual(self.terminal.foreground(), self.terminal.pid)

    def test_a_background_command_gets_the_terminal_when_it_asks_and_we_have_it(self):
        self.terminal.type(f"$H run --lock x -- sh -c 'read line; echo got=$line' &\n")
        self.terminal.expect(r"\[1\] \d+")
        harness.wait_until(lambda: self._is_stopped(), "the job to stop for input")
        self.terminal.type("fg\n")
        harness.wait_until(lambda: self.terminal.foreground() != self.terminal.pid, "a job in front")
        self.terminal.type("hello\n")
        self.terminal.expect(r"got=hello")
        self.terminal.prompt()

    def _is_stopped(self):
        self.terminal.type("jobs\n")
        return self.terminal.expect(r"\[1\]\+\s+(\w+)").group(1) == "Stopped"

    def test_a_neighbour_in_a_pipeline_keeps_the_terminal(self):
        self.terminal.type("$H run --lock x -- echo piped | "
                           "sh -c 'read l; read t < /dev/tty; echo $l and $t'\n")
        self.terminal.type("typed\n")
        self.terminal.expect(r"piped and typed")
        self.terminal.prompt()

    def test_control_c_in_a_pipeline_reaches_all_of_it(self):
        self.start_recorder([], "$H run --lock x -- $R $D | cat")
        self.terminal.type("\x03")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 128 + signal.SIGINT)

    def test_control_z_in_a_pipeline_stops_all_of_it(self):
        command = self.start_recorder([], "$H run --lock x -- $R $D | cat")
        self.terminal.type("\x1a")
        self.terminal.expect(r"Stopped")
        self.terminal.prompt()
        harness.wait_until_stopped(command)
        self.terminal.type("fg\n")
        harness.wait_until_running(command)
        os.kill(command, signal.SIGUSR2)
        self.terminal.prompt()

    def test_a_command_that_stops_its_own_group_stops_the_script_around_it(self):
        script = self.file("script")
        script.write_text(f"#!/bin/sh\n{harness.PROGRAM} run --lock x -- sh -c "
                          "'kill -TSTP 0; echo went on'\n")
        script.chmod(0o700)
        self.terminal.type("$D/script\n")
        self.terminal.expect(r"Stopped")
        self.terminal.prompt()
        self.terminal.type("fg\n")
        self.terminal.expect(r"went on\r")
        self.terminal.prompt()

    def test_a_shell_with_jobs_of_its_own_works_inside(self):
        self.terminal.type("PS1='INNER> ' $H run --lock x -- bash --norc --noprofile --noediting -i\n")
        self.terminal.expect(r"INNER> ")
        self.terminal.type("$R $D 2\n")
        self.wait_for_foreground(self.pid_in("pid"))
        self.terminal.type("\x1a")
        self.terminal.expect(r"Stopped")
        self.terminal.expect(r"INNER> ")
        self.terminal.type("kill -9 %1; fg\n")
        self.terminal.expect(r"INNER> ")
        self.terminal.type("exit 9\n")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 9)

    def test_a_stop_for_too_long_ends_the_command_and_fg_tells(self):
        command = self.start_recorder([signal.SIGCONT], "$H run --ttl 1s --lock x -- $R $D {}")
        self.wait_for_foreground(command)
        self.terminal.type("\x1a")
        self.terminal.expect(r"Stopped")
        self.terminal.prompt()
        harness.wait_until_ended(command)
        self.terminal.type("fg\n")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), harness.LOST)
        self.assertEqual(self.noted(), [])

    def test_a_killed_command_leaves_the_terminal_as_it_was(self):
        self.terminal.type(f"$H run --ttl 1s --lock x -- sh -c 'stty raw -echo; echo $$ > $D/pid; "
                           "trap \"\" TERM; while :; do sleep 1000; done'\n")
        self.pid_in("pid")
        token = self.ask("show", "x")["holders"][0]["token"]
        self.run_program("break", "x", "--yes", "--token", token)
        self.terminal.expect(r"killing the command")
        self.terminal.prompt()
        self.terminal.type("echo 'still' echoed\n")
        self.terminal.expect(r"echo 'still' echoed")
        self.terminal.expect(r"still echoed")


class WaitingOnTerminal(harness.Case):
    def setUp(self):
        super().setUp()
        self.terminal = Terminal(self)

    def test_a_live_line_tells_who_holds_the_lock_and_disappears(self):
        holder = self.hold("--label", "n\x1b[31mb")
        self.terminal.type("$H run --lock x -- echo done\n")
        line = self.terminal.expect(r"\rwaiting for x — held by (\S+) for [\d.]+ s, token \d+\x1b\[K")
        self.assertEqual(line.group(1), f"{os.uname().nodename}/{holder.pid}/n\\x1b[31mb")
        self.terminal.expect(r"\rwaiting for x — held by")
        self.let_go(holder)
        self.terminal.expect(r"\r\x1b\[Kdone")
        self.terminal.prompt()

    def test_the_line_counts_waiters_ahead(self):
        self.hold()
        self.start("run", "--lock", "x", "true")
        self.wait_for_waiters(1)
        self.terminal.type("$H run --lock x -- true\n")
        self.terminal.expect(r"token \d+, 1 waiter ahead")

    def test_quiet_shows_nothing(self):
        holder = self.hold()
        self.terminal.type("$H run -q --lock x -- echo done\n")
        self.wait_for_waiters(1)
        self.let_go(holder)
        before = self.terminal.seen
        self.terminal.expect(r"done\r")
        self.assertNotIn("waiting", before)

    def test_control_c_ends_the_wait(self):
        self.hold()
        self.terminal.type("$H run --lock x -- touch $D/ran\n")
        self.wait_for_waiters(1)
        self.terminal.type("\x03")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), 128 + signal.SIGINT)
        self.assertEqual(self.waiters(), [])
        self.assertFalse(self.file("ran").exists())

    def test_control_z_stops_the_wait_and_fg_goes_on(self):
        holder = self.hold()
        self.terminal.type("$H run --lock x -- echo done=\n")
        self.wait_for_waiters(1)
        self.terminal.type("\x1a")
        self.terminal.expect(r"Stopped")
        self.terminal.prompt()
        self.let_go(holder)
        self.terminal.type("fg\n")
        self.terminal.expect(r"done=\r")

    def test_break_asks_on_a_terminal(self):
        self.hold()
        token = self.ask("show", "x")["holders"][0]["token"]
        self.terminal.type(f"$H break x --token {token}\n")
        self.terminal.expect(re.escape(f"(token {token})? Work that it guards may still run. [y/N] "))
        self.terminal.type("n\n")
        self.terminal.expect(r"nothing was done")
        self.terminal.prompt()
        self.assertEqual(self.terminal.status(), harness.CONFLICT)
        self.terminal.type(f"$H break x --token {token}\n")
        self.terminal.expect(re.escape("[y/N] "))
        self.terminal.type("y\n")
        self.terminal.expect(r"ended the hold of")
        self.terminal.prompt()
        self.assertEqual(self.ask("show", "x")["holders"], [])

    def test_colours_are_for_terminals_and_not_for_those_who_refuse_them(self):
        self.hold()
        self.terminal.type("TERM=xterm $H list\n")
        self.terminal.expect(r"\x1b\[1mNAME")
        self.terminal.prompt()
        self.terminal.type("NO_COLOR=1 TERM=xterm $H list\n")
        self.terminal.expect(r"\r\nNAME")
        self.assertNotIn("\x1b", self.run_program("list").stdout)


if __name__ == "__main__":
    harness.main()
