#!/usr/bin/env node
// Starts the binary of this platform, which npm installed as an optional dependency, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const own = require("../package.json");

const wanted = `${own.name}-${process.platform}-${process.arch}`;

function binary() {
  try {
    return require.resolve(`${wanted}/bin/agentctl`);
  } catch {
    const built = Object.keys(own.optionalDependencies).map((name) => name.slice(own.name.length + 1));
    process.stderr.write(
      built.includes(`${process.platform}-${process.arch}`)
        ? `error: the package ${wanted} is missing: it was left out when ${own.name} was installed\n  hint: install again without --omit=optional\n`
        : `error: there is no agentctl for ${process.platform}-${process.arch}; there is one for ${built.join(", ")}\n  hint: on Windows use WSL; elsewhere build it with cargo\n`,
    );
    process.exit(1);
  }
}

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends them to both; agentctl saves its state and says when it is done, so this waits for it.
const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];
for (const signal of passed) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || signal === "SIGHUP") child.kill(signal);
  });
}
child.on("error", (error) => {
  process.stderr.write(`error: cannot start agentctl: ${error.message}\n`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
