import { ChatId, GameId, type GuildId, type Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { expect } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { Languages } from "../languages/mod.ts";
import { type LogItem, makeLogTexts } from "./log_texts.ts";
import { testWithTwoAccounts } from "./test_two_accounts.ts";

const [ada, cleo] = [ChatId.make("100001"), "100003"] as const;
const test = testWithTwoAccounts([ada, cleo], { guilds: [], chatUsers: [], gameUsers: [] });

const user = { chatId: ada, gameId: GameId.make("1") };
const alike: LogItem = { at: 0, entry: { ...user, is: "alike", level: "CRITICAL" } };

/** An item of each kind that is counted. */
const ofEachKind = [
  ...["link.set", "link.removed", "link.moved", "user.erased", "scope.deleted"].map((type) => ({
    event: { type, data: { previousGameId: null } },
  })),
  { event: { type: "link.set", data: { previousGameId: "1" } } },
  { entry: { ...user, is: "refused", why: "blocked" } },
  { problem: { reason: "no_permission", roleId: null, members: 0 } },
  alike,
].map((item) => ({ at: 0, ...item }) as LogItem);
const imports = [false, true].map(
  (isUndo) => ({ at: 0, event: { type: "links.imported", data: { count: 1_000_000 }, isUndo } }) as LogItem,
);

test("a message of many lines has room for what it only counts", function* () {
  const scope = yield* (yield* KeyStore).ensureScope(
    "acme",
    { kind: "global" },
    "pid_0123456789abcdefghij" as Pid,
  );
  const linesOf = yield* Effect.provide(makeLogTexts, Languages.layer);
  const log = { scope, guildId: "70001" as GuildId } as Parameters<typeof linesOf>[0];
  const many = Array.from({ length: 700 }, () => ofEachKind).flat();
  const lines = yield* linesOf(log, [...many, ...imports], many);
  expect(lines.map(({ text }) => text).join("\n").length).toBeLessThanOrEqual(2_000);
  expect(lines.at(-1)?.text).toContain("700 new problems");
});
