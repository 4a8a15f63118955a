"""A store in a library of its own: holdfast becomes its twin, and nothing else is different."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import harness
from harness import CONFLICT, STORE_FAILED, USAGE, wait_until


class Redis(harness.Case):
    def setUp(self):
        super().setUp()
        self.socket = self.file("r.sock")
        self.store = f"redis+unix://{self.socket}"
        self.environment["HOLDFAST_STORE"] = self.store
        log = self.file("redis.log").open("w")
        self.addCleanup(log.close)
        server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
             "--daemonize", "no", "--dir", self.directory],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_until(self.server_answers, "redis-server to come up")

    def server_answers(self):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64) == b"+PONG\r\n"
            except OSError:
                return False

    def test_the_commands_own_code_is_passed_on(self):
        del self.environment["HOLDFAST_STORE"]
        done = self.run_program("run", "--store", self.store, "--lock", "x", "--",
                                "sh", "-c", "exit 7")
        self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_the_store_can_be_named_by_the_environment(self):
        done = self.run_program("run", "--lock", "x", "--", "sh", "-c", "echo $HOLDFAST_STORE")
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.store}\n"), done.stderr)

    def test_a_held_lock_without_waiting_is_a_conflict(self):
        self.hold()
        done = self.run_program("run", "--lock", "x", "--wait", "0", "--", "touch",
                                self.file("ran"))
        self.assertEqual(done.returncode, CONFLICT, done.stderr)
        self.assertFalse(self.file("ran").exists())

    def test_list_and_show_tell_the_holder(self):
        holder = self.hold()
        locks = self.ask("list")["locks"]
        self.assertEqual([lock["name"] for lock in locks], ["x"])
        self.assertIn(str(holder.pid), self.ask("show", "x")["holders"][0]["owner"])
        self.assertIn("x", self.run_program("show", "x").stdout)
        self.let_go(holder)
        self.assert_free()

    def test_break_ends_the_hold_that_was_seen(self):
        self.hold()
        token = self.ask("show", "x")["token"]
        done = self.run_program("break", "x", "--token", str(int(token) + 1), "--yes")
        self.assertEqual(done.returncode, CONFLICT, done.stderr)
        self.assertEqual(self.ask("break", "x", "--token", token, "--yes")["ended"]["token"], token)
        self.assert_free()

    def test_it_stays_the_process_that_was_started(self):
        holder = self.hold()
        name = pathlib.Path(f"/proc/{holder.pid}/comm").read_text(encoding="ascii")
        self.assertEqual(name, "holdfast\n")
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(holder)[0], -signal.SIGTERM)
        self.assert_free()


class Missing(harness.Case):
    def run_on(self, store, *options, program=harness.PROGRAM):
        words = ["run", "--store", store, "--lock", "x", *options, "--", "true"]
        return subprocess.run([program, *words], env=self.environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=harness.PATIENCE)

    def test_a_server_that_is_not_there(self):
        store = f"redis+unix://{self.directory}/none.sock"
        begin = time.monotonic()
        for options in (["-n"], ["--wait", "0.1"]):
            done = self.run_on(store, *options)
            self.assertEqual(done.returncode, STORE_FAILED, done.stderr)
            self.assertRegex(done.stderr, r"^holdfast: x: [^\n]+none\.sock[^\n]*\n$")
        done = self.run_program("list", "--store", store)
        self.assertEqual(done.returncode, STORE_FAILED, done.stderr)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_store_that_there_is_not(self):
        done = self.run_on("redisx://host")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertRegex(done.stderr, r'^holdfast: [^\n]*no store for "redisx:"[^\n]+\n$')

    def test_a_scheme_that_the_stores_library_does_not_have(self):
        done = self.run_on("redis+pigeon://host")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertRegex(done.stderr, r"libholdfast-redis\.so does not have it.*known here: .*redis")

    def test_a_twin_that_is_not_installed_is_named(self):
        alone = self.file("bin") / "holdfast"
        alone.parent.mkdir()
        shutil.copy(harness.PROGRAM, alone)
        done = self.run_on("redis://host", program=alone)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertRegex(done.stderr, r'^holdfast: no store for "redis:" [^\n]+/holdfast-networked,'
                                      rf"[^\n]+{os.strerror(2)}\n$")
        self.assertEqual(self.run_on(self.store, program=alone).returncode, 0)


if __name__ == "__main__":
    harness.main()
