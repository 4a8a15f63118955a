"""list, show, wait, break and doctor; hostile names; JSON."""
import json
import os
import pathlib
import sqlite3
import subprocess

import harness
from harness import CONFLICT, STORE_FAILED, TIMED_OUT, USAGE

# A name with everything that could do harm, and how it is shown.
HOSTILE = b"a\x1b[31m\n\r\\\xff\xe2\x80\xae\xc2\x9b\xc3\xa9 [b,c] %s {}"
SHOWN = "a\\x1b[31m\\x0a\\x0d\\\\\\xff\\xe2\\x80\\xae\\xc2\\x9b\u00e9 [b,c] %s {}"


class Looking(harness.Case):
    def test_an_empty_store(self):
        self.assertEqual(self.run_program("list").stdout, "no lock is held or waited for\n")
        self.assertEqual(self.ask("list")["locks"], [])
        self.assertFalse(self.ask("show", "x")["held"])
        self.assertIn("free", self.run_program("show", "x").stdout)

    def test_list_shows_held_locks_and_with_all_the_free_ones_too(self):
        self.hold(lock="stock:1")
        self.run_program("run", "--lock", "stock:2", "true")
        self.run_program("run", "--lock", "other", "true")
        names = [lock["name"] for lock in self.ask("list")["locks"]]
        self.assertEqual(names, ["stock:1"])
        names = [lock["name"] for lock in self.ask("list", "stock:", "--all")["locks"]]
        self.assertEqual(sorted(names), ["stock:1", "stock:2"])
        lines = self.run_program("list").stdout.splitlines()
        self.assertRegex(lines[0], r"^NAME +KIND +HELD BY +TOKEN +FOR +REMAINING +WAITERS$")
        self.assertRegex(lines[1], r"^stock:1 +mutex +\S+/\d+ +\d+ +\d\.\d s +\d+ s +0$")

    def test_show_tells_holder_token_and_waiters_in_order(self):
        holder = self.hold("--ttl", "40s")
        waiters = []
        for count in (1, 2):
            waiters.append(self.start("run", "--lock", "x", "--label", f"n{count}", "true"))
            self.wait_for_waiters(count)
        found = self.ask("show", "x")
        first = found["holders"][0]
        self.assertEqual(first["owner"].split("/")[:2], [os.uname().nodename, str(holder.pid)])
        self.assertIsInstance(first["token"], str)
        self.assertEqual(first["token"], found["token"])
        self.assertTrue(20000 < first["remaining_ms"] <= 40000)
        self.assertGreaterEqual(first["held_for_ms"], 0)
        self.assertTrue(first["process_bound"])
        self.assertEqual([each["owner"].split("/")[1:] for each in found["waiters"]],
                         [[str(each.pid), f"n{i + 1}"] for i, each in enumerate(waiters)])
        text = self.run_program("show", "x").stdout
        self.assertRegex(text, r"held by \S+ for .*, token \d+; ends in \d+ s unless renewed")
        self.assertRegex(text, r"waiter 1: \S+/n1 since .*\n  waiter 2: \S+/n2 since ")

    def test_hostile_names_and_labels_come_out_harmless_and_exact(self):
        self.start("run", "--lock", HOSTILE, "--label", HOSTILE, "--", "sh", "-c",
                            f"echo $$ > {self.file('holder')}; read line", stdin=subprocess.PIPE)
        self.pid_in("holder")
        for words in (["list"], ["show", "--", HOSTILE], ["show", "--lock-hex", HOSTILE.hex()]):
            text = self.run_program(*words).stdout
            self.assertEqual(text.count(SHOWN), 2, text)
            self.assertNotIn("\x1b", text)
        lock = self.ask("list")["locks"][0]
        self.assertEqual((lock["name"], lock["name_hex"]), (SHOWN, HOSTILE.hex()))
        self.assertTrue(lock["holders"][0]["owner"].endswith("/" + SHOWN))

    def test_every_byte_can_be_in_a_name(self):
        names = [bytes([byte]) for byte in range(256)] + [bytes(range(255)), b"--lock", b"-n", b""]
        for name in names[:-1]:
            done = self.run_program("run", f"--lock-hex={name.hex()}", "--", "sh", "-c",
                                    "echo $HOLDFAST_LOCK_HEX")
            self.assertEqual((done.stdout, done.stderr), (name.hex() + "\n", ""))
        for name in names[1:255]:
            done = self.run_program("run", b"--lock=" + name, "--", "printenv", "HOLDFAST_LOCK_HEX")
            self.assertEqual(done.stdout, name.hex() + "\n", done.stderr)
        listed = {lock["name_hex"] for lock in self.ask("list", "--all")["locks"]}
        self.assertEqual(listed, {name.hex() for name in names[:-1]})


