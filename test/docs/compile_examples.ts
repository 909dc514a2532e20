/**
 * A step of `npm run check`: compiles every example of the documentation. Exits with 1 if one has a mistake, or if a
 * forgotten option is not named in one line.
 */
import { globSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { API } from "typescript/unstable/sync";
import { placeExamples } from "./example_project.ts";

const forgotten = `import { createAccountLink } from "accountlink";\nvoid createAccountLink({});\n`;
const expected = `forgotten.ts: Property 'gameUserExists' is missing in type '{}' but required in type 'Pick<PlatformFunctions, "gameUserExists">'.`;

const folder = realpathSync(mkdtempSync(join(tmpdir(), "accountlink-examples-")));
// Asks for the examples alone: another step compiles the packages that they import.
const compiler = new API();
try {
  await placeExamples(folder);
  writeFileSync(join(folder, "forgotten.ts"), forgotten);
  const config = join(folder, "tsconfig.json");
  const { program } = compiler.updateSnapshot({ openProjects: [config] }).getProject(config) ?? {};
  const problems = globSync("*.{ts,mts}", { cwd: folder })
    .map((name) => join(folder, name))
    .flatMap((file) => [
      ...(program?.getSyntacticDiagnostics(file) ?? []),
      ...(program?.getSemanticDiagnostics(file) ?? []),
    ])
    .map(({ fileName, text }) => `${basename(fileName ?? "")}: ${text}`);
  for (const problem of problems) if (problem !== expected) console.log(problem);
  if (!problems.includes(expected)) console.log(`Nothing says: ${expected}`);
  process.exitCode = problems.length === 1 && problems.includes(expected) ? 0 : 1;
} finally {
  compiler.close();
  rmSync(folder, { recursive: true });
}
