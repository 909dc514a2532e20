import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import * as recorded from "./report.ts";
import { catalogueIn, dashboardLinesOf, linesOf, terms } from "./report.ts";

// The gate's checkout has no history, and English may have changed since the record.
const players = catalogueIn("./", recorded.players.tags, () => ({}));
const dashboard = catalogueIn("./dashboard/", recorded.dashboard.tags, () => ({}));

const { english, notes, reportOf, tags } = players;

it.each(tags)("the report of %s has its share, its terms and its limits", (tag) => {
  const report = reportOf(tag);
  if (report === null) throw new Error(`${tag} has no file`);
  expect(report.share).toBeLessThanOrEqual(1);
  expect(report.limited.map(([key]) => key)).toContain("chat.command.verify.name");
  expect(report.limited.filter(([, length, limit]) => length > limit)).toEqual([]);
  expect(linesOf(tag, players, report).join("\n")).toContain(`${tag}: `);
});

it("the share of the dashboard counts by itself", () => {
  const report = dashboard.reportOf("de");
  if (report === null) throw new Error("de has no file");
  expect(dashboardLinesOf("de", dashboard, { ...report, share: 0.5 })[0]).toContain(
    "Dashboard in de: 50 % of ",
  );
});

it("a language without a file has no report", () => {
  expect(reportOf("tlh")).toBeNull();
});

it("notes name the values of their messages", () => {
  for (const [key, note] of Object.entries(notes).filter(([each]) => Object.hasOwn(english, each))) {
    const values = key.startsWith("platform.") ? [] : [...(english[key] ?? "").matchAll(/\{(\w+)[,}]/g)];
    // Words within the branch of a plural are no values.
    const named = values.map(([, name = ""]) => name).filter((name) => !/^[A-Z]/.test(name));
    for (const name of named) expect([key, note]).toEqual([key, expect.stringContaining(`{${name}}`)]);
  }
});

it("every table of terms has the terms of English", () => {
  for (const [tag, words] of Object.entries(terms)) {
    expect([tag, Object.keys(words)]).toEqual([tag, Object.keys(terms["en"] ?? {})]);
  }
});

it("a message leaves the list of a language only with another text, or with why it stays", () => {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-"));
  const write = (file: string, value: unknown) => writeFileSync(join(folder, file), JSON.stringify(value));
  mkdirSync(join(folder, "context"));
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  write("en.json", { a: "Wait", b: "Go", gone: "Gone", same: "Same" });
  write("de.json", { a: "Warte", b: "Weiter" });
  const open = () => catalogueIn(`${pathToFileURL(folder).href}/`, ["de"]);
  expect(open().record()).toEqual([]);
  write("en.json", { a: "Wait a minute", b: "Go on", same: "Same", fresh: "New" });
  expect(open().reportOf("de")?.stale).toEqual(["a", "b"]);
  expect(open().record()).toEqual(["a", "b"]);
  const catalogue = open();
  expect(catalogue.isRecorded()).toBe(true);
  expect(() => catalogue.markTranslated("de", ["a"], null)).toThrow("Cannot take a off the list of de");
  write("de.json", { a: "Warte eine Minute", b: "Weiter" });
  catalogue.markTranslated("de", ["a"], null);
  expect(catalogue.reportOf("de")?.stale).toEqual(["b"]);
  expect(catalogue.markTranslated("de", ["b"], "says it already")).toEqual(["b"]);
  expect(catalogue.reportOf("de")?.stale).toEqual([]);
  write("context/stale.json", { english: "0".repeat(40), translations: {} });
  expect(open().record).toThrow("Cannot find the recorded English messages: Git has no blob 0000");
});
