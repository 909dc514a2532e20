/**
 * Holds the public surface of the packages against their reports and the pending changesets.
 *
 * Run as a program, it type-checks what is published and exits with 1 if a report is out of date, or if one differs from the last version and no
 * changeset names its package. With `--write` it writes the reports first.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compile } from "../compile.ts";
import { type Package, publishablePackages, root } from "../publishable.ts";
import { pendingChangesets } from "./changesets.ts";
import { publicSurfaceOf } from "./public_surface.ts";
import { differences, fingerprint, reportOf } from "./report.ts";

export interface ApiState {
  readonly name: string;
  /** The report as committed. */
  readonly written: string;
  readonly actual: string;
  /** The fingerprint of the report with the last version; undefined if that had no such package. */
  readonly released: string | undefined;
  /** Whether a pending changeset names the package. */
  readonly isAnnounced: boolean;
}

export const problemOf = ({ name, written, actual, released, isAnnounced }: ApiState): string | null => {
  if (written !== actual)
    return `${name} does not export what its api.txt says, run "npm run api":\n${differences(written, actual).join("\n")}`;
  if (released === fingerprint(actual) || isAnnounced) return null;
  return `${name} does not export what it did in the last version, announce it with "npm run changeset", which adds a file such as .changeset/new_name.md:\n---\n"${name}": minor\n---\n\nWhat users should know.`;
};

const reportPath = ({ folder }: Package) => join(root, folder, "api.txt");
const releasedPath = join(root, ".changeset/released_api.json");

const readReport = (published: Package): string =>
  existsSync(reportPath(published)) ? readFileSync(reportPath(published), "utf8") : "";

const readReleased = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(releasedPath, "utf8")) as Record<string, string>;

/** Records the committed reports as those of the version that is released. */
export const recordReleased = (): void => {
  const fingerprints = publishablePackages().map((published) => [
    published.manifest.name,
    fingerprint(readReport(published)),
  ]);
  writeFileSync(releasedPath, `${JSON.stringify(Object.fromEntries(fingerprints), null, 2)}\n`);
};

const readStates = async (): Promise<ReadonlyArray<ApiState>> => {
  const announced = new Set(pendingChangesets(root).flatMap(({ packages }) => Object.keys(packages)));
  const released = readReleased();
  const declarations = await compile();
  return publishablePackages().map((published) => {
    const { name } = published.manifest;
    return {
      name,
      written: readReport(published),
      actual: reportOf(publicSurfaceOf(published, join(declarations, basename(published.folder)))),
      released: released[name],
      isAnnounced: announced.has(name),
    };
  });
};

if (import.meta.main) {
  const states = await readStates();
  const write = process.argv.includes("--write");
  for (const [index, published] of publishablePackages().entries())
    if (write) writeFileSync(reportPath(published), states[index]?.actual ?? "");
  const problems = states
    .map((state) => problemOf(write ? { ...state, written: state.actual } : state))
    .filter((problem) => problem !== null);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
