"""Shell scripts that do not parse: each is given to its own shell with -n, which reads and runs nothing."""

import os
import re

MAX_SCRIPTS = 200    # starting a shell takes a tenth of a second under emulation
SECONDS = 10         # for one script
SHELLS = {"sh": "sh", "dash": "sh", "ash": "sh", "bash": "bash"}
OTHERS = {"zsh", "ksh", "mksh", "fish", "csh", "tcsh"}     # not in the image

# "bash: line 3: syntax error near `fi'" and "sh: 3: Syntax error: …", as bash and dash say it
COMPLAINT = re.compile(r"^[\w./-]+: (?:line )?(\d+): (?:Syntax error: |syntax error:? ?)?(.+)$", re.M)


class Shells:
    def __init__(self):
        self.checked = 0      # scripts that a shell has read
        self.unchecked = 0    # scripts for a shell that is not here, or beyond MAX_SCRIPTS

    def look(self, file, program, found):
        """Adds a finding when `file` is a shell script that does not parse. `program` is what its shebang names."""
        if not program and file.name.endswith((b".sh", b".bash")):
            program = "bash"
        shell = SHELLS.get(program)
        if shell and self.checked < MAX_SCRIPTS and file.whole:
            self.checked += 1
            wrong = parse(shell, file.data)
            if wrong:
                found.add("shell-syntax", file.name, *wrong)
        elif shell or program in OTHERS:
            self.unchecked += 1


def parse(shell, script):
    """None when the script parses, else (line, what the shell says)."""
    from subprocess import PIPE, DEVNULL, Popen, TimeoutExpired    # slow to load, and many trees have no script

    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
    with Popen([shell, "-n"], stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env=environment) as process:
        try:
            said = process.communicate(script, SECONDS)[1].decode("utf-8", "replace")
        except TimeoutExpired:
            process.kill()
            return 0, f"{shell} -n did not end within {SECONDS} seconds"
    if process.returncode == 0:
        return None
    complaint = COMPLAINT.search(said)
    if complaint:
        return int(complaint[1]), f"{shell}: {printable(complaint[2])}"
    return 0, f"{shell} -n exits with {process.returncode}"


def printable(text):
    return "".join(c if c.isprintable() else "?" for c in text)
