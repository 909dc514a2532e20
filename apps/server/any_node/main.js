/**
 * The entry point, which prints a readable error if Node is too old. Such a Node does not run TypeScript, so this
 * file is plain JavaScript, and CommonJS by its package.json. `apps/server/main.ts` is a link to it. A TypeScript
 * file here would make Node 24 load its compiler before the compile cache is set.
 */
if (process.features.typescript && Number.parseInt(process.versions.node, 10) >= 24) {
  // Half of the startup time is compilation. Without a writable folder, nothing is cached.
  process
    .getBuiltinModule("node:module")
    .enableCompileCache(`${__dirname}/../../../node_modules/.cache/accountlink`);
  // A server that is stopped while its modules load has nothing to finish.
  if (process.argv[2] === "serve") {
    process.exitCode = 0;
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  }
  // Starting from a bundle takes a third of the time.
  void import("./bundle.mjs").then(({ findBundle }) => import(findBundle() ?? "../commands/run_process.ts"));
} else {
  console.error(
    `Cannot start: Node is ${process.version}, expected 24 or later, which runs TypeScript (npm start has one of its own)`,
  );
  process.exitCode = 1;
}
