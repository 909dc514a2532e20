/**
 * Where `accountlink` begins on any Node. An old one runs no TypeScript and reads this file as CommonJS, as its
 * package.json says, so it is plain JavaScript of any age. `apps/server/main.ts` links to it.
 */
if (process.features.typescript && Number.parseInt(process.versions.node, 10) >= 24) {
  void import("../program.ts");
} else {
  console.error(
    `Cannot start: Node is ${process.version}, expected 24 or later, which runs TypeScript (npm start has one of its own)`,
  );
  process.exitCode = 1;
}
