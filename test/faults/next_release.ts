/** The next release: a copy of this checkout with one more migration. */
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A migration that runs while old nodes serve may only add tables, indexes and columns with defaults. */
const step = `
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
export const ofTomorrow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql\`ALTER TABLE links ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'\`;
  yield* sql\`CREATE INDEX links_by_colour ON links (pid, colour)\`;
  yield* sql\`CREATE TABLE colours (name TEXT NOT NULL PRIMARY KEY)\`;
});
`;

/** Writes the release into the folder and returns the path of its `main.ts`. */
export const makeNextRelease = async (folder: string): Promise<string> => {
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
