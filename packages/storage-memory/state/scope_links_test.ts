import { ChatId, type DataScope, GameId, Pid } from "@accountlink/core";
import { isLinked, type LinkRecord } from "@accountlink/core/links";
import { dayMs } from "@accountlink/core/timestamp";
import * as FastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { ScopeLinks } from "./scope_links.ts";

const scope: DataScope = { kind: "global", pid: Pid.make("pid_0123456789abcdef"), account: "acme" };
const chatIds = ["99999", "100000", "100001", "0100000"].map((id) => ChatId.make(id));
const gameIds = ["1", "01"].map((id) => GameId.make(id));

const record = FastCheck.record({
  chatId: FastCheck.constantFrom(...chatIds),
  gameId: FastCheck.option(FastCheck.constantFrom(...gameIds)),
  linkVersion: FastCheck.constant(1),
  linkedAt: FastCheck.nat(2),
  lastVerifiedAt: FastCheck.constantFrom(-1, 0, dayMs - 1, dayMs),
});

/** A record to put; null to clear. */
const changes = FastCheck.array(FastCheck.option(record, { freq: 8 }), { maxLength: 20, size: "max" });

const byText = (one: string, other: string): number => Number(one > other) - Number(one < other);

const ranges = [
  { from: -dayMs, before: 0 },
  { from: 0, before: dayMs },
  { from: -dayMs, before: 2 * dayMs },
];

/** The model: scans of a list. */
const expected = (records: ReadonlyArray<LinkRecord>) => ({
  size: records.length,
  found: chatIds.map((chatId) => records.find((each) => each.chatId === chatId)),
  chats: gameIds.map((gameId) =>
    records
      .filter((each) => each.gameId === gameId)
      .toSorted((one, other) => other.linkedAt - one.linkedAt || byText(one.chatId, other.chatId))
      .map(({ chatId }) => chatId),
  ),
  pages: [null, ...chatIds].map((after) =>
    records
      .filter((each) => isLinked(each) && (after === null || each.chatId > after))
      .toSorted((one, other) => byText(one.chatId, other.chatId))
      .slice(0, 2),
  ),
  verified: ranges.map(
    ({ from, before }) =>
      records.filter((each) => isLinked(each) && each.lastVerifiedAt >= from && each.lastVerifiedAt < before)
        .length,
  ),
});

const actual = (links: ScopeLinks) => ({
  size: links.size,
  found: chatIds.map((chatId) => links.find(chatId)),
  chats: gameIds.map((gameId) => links.chatsOf(gameId)),
  pages: [null, ...chatIds].map((after) => links.linksAfter(after, 2)),
  verified: ranges.map((range) => links.verifiedIn(range)),
});

describe("ScopeLinks", () => {
  it("agrees with scans of a list after any changes", () => {
    FastCheck.assert(
      FastCheck.property(changes, (sequence) => {
        const links = new ScopeLinks(scope);
        let records: ReadonlyArray<LinkRecord> = [];
        for (const change of sequence) {
          if (change === null) links.clear();
          else links.put(change);
          records =
            change === null ? [] : [...records.filter(({ chatId }) => chatId !== change.chatId), change];
          expect(actual(links)).toEqual(expected(records));
        }
      }),
    );
  });
});
