#!/usr/bin/env python3
"""A command that notes which signals it gets. See harness.Case.recorder."""
import os
import signal
import sys

directory, signals = sys.argv[1], [int(word) for word in sys.argv[2:]]
notes = os.open(f"{directory}/signals", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def note(number, _frame):
    os.write(notes, f"{signal.Signals(number).name}\n".encode())


def end(_number, _frame):
    os._exit(42)


for each in signals:
    signal.signal(each, note)
signal.signal(signal.SIGUSR2, end)
with open(f"{directory}/pid", "w", encoding="ascii") as file:
    file.write(f"{os.getpid()}\n")
while True:
    signal.pause()
