"""holdfast demo oversell: real runs, looked at from outside."""
import html.parser
import json
import pathlib
import signal
import sqlite3

import harness
from harness import STORE_FAILED, USAGE

ACTIONS = 2 * 10 * 2  # processes, threads, twice


def ms(run, at):
    """A time as the page writes it."""
    return f"{(at - run['started_ns']) / 1e6:.1f} ms"


class Page(html.parser.HTMLParser):
    """What a page refers to or runs, besides its own text."""

    def __init__(self, text):
        super().__init__()
        self.outside = []
        self.titles = []
        self._in_title = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title"
        for name, _ in attrs:
            if name in ("src", "href", "srcset", "data", "action", "style") or name[:2] == "on":
                self.outside.append((tag, name))

    def handle_data(self, data):
        if self._in_title:
            self.titles.append(data)
            self._in_title = False


class Oversell(harness.Case):
    def setUp(self):
        super().setUp()
        self.temporary = self.file("tmp")
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def demo(self, *words):
        """The report, and its runs by experiment and whether they were locked."""
        done = self.run_program("demo", "oversell", "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        return report, {(run["experiment"], run["locked"]): run for run in report["runs"]}

    def test_with_the_lock_there_is_one_row_and_no_piece_is_oversold(self):
        report, runs = self.demo()
        self.assertTrue(report["correct"])
        self.assertEqual(report["store"], self.store)
        phones, stock = runs["phones", True], runs["stock", True]
        self.assertEqual((phones["before"]["rows"], phones["after"]["rows"]), (0, 1))
        self.assertEqual((stock["before"]["stock"], stock["after"]["stock"]), (10, 0))
        self.assertEqual(stock["after"]["sales"], 10)
        for run in (phones, stock):
            self.assertEqual(len(run["actions"]), ACTIONS)
            self.assertEqual((run["overlapping_holds"], run["failures"], run["mistakes"]),
                             (0, 0, []))
            self.check_holds(run["actions"])

    def check_holds(self, actions):
        """Sorted by their tokens they are one after the other."""
        holds = sorted(actions, key=lambda action: int(action["token"]))
        self.assertEqual(len({hold["token"] for hold in holds}), ACTIONS)
        for before, after in zip(holds, holds[1:]):
            self.assertLessEqual(before["released_ns"], after["granted_ns"])

    def test_what_it_says_of_the_unprotected_run_adds_up(self):
        # Whether that run goes wrong is left to chance; what is said of it is not.
        _, runs = self.demo()
        phones, stock = runs["phones", False], runs["stock", False]
        self.assertEqual(phones["duplicates"], phones["after"]["rows"] - 1)
        self.assertEqual(len(phones["mistakes"]), phones["duplicates"])
        gone = stock["before"]["stock"] - stock["after"]["stock"]
        self.assertEqual(stock["lost_updates"], stock["after"]["sales"] - gone)
        self.assertEqual(len(stock["mistakes"]), stock["lost_updates"])
        for run in (phones, stock):
            self.assertEqual(run["correct"], not run["mistakes"])

    def test_what_is_kept_is_what_was_said(self):
        report, runs = self.demo("--keep")
        for (experiment, locked), run in runs.items():
            kind = "with-lock" if locked else f"without-lock-{run['attempt']}"
            path = pathlib.Path(report["data"], f"{experiment}-{kind}.db")
            with sqlite3.connect(path) as database:
                found = [database.execute(f"SELECT {what}").fetchone()[0] for what in (
                    "count(*) FROM customer", "pieces FROM stock", "count(*) FROM sale")]
            self.assertEqual(found, [run["after"][name] for name in ("rows", "stock", "sales")])

    def test_the_page_shows_every_hold_and_every_mistake(self):
        _, runs = self.demo("--html", str(self.file("page.html")))
        titles = " ".join(Page(self.file("page.html").read_text()).titles)
        for run in runs.values():
            for done in run["actions"] if run["locked"] else []:
                self.assertIn(f"P{done['process']}/T{done['thread']} asked for the lock at "
                              f"{ms(run, done['asked_ns'])} and held it from "
                              f"{ms(run, done['granted_ns'])} to {ms(run, done['released_ns'])} "
                              f"with token {done['token']}. ", titles)
            for mistake in run["mistakes"]:
                self.assertIn(mistake, titles)

    def test_the_page_needs_nothing_from_outside(self):
        report, _ = self.demo()
        text = pathlib.Path(report["page"]).read_text()
        self.assertEqual(Page(text).outside, [])
        self.assertNotRegex(text, r"https?:|@import")

    def test_only_the_page_stays(self):
        report, _ = self.demo()
        files = [path for path in self.temporary.rglob("*") if path.is_file()]
        self.assertEqual(files, [pathlib.Path(report["page"])])

    def test_for_people_it_shows_both_runs_and_a_verdict(self):
        done = self.run_program("demo", "oversell")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"rows before +0 +0\n +rows after +\d+ +1\n")
        self.assertRegex(done.stdout, r"stock after +-?\d+ +0\n")
        self.assertIn("\nWith the lock everything is right.\n", done.stdout)

    def test_another_number_of_threads(self):
        _, runs = self.demo("--threads", "2")
        self.assertEqual(len(runs["stock", True]["actions"]), 8)
        self.assertEqual(runs["stock", True]["after"], {"rows": 0, "stock": 2, "sales": 8})

    def test_a_store_that_cannot_be_shared_is_refused(self):
        done = self.run_program("demo", "oversell", "--store", "memory:")
        self.assertEqual(done.returncode, USAGE)
        self.assertRegex(done.stderr, "^holdfast: memory: lives inside one process")

    def test_a_store_that_fails_is_named_and_nothing_stays(self):
        done = self.run_program("demo", "oversell", "--store", "sqlite:/proc/none/locks.db")
        self.assertEqual(done.returncode, STORE_FAILED, done.stderr)
        self.assertIn("/proc/none", done.stderr)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_ended_by_a_signal_it_leaves_nothing(self):
        demo = self.start("demo", "oversell", "--threads", "50")
        harness.wait_until(lambda: list(self.temporary.iterdir()), "the demo's directory")
        demo.send_signal(signal.SIGINT)
        self.assertEqual(self.end_of(demo)[0], -signal.SIGINT)
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    harness.main()
