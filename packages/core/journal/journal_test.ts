import { expect, it } from "@accountlink/test-servers/effect";
import type { Actor } from "../audit/audit.ts";
import { ChatId, GameId, KeyId } from "../ids.ts";
import { linkMoved, linkSet, logged, userErased } from "./changes.ts";
import { withoutUser } from "./erasure.ts";
import { eventOf, type JournalRecord, usersIn, withoutEntry } from "./journal.ts";

const [ada, ben] = [ChatId.make("10001"), ChatId.make("10002")];
const gameId = GameId.make("7");
const key: Actor = { type: "key", id: KeyId.make("Aa0Bb1Cc2Dd3") };
const write = { actor: key, requestId: null, at: 5 };
const link = { chatId: ben, gameId, linkVersion: 2, linkedAt: 5, lastVerifiedAt: 5, proof: "hand" } as const;
const erased = "[erased]";

const erase = (record: JournalRecord, names: ReadonlyArray<string> = []) => {
  const { actor, details, event } = withoutUser(record, ada, names) ?? {};
  return { actor, details, fields: event?.fields };
};

it("the event of a link says who changed it how, also without its entry", () => {
  const record = linkSet(write, { record: link, previousGameId: null }, "oauth");
  const data = {
    chatId: ben,
    gameId,
    previousGameId: null,
    linkVersion: 2,
    lastVerifiedAt: 5,
    source: "flow",
  };
  const { details } = record;
  expect(eventOf(record, 9)).toMatchObject({ position: 9, data, entry: { actor: key, details } });
  expect(eventOf(withoutEntry(record), 9)).toMatchObject({ data, entry: null });
});

it("a record about other users stays unchanged by an erasure", () => {
  const details = { chatId: "10002", gameId: "10001", previousGameId: null };
  expect(withoutUser(logged(write, "link.set", details), ada, [])).toBeNull();
  const byOther = { ...write, actor: { type: "operator", id: "10001" } } as const;
  expect(withoutUser(logged(byOther, "link.set", {}), ada, [])).toBeNull();
});

it("in the actor of a record, the user's chat ID and the name of the user's account are erased", () => {
  const details = { keyId: "Aa0Bb1Cc2Dd3", status: "active" };
  for (const [actor, without] of [
    [
      { type: "user", id: ada },
      { type: "user", id: erased },
    ],
    [
      { type: "account", id: "chat:10001", member: "10002" },
      { type: "account", id: erased, member: "10002" },
    ],
    [
      { type: "account", id: "acme", member: ada },
      { type: "account", id: "acme", member: erased },
    ],
  ] as const) {
    const record = logged({ ...write, actor }, "key.created", details);
    expect(erase(record, ["chat:10001"])).toMatchObject({ actor: without, details });
  }
});

it("a moved link keeps its game user when the former chat user is erased, and loses it with the new one", () => {
  const moved = linkMoved(write, link, ada);
  const details = { chatId: erased, newChatId: ben, gameId };
  expect(erase(moved).details).toEqual(details);
  const back = linkMoved(write, { ...link, chatId: ada }, ben);
  expect(erase(back).details).toEqual({ chatId: ben, newChatId: erased, gameId: erased });
  const told = {
    chatId: ben,
    previousChatId: erased,
    gameId,
    linkVersion: 2,
    lastVerifiedAt: 5,
    source: "api",
  };
  expect(erase(withoutEntry(moved)).fields).toEqual(told);
});

it("the event of an erasure keeps its user, by whom nobody finds the record", () => {
  const record = userErased(write, ada, { records: 1 });
  expect([withoutUser(record, ada, []), usersIn(record)]).toEqual([null, []]);
});
