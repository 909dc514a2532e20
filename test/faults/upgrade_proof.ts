/** An upgrade of three nodes to the next release, while clients write and read. */
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { countOf, startCountingClients } from "./counting_clients.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A migration that runs while old nodes serve may only add tables, indexes and columns with defaults. */
const step = `
import { changeSchema } from "./change_schema.ts";
export const ofTomorrow = changeSchema(\`
  ALTER TABLE links ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';
  CREATE INDEX links_by_colour ON links (pid, colour);
  CREATE TABLE colours (name TEXT NOT NULL PRIMARY KEY)
\`);
`;

/**
 * Writes the next release, a copy of this checkout with one more migration, into the folder. Returns the path of its
 * `main.ts`.
 */
const makeNextRelease = async (folder: string): Promise<string> => {
  for (const part of ["packages", "apps"]) {
    await cp(join(root, part), join(folder, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".cache"),
    });
  }
  for (const part of ["node_modules", "tools"]) await symlink(join(root, part), join(folder, part));
  await cp(join(root, "package.json"), join(folder, "package.json"));
  const storage = join(folder, "packages/sql");
  await writeFile(join(storage, "migrations/0999_of_tomorrow.ts"), step);
  const steps = await readFile(join(storage, "migrations.ts"), "utf8");
  const more = steps.replace(/("\d{4}_\w+": \w+,\n)(\};)/, '$1  "0999_of_tomorrow": ofTomorrow,\n$2');
  if (more === steps) throw new Error("Cannot add a step: migrations.ts does not end its list as expected");
  await writeFile(
    join(storage, "migrations.ts"),
    `import { ofTomorrow } from "./migrations/0999_of_tomorrow.ts";\n${more}`,
  );
  return join(folder, "apps/server/main.ts");
};

const folder = useFolder();

testLive.skipIf(missing !== null)(`nodes of two releases lose no write ${missing ?? ""}`, function* () {
  const next = yield* Effect.promise(() => makeNextRelease(folder));
  const fixtures = makeFixtures();
  const key = fixtures.key();
  const { nodes } = yield* startService({ fixture: fixtures.fixture });
  const clients = startCountingClients({
    key,
    count: 6,
    targetsOf: () => nodes,
    isNamed: (client) => client % 2 === 0,
  });
  for (const node of nodes) {
    yield* Effect.sleep("1 second");
    expect(yield* node.stop).toBe(0);
    yield* node.restart(next);
  }
  yield* Effect.sleep("1 second");
  const writes = yield* Effect.promise(clients.stop);
  console.log({ requests: clients.attempts.length, writes });
  expect(writes).toBeGreaterThan(50);
  expect(countOf(clients.attempts, "unavailable")).toBe(0);
});
