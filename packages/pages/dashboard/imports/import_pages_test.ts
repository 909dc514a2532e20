import type { DataScope } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { fileMembersHtml } from "./file_members.ts";
import { importRunningPage } from "./import_pages.ts";

const scope = { kind: "global", pid: "pid_0123456789abcdefghij", account: "acme" } as DataScope;
const numbers = { links: { count: 0, age: 0 }, keys: 0, hasActiveKey: false, redirectOrigins: [] };
const community = { scope, settings: noSettings, guildName: null, ...numbers };
const view = { id: "1", community, fileName: "links.csv", changed: { count: 0, first: [] }, undo: null };

it("the progress of an import is renewed by the script, and by a link without one", () => {
  const source = inEnglish(
    importRunningPage(view, { phase: "importing", rows: 2_000, total: 4_000 }).content,
  );
  expect(source).toContain('data-live="2"');
  expect(source).toContain("importing, 2,000 rows of 4,000");
  expect(source).toContain('href="/dashboard/imports/1"');
});

it("a preview says nothing of members whom the chat platform does not list", () => {
  expect(fileMembersHtml(community, { reason: "The bot is not in the community." })).toBeNull();
  expect(fileMembersHtml(community, null)).toBeNull();
});
