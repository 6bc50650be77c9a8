#!/bin/sh
# Opens both files with the programs of the image, as a reader would, and leaves the place of every word.
set -eu
soffice -env:UserInstallation=file:///tmp/profile --headless --convert-to pdf --outdir /tmp "$JOY_INPUT_SUMMARY" >&2
pdftotext -bbox "$JOY_INPUT_REPORT" out/report.html
pdftotext -bbox /tmp/summary.pdf out/summary.html
pdffonts "$JOY_INPUT_REPORT" >out/fonts.txt
echo '{"looked": true}'
