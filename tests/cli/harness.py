"""What the tests of the holdfast program share: running it, waiting for conditions, a terminal.

The program is named by HOLDFAST_PROGRAM. Nothing here sleeps to let things happen: every wait is for
a condition, with a deadline that is only reached when the test has failed.
"""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["HOLDFAST_PROGRAM"]
RECORDER = str(pathlib.Path(__file__).with_name("recorder.py"))
PATIENCE = 30.0

CONFLICT, TIMED_OUT, STORE_FAILED, LOST, USAGE = 193, 194, 195, 196, 197
NOT_EXECUTABLE, NOT_FOUND = 126, 127


def wait_until(condition, what):
    """The first true value of condition()."""
    deadline = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE} s in vain for: {what}")
        time.sleep(0.002)


def state_of(pid):
    """One letter as in ps, or None if there is no such process."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return stat[stat.rindex(")") + 2]


def is_alive(pid):
    return state_of(pid) not in (None, "Z", "X")


def wait_until_ended(pid):
    wait_until(lambda: not is_alive(pid), f"the end of process {pid}")


def wait_until_stopped(pid):
    wait_until(lambda: state_of(pid) == "T", f"process {pid} to stop")


def wait_until_running(pid):
    wait_until(lambda: state_of(pid) in ("R", "S"), f"process {pid} to go on")


def parent_of(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    return int(stat[stat.rindex(")") + 2:].split()[1])


def boot_time():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Case(unittest.TestCase):
    """A test with a directory and a store of its own."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-cli-"))
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.store = f"sqlite:{self.directory}/locks/holdfast.db"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")
        }
        self.environment["HOLDFAST_STORE"] = self.store

    def run_program(self, *words, **how):
        """Runs it to its end. Text in, text out."""
        how.setdefault("env", self.environment)
        how.setdefault("stdin", None if "input" in how else subprocess.DEVNULL)
        if how["stdin"] is None:
            del how["stdin"]
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True,
                              errors="surrogateescape", timeout=PATIENCE, check=False, **how)

    def start(self, *words, **how):
        """Starts it, in a process group of its own as a shell would; it is ended with the test."""
        how.setdefault("env", self.environment)
        how.setdefault("stdin", subprocess.DEVNULL)
        if "start_new_session" not in how:
            how.setdefault("process_group", 0)
        process = subprocess.Popen([PROGRAM, *words], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **how)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def end_of(self, process):
        """Exit code and standard error."""
        _, err = process.communicate(timeout=PATIENCE)
        return process.returncode, err

    def ask(self, *words):
        """The answer of a command in JSON."""
        done = self.run_program(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def file(self, name):
        return self.directory / name

    def content(self, name):
        """What is in a file, once there is a whole line."""
        path = self.file(name)

        def read():
            text = path.read_text() if path.exists() else ""
            return text if text.endswith("\n") else None
        return wait_until(read, f"content of {name}").rstrip("\n")

    def pid_in(self, name):
        return int(self.content(name))

    def hold(self, *options, lock="x"):
        """A run that holds the lock until its standard input is closed or it is ended."""
        holder = self.start("run", "--lock", lock, *options, "--", "sh", "-c",
                            f"echo $$ > {self.file('holder')}; read line", stdin=subprocess.PIPE)
        self.pid_in("holder")
        return holder

    def let_go(self, holder):
        self.file("holder").unlink()
        holder.communicate(timeout=PATIENCE)

    def waiters(self, lock="x"):
        return self.ask("show", lock)["waiters"]

    def wait_for_waiters(self, count, lock="x"):
        wait_until(lambda: len(self.waiters(lock)) == count, f"{count} waiters for {lock}")

    def assert_free(self, lock="x"):
        """Nothing is held and nobody waits, now."""
        found = self.ask("show", lock)
        self.assertEqual((found["holders"], found["waiters"]), ([], []))

    def recorder(self, *signals):
        """The command line of a process that notes in "signals" what it gets of these, and its pid
        in "pid". USR2 ends it."""
        return [RECORDER, str(self.directory), *(str(int(each)) for each in signals)]

    def noted(self):
        path = self.file("signals")
        return path.read_text().split() if path.exists() else []

    def wait_for_note(self, name, count=1):
        wait_until(lambda: self.noted().count(name) >= count, f"the command to get {name}")


class Terminal:
    """An interactive bash on a terminal of its own."""

    PROMPT = "READY> "

    def __init__(self, case):
        environment = dict(case.environment, PS1=self.PROMPT, TERM="dumb", HISTFILE="/dev/null",
                           H=PROGRAM, D=str(case.directory), R=RECORDER)
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        self.seen = ""
        case.addCleanup(self.close)
        self.expect(re.escape(self.PROMPT))

    def close(self):
        """Ends everything in the session, whatever group it is in."""
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.getsid(int(path.name)) == self.pid:
                    os.kill(int(path.name), signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.waitpid(self.pid, 0)
        os.close(self.master)

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        """Reads until the pattern appears; what came up to its end is used up."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"the terminal never showed {pattern!r}, but {self.seen!r}")
            self.seen += os.read(self.master, 65536).decode(errors="replace")

    def prompt(self):
        self.expect(re.escape(self.PROMPT))

    def status(self):
        """$? of the last line. Asked for in a way that its own echo does not answer."""
        self.type("echo status=$((0+$?))=\n")
        found = self.expect(r"status=(\d+)=")
        self.prompt()
        return int(found.group(1))

    def foreground(self):
        return os.tcgetpgrp(self.master)


def main():
    unittest.main(verbosity=2)
