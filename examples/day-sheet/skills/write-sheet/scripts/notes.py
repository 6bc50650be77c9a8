"""What is noted about a customer. The file lies outside of the VM: joy's broker has it read, as far as the plan allows."""

import json
import subprocess
import sys

MAX_LINES, MAX_CHARS = 40, 4000
FAILED = 1    # joy-guest: the tool itself says no. Any other code is that nobody was asked


def notes_on(customer):
    """Name and notes: the file's heading, and the text below it. Without a file, what the customer is called by, and None.
    Ends the step when the call did not come through."""
    path = f"customers/{customer}.md"
    done = subprocess.run(["joy-guest", "call", "office.read_text_file", "path=" + path], capture_output=True, text=True)
    if done.returncode == FAILED and "ENOENT" in done.stderr:
        return customer, None
    if done.returncode:
        sys.exit(f"reading {path}: {done.stderr.strip()}")
    lines = json.loads(done.stdout)["content"].strip().splitlines()
    name = lines.pop(0)[2:].strip() if lines and lines[0].startswith("# ") else customer
    return name, shortened("\n".join(lines).strip())


def shortened(text):
    kept = "\n".join(text.splitlines()[:MAX_LINES])[:MAX_CHARS].strip()
    return kept + ("\n\n(The notes go on.)" if len(kept) < len(text) else "")
