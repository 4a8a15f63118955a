"""holdfast run: what happens to the command when its lock is lost or about to be."""
import os
import pathlib
import signal
import sqlite3

import harness
from harness import LOST


class Loss(harness.Case):
    def block_the_store(self):
        """No renewal gets through any more: another process's transaction is in the way."""
        path = pathlib.Path(self.store.removeprefix("sqlite:"))
        blocker = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(blocker.close)
        blocker.execute("BEGIN IMMEDIATE")

    def recording(self, *options):
        process = self.start("run", "--lock", "x", *options, "--",
                             *self.recorder(signal.SIGTERM, signal.SIGCONT))
        return process, self.pid_in("pid")

    def deadline(self):
        """When the store will let somebody else have it, at the earliest."""
        return harness.boot_time() + self.ask("show", "x")["holders"][0]["remaining_ms"] / 1000

    def break_it(self):
        token = self.ask("show", "x")["holders"][0]["token"]
        done = self.run_program("break", "x", "--token", token, "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_command_that_ignores_term_is_dead_before_the_hold_ends(self):
        process, command = self.recording("--ttl", "3s", "--grace", "500ms")
        self.block_the_store()
        # Renewed at most a moment ago, so from now on it lasts at most the whole ttl.
        latest = harness.boot_time() + 3
        harness.wait_until_ended(command)
        self.assertLess(harness.boot_time(), latest)
        self.assertIn("SIGTERM", self.noted())
        code, err = self.end_of(process)
        self.assertEqual(code, LOST)
        self.assertIn("asking the command to end", err)
        self.assertIn("killing the command", err)

    def test_a_command_that_obeys_term_ends_the_run_at_once_with_the_code_for_loss(self):
        process = self.start("run", "--lock", "x", "--ttl", "3s", "--", "sh", "-c",
                             f"echo $$ > {self.file('pid')}; trap 'exit 5' TERM; "
                             "while :; do sleep 0.01; done")
        self.pid_in("pid")
        self.block_the_store()
        code, err = self.end_of(process)
        self.assertEqual(code, LOST)
        self.assertNotIn("killing", err)

    def test_what_left_the_process_group_is_ended_too(self):
        process = self.start("run", "--lock", "x", "--ttl", "1s", "--", "sh", "-c",
                             f"setsid sh -c 'echo $$ > {self.file('apart')}; trap \"\" TERM; "
                             f"while :; do sleep 1000; done' & wait")
        apart = self.pid_in("apart")
        self.block_the_store()
        self.assertEqual(self.end_of(process)[0], LOST)
        self.assertFalse(harness.is_alive(apart))

    def test_stopped_processes_are_ended_too(self):
        process = self.start("run", "--lock", "x", "--ttl", "1s", "--", "sh", "-c",
                             f"sleep 1000 & echo $! > {self.file('child')}; wait")
        child = self.pid_in("child")
        os.kill(child, signal.SIGSTOP)
        harness.wait_until_stopped(child)
        self.block_the_store()
        self.assertEqual(self.end_of(process)[0], LOST)
        self.assertFalse(harness.is_alive(child))

    def test_a_stopped_command_stops_the_run_and_is_ended_at_the_deadline(self):
        process, command = self.recording("--ttl", "1s")
        os.kill(command, signal.SIGSTOP)
        harness.wait_until_stopped(process.pid)
        harness.wait_until_ended(command)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.end_of(process)[0], LOST)
        self.assertEqual(self.noted(), [])

    def test_kill_gives_no_warning(self):
        process, _ = self.recording("--ttl", "1s", "--on-lost", "kill")
        self.block_the_store()
        self.assertEqual(self.end_of(process)[0], LOST)
        self.assertNotIn("SIGTERM", self.noted())

    def test_a_hook_runs_instead_of_term(self):
        hook = self.file("hook")
        hook.write_text(f"#!/bin/sh\necho $1 $HOLDFAST_LOCK > {self.file('told')}\nkill -USR2 $1\n")
        hook.chmod(0o700)
        process, command = self.recording("--ttl", "2s", "--on-lost", f"exec:{hook}")
        self.block_the_store()
        self.assertEqual(self.end_of(process)[0], LOST)
        self.assertEqual(self.content("told"), f"{command} x")
        self.assertNotIn("SIGTERM", self.noted())

    def test_ignore_lets_the_command_run_on_and_says_so(self):
        process, command = self.recording("--ttl", "1s", "--on-lost", "ignore")
        self.break_it()
        told = harness.wait_until(process.stderr.readline, "a line about the loss")
        self.assertIn("runs on without it", told)
        self.assertTrue(harness.is_alive(command))
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.end_of(process)[0], 42)

    def test_a_broken_lock_kills_the_command_as_soon_as_it_is_known(self):
        process, command = self.recording("--ttl", "1s")
        self.break_it()
        code, err = self.end_of(process)
        self.assertEqual(code, LOST)
        self.assertIn("the lock was lost (removed)", err)
        self.assertFalse(harness.is_alive(command))

    def test_a_command_that_ended_on_a_broken_lock_is_no_success(self):
        process, _ = self.recording("--ttl", "60s")
        self.break_it()
        process.send_signal(signal.SIGUSR2)
        code, err = self.end_of(process)
        self.assertEqual(code, LOST)
        self.assertIn("lost before", err)

    def test_a_run_that_is_stopped_for_too_long_does_not_let_the_command_run_on(self):
        process, command = self.recording("--ttl", "3s")
        process.send_signal(signal.SIGSTOP)
        deadline = self.deadline()
        harness.wait_until_ended(command)
        self.assertLess(harness.boot_time(), deadline)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.end_of(process)[0], LOST)

    def test_renewal_keeps_the_command_alive_past_its_ttl(self):
        process, command = self.recording("--ttl", "300ms")
        first = self.deadline()
        harness.wait_until(lambda: harness.boot_time() > first + 1, "the first ttl to be over")
        self.assertTrue(harness.is_alive(command))
        self.assertEqual(self.noted(), [])
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.end_of(process), (42, ""))


if __name__ == "__main__":
    harness.main()
