/**
 * The entry point of the server and its commands. On a Node that is too old to run TypeScript, it must still run, to
 * print a readable error. So it is a plain JavaScript file, `any_node/main.js`, to which `main.ts` is a symbolic link.
 * The package.json beside `main.js` declares it to be CommonJS.
 *
 * If the entry point were TypeScript, Node 24 would also load its TypeScript compiler before the compile cache is
 * enabled.
 */
if (process.features.typescript && Number.parseInt(process.versions.node, 10) >= 24) {
  // Else V8 allocates objects at places where many survived in the old generation, and each keeps its request alive until
  // the next full collection: of 27 MB of keyed writes 2.4 survived a scavenge, and 0.2 with this flag.
  process.getBuiltinModule("node:v8").setFlagsFromString("--no-allocation-site-pretenuring");
  // Caches compiled code, since compilation takes half of the startup time. If the folder is not writable, nothing is
  // cached.
  process
    .getBuiltinModule("node:module")
    .enableCompileCache(`${__dirname}/../../../node_modules/.cache/accountlink`);
  // If a signal arrives while the server's modules load, the process ends at once: no request has arrived yet.
  if (process.argv[2] === "serve") {
    process.exitCode = 0;
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  }
  // Starting from a bundle takes a third of the time that starting from the source files takes.
  void import("./bundle.mjs").then(({ findBundle }) => import(findBundle() ?? "../commands/run_process.ts"));
} else {
  console.error(
    `Cannot start: Node is ${process.version}, expected 24 or later, which runs TypeScript (npm start has one of its own)`,
  );
  process.exitCode = 1;
}
