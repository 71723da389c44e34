// unpack.mjs PACKED FOLDER: Chromium out of its npm package, with its libraries and fonts, and FOLDER/chromium, which starts it.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const [packed, folder] = process.argv.slice(2).map(given => path.resolve(given));
const read = name => zlib.brotliDecompressSync(fs.readFileSync(path.join(packed, name)));
const program = path.join(folder, "chromium-program");
fs.writeFileSync(program, read("chromium.br"), { mode: 0o755 });
for (const name of ["al2023", "fonts", "swiftshader"]) execFileSync("tar", ["-x", "-C", folder], { input: read(`${name}.tar.br`) });
const libraries = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", path.join(folder, "lib")].join(":");
fs.writeFileSync(path.join(folder, "chromium"), `#!/bin/sh
# Fonts of the machine if it has any, else those that came along.
[ -d /usr/share/fonts ] || export FONTCONFIG_PATH='${path.join(folder, "fonts")}'
LD_LIBRARY_PATH='${libraries}' exec '${program}' "$@"
`, { mode: 0o755 });
