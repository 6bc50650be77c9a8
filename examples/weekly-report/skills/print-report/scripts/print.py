#!/usr/bin/env python3
"""Prints a Markdown report with its drawings as a PDF, by way of pandoc and LibreOffice. Prints one JSON object."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

import settle
import textual
from world import finish, step_input

# Where the files of assets/reference go in the .docx that tells pandoc how the report is to look.
REFERENCE = {
    "[Content_Types].xml": "content-types.xml", "_rels/.rels": "rels.xml", "word/document.xml": "document.xml",
    "word/_rels/document.xml.rels": "document-rels.xml", "word/styles.xml": "styles.xml",
    "word/settings.xml": "settings.xml", "word/footer1.xml": "footer.xml",
}
# Headings and tables are marked for those who have the page read to them.
EXPORT = 'pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"true"}}'


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(argv, **more):
    """Runs a tool; its words are shown only when it fails, or leaves nothing at `makes`."""
    makes = more.pop("makes")
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode or not os.path.exists(makes):
        sys.stderr.buffer.write(done.stdout[-4000:])
        sys.exit(f"{os.path.basename(argv[0])} ended with {done.returncode} and made no {os.path.basename(makes)}")


def tool(name):
    return shutil.which(name) or sys.exit(f"{name} is not installed; the image full has it")


def to_docx(report, assets, work):
    settle.pack(os.path.join(work, "reference.docx"),
                [(name, read(os.path.join(assets, "reference", file))) for name, file in REFERENCE.items()])
    # On a PATH without rsvg-convert pandoc keeps drawings as they are instead of making bitmaps of them.
    run([tool("pandoc"), "--from=commonmark+pipe_tables", "--to=docx", "--reference-doc=reference.docx",
         f"--lua-filter={os.path.join(assets, 'filter.lua')}", "--output=first.docx", report],
        cwd=work, env={"PATH": "/nonexistent", "LANG": "C.UTF-8", "SOURCE_DATE_EPOCH": "0"},
        makes=os.path.join(work, "first.docx"))
    settle.docx(os.path.join(work, "first.docx"), os.path.join(work, "report.docx"))


def to_pdf(work):
    run([tool("soffice"), "-env:UserInstallation=file://" + os.path.join(work, "profile"), "--headless", "--norestore",
         "--convert-to", EXPORT, "--outdir", work, os.path.join(work, "report.docx")],
        cwd=work, env={"PATH": os.environ["PATH"], "HOME": work, "LANG": "C.UTF-8", "TZ": "UTC"},
        makes=os.path.join(work, "report.pdf"))
    return read(os.path.join(work, "report.pdf"))


def main():
    given = step_input("report", "images", "date")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", given["date"]):
        sys.exit(f"reading the input: {given['date']} is no date such as 2026-11-22")
    bundle = os.environ.get("JOY_SKILL_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with tempfile.TemporaryDirectory() as work:
        try:
            for path in given["images"]:
                shutil.copy(path, work)
            report = os.path.abspath(given["report"])
            to_docx(report, os.path.join(os.path.abspath(bundle), "assets"), work)
            data = textual.pdf(settle.pdf(to_pdf(work), given["date"]))
        except (OSError, ValueError) as err:
            sys.exit(f"printing the report: {err}")
    name = os.path.splitext(os.path.basename(report))[0] + ".pdf"
    os.makedirs("out", exist_ok=True)
    with open(os.path.join("out", name), "wb") as file:
        file.write(data)
    finish({"pdf": name, "pages": settle.pages(data), "bytes": len(data)})


if __name__ == "__main__":
    main()
