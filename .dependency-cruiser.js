/** Which package imports which. The compiler checks what exists, and package.json what tests may import. */

/** By package: the packages that it may import, `none` if there are none. */
const imports = {
  core: "none",
  kv: "core",
  memory: "core|kv",
  sql: "core",
  redis: "core|kv",
  "http-api": "core",
  client: "none",
  http: "core|http-api",
  pages: "core|http-api|http",
  platforms: "core",
  "dev-platforms": "core|pages|platforms",
  accountlink: "core|http|pages|kv|memory|sql|redis|platforms",
  testing: "core|accountlink|kv|memory",
  // The folder of tests is a package that programs of the bench import.
  bench: "test",
  // Programs of clients, which users copy.
  examples: "client",
};

/** They run in any JavaScript runtime. */
const portable = "core|kv|memory|http-api|client|http|pages";

/** Their only third-party package is Effect. */
const effectOnly = "core|kv|memory";

/** Modules of Effect that may change in any version, and the packages that may use them. */
const unstable = {
  cli: "server",
  "http-api": "http-api|http|pages",
  persistence: "memory|redis|platforms",
  sql: "sql",
};

const foldersOf = (names) => `^((packages|apps)/)?(${names})/`;

/** In `to.path`, $1 is the folder of the importing package. */
const anyPackage = "^((packages|apps)/[^/]+|bench|examples)/";
const anyFolder = "^(packages|apps|bench|examples|test|tools)/";

const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

export default {
  forbidden: [
    ...Object.entries(imports).map(([name, allowed]) =>
      forbid(
        `imports of ${name}`,
        `Expected ${allowed}. Use a port of core, and provide its layer in apps/server`,
        { path: foldersOf(name) },
        { path: anyFolder, pathNot: foldersOf(`${name}|${allowed}`) },
      ),
    ),
    forbid(
      "package without a rule",
      "Add it to .dependency-cruiser.js",
      { path: "^packages/", pathNot: foldersOf(Object.keys(imports).join("|")) },
      {},
    ),
    forbid(
      "relative import of another package",
      "Import it by the name in its package.json",
      { path: anyPackage },
      { path: anyFolder, pathNot: "^$1/", dependencyTypes: ["local"] },
    ),
    forbid(
      "package that imports itself by name",
      "Import the file by its relative path",
      { path: anyPackage },
      { path: "^$1/", dependencyTypesNot: ["local"] },
    ),
    forbid(
      "module of Node in a portable package",
      "Use a service of effect, or a port that an adapter implements",
      { path: foldersOf(portable) },
      { dependencyTypes: ["core"] },
    ),
    forbid(
      "third-party package beside effect",
      "Define a port, and use the package in an adapter",
      { path: foldersOf(effectOnly) },
      { path: "/node_modules/", pathNot: "/node_modules/effect/" },
    ),
    ...Object.entries(unstable).map(([module, users]) =>
      forbid(
        `unstable effect/${module}`,
        `Move the code to ${users}, or use what they export`,
        { pathNot: foldersOf(users) },
        { path: `/node_modules/effect/dist/${module}/` },
      ),
    ),
    {
      ...forbid(
        "folders that import each other",
        "Move what they share into the folder of its concept, which imports none of them. Types count",
        {},
        { circular: true },
      ),
      scope: "folder",
    },
  ],
  options: {
    // Types too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules/" },
    // Tests may bring together what the packages keep apart. apps/server/main.ts is a link to a file beside it.
    exclude: {
      path: "(_test|_proof|/test_[^/]+)[.]ts$|^examples/recipes/|^packages/[^/]+/dist/|^apps/server/(dist/|main[.]ts$)",
    },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types"] },
  },
};
