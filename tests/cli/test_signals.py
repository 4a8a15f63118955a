"""holdfast run: signals, and the death of any of the processes."""
import os
import signal

import harness


class Forwarding(harness.Case):
    def recording(self, *signals, **how):
        process = self.start("run", "--lock", "x", "--", *self.recorder(*signals), **how)
        return process, self.pid_in("pid")

    def test_every_signal_that_can_be_forwarded_is(self):
        numbers = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
                   signal.SIGWINCH, signal.SIGALRM, signal.SIGPROF, signal.SIGVTALRM, signal.SIGIO,
                   signal.SIGURG, signal.SIGPWR, signal.SIGXCPU, signal.SIGPIPE]
        process, _ = self.recording(*numbers)
        for number in numbers:
            process.send_signal(number)
            self.wait_for_note(number.name)
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.end_of(process), (42, ""))
        self.assertEqual(sorted(self.noted()), sorted(number.name for number in numbers))

    def test_the_whole_process_group_of_the_command_gets_it(self):
        process = self.start("run", "--lock", "x", "--", "sh", "-c",
                             f"sleep 1000 & echo $! > {self.file('child')}; wait")
        child = self.pid_in("child")
        process.terminate()
        self.assertEqual(self.end_of(process)[0], -signal.SIGTERM)
        harness.wait_until_ended(child)

    def test_the_command_has_a_group_of_its_own_and_leads_it(self):
        process, command = self.recording()
        self.assertEqual(os.getpgid(command), command)
        self.assertNotEqual(os.getpgid(process.pid), command)

    def test_stop_and_continue_reach_the_command_and_come_back(self):
        process, command = self.recording()
        process.send_signal(signal.SIGTSTP)
        harness.wait_until_stopped(command)
        harness.wait_until_stopped(process.pid)
        process.send_signal(signal.SIGCONT)
        harness.wait_until_running(command)
        harness.wait_until_running(process.pid)

    def test_where_nobody_could_continue_it_a_stop_has_no_effect(self):
        process, command = self.recording(signal.SIGCONT, start_new_session=True)
        process.send_signal(signal.SIGTSTP)
        self.wait_for_note("SIGCONT")
        harness.wait_until_running(command)
        harness.wait_until_running(process.pid)

    def test_a_hangup_that_was_ignored_at_the_start_stays_ignored(self):
        holder = self.hold()
        waiter = self.start("run", "--lock", "x", "--", "true",
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_waiters(1)
        waiter.send_signal(signal.SIGHUP)
        self.let_go(holder)
        self.assertEqual(self.end_of(waiter), (0, ""))


class Waiting(harness.Case):
    def test_a_signal_ends_the_wait_and_leaves_nothing_behind(self):
        self.hold()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
                       signal.SIGUSR1):
            with self.subTest(signal=number.name):
                waiter = self.start("run", "--lock", "x", "--", "touch", self.file("ran"))
                self.wait_for_waiters(1)
                waiter.send_signal(number)
                self.assertEqual(self.end_of(waiter), (-number, ""))
                self.assertEqual(self.waiters(), [])
        self.assertFalse(self.file("ran").exists())

    def test_killing_a_waiter_leaves_the_queue_to_the_others(self):
        holder = self.hold()
        first = self.start("run", "--lock", "x", "--", "true")
        self.wait_for_waiters(1)
        second = self.start("run", "--lock", "x", "--", "true")
        self.wait_for_waiters(2)
        first.kill()
        self.let_go(holder)
        self.assertEqual(self.end_of(second), (0, ""))


class Deaths(harness.Case):
    def family(self, *options):
        """A run with a child, a grandchild and one that left the process group."""
        script = (f"sleep 1000 & echo $! > {self.file('grandchild')}; "
                  f"setsid sh -c 'echo $$ > {self.file('apart')}; exec sleep 1000' & "
                  f"echo $$ > {self.file('command')}; wait")
        process = self.start("run", "--lock", "x", *options, "--", "sh", "-c", script)
        return process, [self.pid_in(name) for name in ("command", "grandchild", "apart")]

    def test_kill_9_of_the_run_kills_all_that_it_started_before_the_lock_is_free(self):
        process, family = self.family()
        guard = harness.parent_of(family[0])
        next_one = self.start("run", "--lock", "x", "--", "sh", "-c", "; ".join(
            f"test -e /proc/{pid} && ! grep -q '^State:.Z' /proc/{pid}/status && echo {pid}"
            for pid in family) + "; true")
        self.wait_for_waiters(1)
        process.kill()
        out, _ = next_one.communicate(timeout=harness.PATIENCE)
        self.assertEqual((next_one.returncode, out), (0, ""))
        harness.wait_until_ended(guard)

    def test_kill_9_of_the_guard_kills_all_and_ends_the_run(self):
        process, family = self.family()
        os.kill(harness.parent_of(family[0]), signal.SIGKILL)
        code, err = self.end_of(process)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertIn("guard process was killed", err)
        for pid in family:
            self.assertFalse(harness.is_alive(pid))
        self.assert_free()

    def test_kill_9_of_the_command_is_its_end_like_any_other(self):
        process, family = self.family()
        os.kill(family[0], signal.SIGKILL)
        self.assertEqual(process.wait(harness.PATIENCE), -signal.SIGKILL)
        for pid in family[1:]:
            os.kill(pid, signal.SIGKILL)

    def test_a_command_that_ignores_term_can_be_killed_with_the_run(self):
        process = self.start("run", "--lock", "x", "--", *self.recorder(signal.SIGTERM))
        command = self.pid_in("pid")
        process.terminate()
        self.wait_for_note("SIGTERM")
        process.kill()
        harness.wait_until_ended(command)

    def test_a_stopped_command_dies_with_the_run(self):
        process, family = self.family()
        os.kill(family[0], signal.SIGSTOP)
        harness.wait_until_stopped(family[0])
        process.kill()
        for pid in family:
            harness.wait_until_ended(pid)


if __name__ == "__main__":
    harness.main()
