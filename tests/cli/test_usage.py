"""Wrong command lines: refused before any traffic, in one line that tells what is allowed."""
import harness
from harness import USAGE


class Usage(harness.Case):
    def refused(self, *words, telling):
        done = self.run_program(*words)
        self.assertEqual(done.returncode, USAGE, (words, done.stdout, done.stderr))
        self.assertRegex(done.stderr, r"^holdfast: [^\n]+\n$")
        self.assertIn(telling, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(self.file("locks").exists(), f"{words} touched the store")

    def test_commands(self):
        self.refused(telling="a command is missing")
        self.refused("lokc", telling="there is no command 'lokc'; there are: run list")
        self.refused("\x1b[31m\n", telling="\\x1b[31m\\x0a")

    def test_run_without_what_it_needs(self):
        self.refused("run", "--", "true", telling="--lock NAME is missing")
        self.refused("run", "--lock", "x", telling="a COMMAND is missing")
        self.refused("run", "--lock", "x", "--", telling="a COMMAND is missing")
        self.refused("run", "--lock", telling="--lock")

    def test_names(self):
        self.refused("run", "--lock", "", "--", "true", telling="1 to 255 bytes")
        self.refused("run", "--lock=", "true", "--", "true", telling="the value is empty")
        self.refused("run", "--lock", "n" * 256, "true", telling="allowed: 1 to 255")
        self.refused("show", "n" * 1_000_00, telling="allowed: 1 to 255")
        self.refused("show", telling="NAME")
        self.refused("show", "a", "--lock-hex", "61", telling="name one lock")
        for digits in ("0", "0g", "zz"):
            self.refused("show", "--lock-hex", digits, telling="pairs of hexadecimal digits")
            self.refused("run", "--lock-hex", digits, "true", telling="hexadecimal digits")

    def test_durations(self):
        for text, telling in (("-1s", "it is negative"),
                              ("5 s", "at character 2"), ("1x", "there is no unit 'x'"),
                              ("1m1h", "from long to short"), ("99999999999999h", "too long"),
                              ("1e3", "no unit 'e'"), ("nan", "a number is missing"),
                              ("0.0000000001s", "finer than a nanosecond")):
            self.refused("run", "--lock", "x", f"--wait={text}", "true", telling=telling)
            self.refused("wait", "x", f"--wait={text}", telling="allowed: 1.5s, 200ms")
        self.refused("wait", "x", "--wait", "", telling="it is empty")

    def test_times_that_make_no_sense(self):
        for text in ("0", "0s", "forever", "inf"):
            self.refused("run", "--lock", "x", "--ttl", text, "true", telling="a hold needs an end")
        self.refused("run", "--lock", "x", "--ttl", "6s", "--grace", "3s", "true",
                     telling="a third of the ttl")
        self.refused("run", "--lock", "x", "-n", "-w", "1", "true", telling="exclude each other")

    def test_other_values(self):
        for text in ("3", "0/3", "4/3", "1/0", "a/b", "1/9999999", "1/2/3", "-1/2"):
            self.refused("run", "--lock", "x", f"--permits={text}", "true", telling="N/M")
        for text in ("256", "-1", "x", ""):
            self.refused("run", "--lock", "x", "-E", text, "true", telling="0 to 255")
        for text in ("0", "2", "x", "9999"):
            self.refused("run", "--lock", "x", "--token-fd", text, "true", telling="3 to 1023")
        self.refused("run", "--lock", "x", "--on-lost", "panic", "true", telling="exec:PROGRAM")
        self.refused("run", "--lock", "x", "--on-lost", "exec:", "true", telling="exec:PROGRAM")
        for text in ("0", "x", "-1", "1.5", "18446744073709551616"):
            self.refused("break", "x", f"--token={text}", "--yes", telling="decimal number")
        self.refused("break", "x", "--yes", telling="--token")

    def test_options_that_do_not_go_together(self):
        self.refused("run", "-s", "-x", "--lock", "x", "true", telling="exclude each other")
        self.refused("run", "-s", "--permits", "1/2", "--lock", "x", "true", telling="exclude")
        self.refused("run", "-s", "--lock", "x", "--lock", "y", "true", telling="several locks")
        self.refused("run", "-q", "-v", "--lock", "x", "true", telling="exclude each other")
        self.refused("run", "--lock", "x", "-c", "true", "true", telling="exclude each other")
        self.refused("run", "-F", "--lock", "x", "true", telling="stays beside the command")

    def test_unknown_options(self):
        self.refused("run", "--lokc", "x", "--", "true", telling="there is no option --lokc")
        self.refused("run", "--lock", "x", "-Z", "true", telling="there is no option -Z")
        self.refused("list", "--frobnicate", telling="--frobnicate")
        self.refused("show", "x", "y", telling="y")

    def test_a_password_on_the_command_line(self):
        self.refused("list", "--store", "redis://user:secret@host", telling="HOLDFAST_STORE")
        done = self.run_program("list", "--store", "redis://user:secret@host")
        self.assertNotIn("secret", done.stderr)

    def test_unknown_stores(self):
        for url in ("nosuch://host", "sqlite:x?colour=red"):
            self.refused("run", "--store", url, "--lock", "x", "true", telling="holdfast: ")

    def test_help_and_version(self):
        for words in (["--help"], ["-h"], ["help"], ["run", "--help"], ["list", "-h"]):
            done = self.run_program(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("holdfast", done.stdout)
        done = self.run_program("--version")
        self.assertRegex(done.stdout, r"^holdfast \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    harness.main()
