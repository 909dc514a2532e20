import type { DataScope } from "@accountlink/core";
import { linkReaders } from "@accountlink/core/imports";
import { noSettings } from "@accountlink/core/keys";
import { Effect, Stream } from "effect";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { fileMembersHtml } from "./file_members.ts";
import { importRunningPage, uploadPage } from "./import_pages.ts";

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

const namesOffered = (game: string) => {
  const named = { chatColumn: "", gameColumn: "", timeColumn: "", verifiedColumn: "" };
  const form = { pid: scope.pid, onConflict: "newest", named, columns: [], words: [], times: null };
  const { content } = uploadPage([community], form, { problem: null, undoable: [] });
  return Array.from(
    inEnglish(content, { game }).matchAll(/Recognized names: (.*?) and similar ones/g),
    ([, names = ""]) => names.split(", "),
  );
};

it("the form of an upload offers the names of columns that owners know, and imports read each of them", async () => {
  const [chats = [], games = [], times = [], states = []] = namesOffered("Roblox");
  expect([chats[0], games[0]]).toEqual(["Discord ID", "Roblox ID"]);
  expect(namesOffered("Voxel")[1]?.[0]).toBe("gameId");
  const readers = chats.flatMap((chat) =>
    games.flatMap((game) => times.flatMap((time) => states.map((state) => [chat, game, time, state]))),
  );
  expect(readers.length).toBeGreaterThan(100);
  for (const header of readers) {
    const holds = header.includes("is_deleted") ? "no" : "yes";
    const file = `${header.join(",")}\n100001,1,2026-01-01,${holds}\n`;
    const rows = linkReaders.auto(Stream.make(new TextEncoder().encode(file)), {});
    const [read] = await Effect.runPromise(Stream.runCollect(rows));
    expect([header, read]).toMatchObject([header, { link: { chatId: "100001", gameId: "1" } }]);
  }
});
