import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import {
  catalogueIn,
  changedKeys,
  dashboard,
  dashboardLinesOf,
  hashesOf,
  linesOf,
  players,
  terms,
} from "./report.ts";

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

it("English messages that have changed are known by the record, new and removed ones are not changed", () => {
  const recorded = hashesOf({ unlink: "Unlink", keep: "Keep", gone: "Gone" });
  expect(changedKeys(recorded, { unlink: "Remove the link", keep: "Keep", fresh: "New" })).toEqual([
    "unlink",
  ]);
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
  const read = (file: string) => JSON.parse(readFileSync(join(folder, "context", file), "utf8"));
  mkdirSync(join(folder, "context"));
  write("context/english_hashes.json", hashesOf({ a: "Wait", b: "Go" }));
  write("en.json", { a: "Wait a minute", b: "Go on" });
  write("de.json", { a: "Warte", b: "Weiter" });
  const open = () => catalogueIn(`${pathToFileURL(folder).href}/`, ["de"]);
  open().record();
  const catalogue = open();
  expect(() => catalogue.markTranslated("de", ["a"], null)).toThrow("Cannot take a off the list of de");
  write("de.json", { a: "Warte eine Minute", b: "Weiter" });
  catalogue.markTranslated("de", ["a"], null);
  expect(catalogue.reportOf("de")?.stale).toEqual(["b"]);
  catalogue.markTranslated("de", ["b"], "says it already");
  expect([read("stale.json"), read("kept.json")]).toEqual([
    {},
    { b: { in: "de", because: "says it already" } },
  ]);
});