class Wait(harness.Case):
    def test_a_free_lock_needs_no_wait_and_is_not_taken(self):
        self.assertEqual(self.run_program("wait", "x").returncode, 0)
        self.assertEqual(self.ask("wait", "x"), {"name": "x", "name_hex": "78", "held": False})
        self.assert_free()

    def test_a_held_lock(self):
        holder = self.hold()
        self.assertEqual(self.run_program("wait", "x", "-n").returncode, CONFLICT)
        done = self.run_program("wait", "x", "--wait", "20ms", "--json")
        self.assertEqual(done.returncode, TIMED_OUT)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "timed_out")
        waiter = self.start("wait", "x")
        self.assertIsNone(waiter.poll())
        self.let_go(holder)
        self.assertEqual(self.end_of(waiter), (0, ""))


class Break(harness.Case):
    def test_only_the_hold_that_was_seen_is_ended(self):
        self.hold()
        token = int(self.ask("show", "x")["token"])
        done = self.run_program("break", "x", "--token", str(token + 1), "--yes")
        self.assertEqual(done.returncode, CONFLICT, done.stderr)
        self.assertTrue(self.ask("show", "x")["held"])
        ended = self.ask("break", "x", "--token", str(token), "--yes")
        self.assertEqual(ended["ended"]["token"], str(token))
        self.assertRegex(ended["by"], rf"^\S+@{os.uname().nodename} pid \d+$")
        self.assertFalse(self.ask("show", "x")["held"])
        done = self.run_program("break", "x", "--token", str(token), "--yes")
        self.assertEqual(done.returncode, CONFLICT)

    def test_the_audit_trail_keeps_who_did_it(self):
        self.hold()
        token = self.ask("show", "x")["token"]
        self.ask("break", "x", "--token", token, "--yes")
        path = pathlib.Path(self.store.removeprefix("sqlite:"))
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        kept = "\n".join(database.iterdump())
        self.assertIn(f"@{os.uname().nodename} pid ", kept)

    def test_without_a_terminal_nobody_is_asked(self):
        self.hold()
        done = self.run_program("break", "x", "--token", self.ask("show", "x")["token"])
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--yes", done.stderr)
        self.assertTrue(self.ask("show", "x")["held"])


class Doctor(harness.Case):
    def test_a_good_store(self):
        self.run_program("run", "--lock", "x", "true")
        done = self.run_program("doctor")
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.assertIn("ok", done.stdout)
        told = json.loads(self.run_program("doctor", "--json").stdout)
        self.assertEqual(told["exit_code"], done.returncode)
        self.assertTrue(all(set(each) == {"severity", "subject", "text", "advice"}
                            for each in told["findings"]))

    def test_a_file_that_is_no_store(self):
        file = self.file("file")
        file.write_text("this is no database, whatever its name may say " * 100)
        done = self.run_program("doctor", "--store", f"sqlite:{file}")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stdout, r"error")
        done = self.run_program("doctor", "--store", "nosuch://host", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(json.loads(done.stdout)["findings"][0]["severity"], "error")

    def test_other_commands_say_plainly_that_the_store_failed(self):
        file = self.file("file")
        file.write_text("this is no database, whatever its name may say " * 100)
        for words in (["list"], ["show", "x"], ["wait", "x"],
                      ["break", "x", "--token", "1", "--yes"]):
            done = self.run_program(*words, "--store", f"sqlite:{file}")
            self.assertEqual(done.returncode, STORE_FAILED, done.stderr)
            self.assertRegex(done.stderr, r"^holdfast: .+\n$")


if __name__ == "__main__":
    harness.main()
