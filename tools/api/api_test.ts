import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type ApiState, problemOf } from "./api.ts";
import { pendingChangesets } from "./changesets.ts";
import { publicSurfaceOf } from "./public_surface.ts";
import { fingerprint, reportOf } from "./report.ts";

const folder = mkdtempSync(join(tmpdir(), "accountlink-api-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The report of a package with these declarations. */
const reportFor = (link: string, mod = 'export { Link as Record, link } from "./links/mod.ts";') => {
  mkdirSync(join(folder, "links"), { recursive: true });
  writeFileSync(join(folder, "mod.d.ts"), mod);
  writeFileSync(join(folder, "links/mod.d.ts"), 'export * from "./link.ts";');
  writeFileSync(join(folder, "links/link.d.ts"), link);
  const manifest = { name: "pkg", exports: { ".": "./mod.ts", "./links": "./links/mod.ts" } };
  return reportOf(publicSurfaceOf({ folder: "pkg", manifest }, folder));
};

const declarations = `
/** A link. */
export interface Link {
    /** Its owner. */
    readonly id: Hidden;
}
type Hidden = string;
/** Makes one. */
export declare const link: () => Link;
export {};`;

const report = reportFor(declarations);

describe("a report", () => {
  it("has what each entry point exports, with the declarations that nobody can import", () => {
    expect(report).toBe(`What this package exports. \`npm run api\` writes this file.

pkg
  Record: interface Link { readonly id: Hidden; } type Hidden = string;
  link: const link: () => Link;

pkg/links
  Link: interface Link { readonly id: Hidden; } type Hidden = string;
  link: const link: () => Link;
`);
  });

  it("shows namespaces, and where a name of another package comes from", () => {
    const mod = 'export * as Links from "./links/mod.ts";\nexport { ChatId } from "@accountlink/core";';
    expect(reportFor(declarations, mod)).toContain(`pkg
  ChatId: from @accountlink/core
  Links.Link: interface`);
  });

  it("leaves out what is internal, and an entry point whose head says so", () => {
    const internal = declarations.replace("Makes one.", "\n * Makes one.\n *\n * @internal\n ");
    expect(reportFor(internal)).not.toContain("link: const link");
    expect(reportFor(declarations, '/** @internal */\nexport * from "./links/mod.ts";')).not.toContain(
      "Record",
    );
  });

  it.each([
    ["a comment", declarations.replace("Its owner", "The owner"), true],
    ["white space", declarations.replace("id: Hidden", "id:\n Hidden"), true],
    ["a parameter", declarations.replace("() => Link", "(id: string) => Link"), false],
    ["a declaration that nobody can import", declarations.replace("= string", "= number"), false],
    ["the end of a long one", longer("last"), false],
  ])("stays as it is with a change of %s: %s", (_what, changed, isSame) => {
    const before = changed === longer("last") ? reportFor(longer("first")) : report;
    expect(reportFor(changed) === before).toBe(isSame);
  });
});

function longer(end: string): string {
  return declarations.replace("= string", `= ${'"a part of a long union" | '.repeat(9)} "${end}"`);
}

describe("problemOf", () => {
  const state: ApiState = {
    name: "pkg",
    written: report,
    actual: report,
    released: fingerprint(report),
    isAnnounced: false,
  };
  const without = reportFor(declarations, 'export { link } from "./links/mod.ts";');

  it("finds none in a surface that is that of the report and of the last version", () => {
    expect(problemOf(state)).toBe(null);
  });

  it("shows a name that was removed", () => {
    expect(
      problemOf({ ...state, actual: without }),
    ).toBe(`pkg does not export what its api.txt says, run "npm run api":
-  Record: interface Link { readonly id: Hidden; } type Hidden = string;`);
  });

  it("wants a changeset for a report that differs from that of the last version, or that it had not", () => {
    const changed = { ...state, written: without, actual: without };
    const problem =
      'pkg does not export what it did in the last version, announce it with "npm run changeset"';
    expect(problemOf(changed)).toContain(problem);
    expect(problemOf({ ...state, released: undefined })).toContain(problem);
    expect(problemOf({ ...changed, isAnnounced: true })).toBe(null);
  });
});

describe("pendingChangesets", () => {
  const write = (text: string) => {
    mkdirSync(join(folder, ".changeset"), { recursive: true });
    writeFileSync(join(folder, ".changeset/a.md"), text);
    return pendingChangesets(folder);
  };

  it("has the packages and the summary", () => {
    expect(write('---\n"pkg": minor\n"@accountlink/core": patch\n---\n\nLinks have an owner.\n')).toEqual([
      { packages: { pkg: "minor", "@accountlink/core": "patch" }, summary: "Links have an owner." },
    ]);
  });

  it.each(["Links", '---\n"pkg": small\n---\nLinks', '---\n"pkg": minor\n---\n'])("refuses %j", (text) => {
    expect(() => write(text)).toThrow("Cannot read .changeset/a.md: expected lines such as");
  });
});
