import type { DataScope } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { expect, it } from "vitest";
import { importPreviewPage, importRunningPage, uploadPage } from "./import_pages.ts";

const scope = { kind: "global", pid: "pid_0123456789abcdefghij", account: "acme" } as DataScope;
const numbers = { links: { count: 0, age: 0 }, keys: 0, hasActiveKey: false, redirectOrigins: [] };
const community = { scope, settings: noSettings, guildName: null, ...numbers };
const view = { id: "1", community, fileName: "links.csv", changed: { count: 0, first: [] }, undo: null };
const importer = { platforms: { chat: "Discord", game: "Roblox" } };

const preview = (inserted: number) => {
  const counts = { rows: 1, links: 1, inserted, replaced: 0, unchanged: 1 - inserted, kept: 0, leftOut: 0 };
  const outcome = { ...counts, resumedAfter: 0, reasons: [], unreadColumns: [] };
  const page = importPreviewPage(view, outcome, [], { chats: new Map(), games: new Map() }, importer);
  return { content: page.content.source, notice: page.notice?.source };
};

it("a preview offers the import only of a file with links to import, and warns that nothing is saved", () => {
  expect(preview(1).content).toContain("Import 1 link</button>");
  expect(preview(1).notice).toMatch(/class="notice warn".*This is a preview. Nothing is saved yet/);
  expect(preview(0).content).not.toContain("/start");
  expect(preview(0).notice).toMatch(/class="notice warn".*no link to import/);
});

it("the form says which of two rows of one user counts, and what a missing time means", () => {
  const named = { chatColumn: "", gameColumn: "", timeColumn: "", verifiedColumn: "" };
  const { source } = uploadPage(
    [community],
    { pid: "", onConflict: "newest", named, columns: [] },
    importer,
    { problem: null, undoable: [] },
  ).content;
  expect(source).toMatch(/verified last <small>Of two rows of one user, the later time counts/);
  expect(source).toMatch(/existing link <small>Of two rows of one user, the first row counts/);
  expect(source).toMatch(/from the file <small>Of two rows of one user, the last row counts/);
  expect(source).toContain("A row without a time gets the time of the import.");
});

it("the progress of an import is renewed by the script, and by a link without one", () => {
  const { source } = importRunningPage(view, { phase: "importing", rows: 2_000, total: 4_000 }).content;
  expect(source).toContain('data-live="2"');
  expect(source).toContain("importing, 2,000 rows of 4,000");
  expect(source).toContain('href="/dashboard/imports/1"');
});
