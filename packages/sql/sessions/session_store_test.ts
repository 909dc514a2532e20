import { LinkStore } from "@accountlink/core";
import { FlowStore } from "@accountlink/core/flow";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Exit, Option } from "effect";
import { expect } from "vitest";
import { origin, refuseWritesTo, scope, Tampering, test } from "../sqlite/test_tampering.ts";
import {
  chatId,
  completionOf,
  flowOf,
  gameId,
  key,
  sessionIdOf,
  sessionOf,
  storeKey,
  storeProven,
} from "./test_verification.ts";

const { pid } = scope;
const session = sessionOf(1);

test.each([
  "state = ''",
  "state = 'open'",
  "error = 'broken'",
  "chat_id = 'ada'",
  "game_id = '-1'",
  "link_changed = 2",
])("a session is refused when its row has %s", function* (damage) {
  const { tamper } = yield* Tampering;
  const sessions = yield* SessionStore;
  yield* storeKey;
  yield* sessions.create({ session, burst: null });
  tamper(`UPDATE verification_sessions SET ${damage}`);
  const advance = sessions.advance({ id: session.id, to: "opened", at: 1 });
  for (const use of [sessions.find(session.id), advance]) {
    const error = yield* Effect.flip<unknown, unknown, never>(use);
    expect(error).toMatchObject({ _tag: "StoreUnavailable", cause: { _tag: "UnreadableRow" } });
  }
});

test("sessions are swept in batches, however many have ended", function* () {
  const { tamper, look } = yield* Tampering;
  const sessions = yield* SessionStore;
  yield* storeKey;
  const count = 1_200;
  tamper(`
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
          INSERT INTO verification_sessions
            (sid, key_id, pid, client_id, state, link_changed, created_at, expires_at, change)
          SELECT printf('vs_%043d', i), '${key.id}', '${pid}', '', 'opened', 0, 0, 10, 2 FROM numbers;
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
          INSERT INTO verification_flows (id, pid, expires_at) SELECT 'flow ' || i, '${pid}', 10 FROM numbers`);
  const sids = Array.from({ length: count }, (_, i) => sessionIdOf(i + 1));
  expect((yield* sessions.sweep({ at: 10, sessionsBefore: 10, sightingsBefore: 0 })).toSorted()).toEqual(
    sids,
  );
  expect((yield* sessions.changedSince(10, null)).toSorted()).toEqual(sids);
  expect(look("SELECT DISTINCT state, change, changed_at FROM verification_sessions")).toEqual([
    { state: "expired", change: 3, changed_at: 10 },
  ]);
  expect(look("SELECT id FROM verification_flows")).toEqual([]);
  expect(yield* sessions.sweep({ at: 11, sessionsBefore: 11, sightingsBefore: 0 })).toEqual([]);
  expect(look("SELECT sid FROM verification_sessions")).toEqual([]);
});

test("the completion of a flow rolls back when its last statement fails", function* () {
  const { tamper, look } = yield* Tampering;
  const [sessions, flows, links] = [yield* SessionStore, yield* FlowStore, yield* LinkStore];
  yield* storeKey;
  yield* storeProven(1, session);
  const flow = yield* flows.find(flowOf(1).id, 0);
  tamper(refuseWritesTo("verification_sessions", "UPDATE"));
  const exit = yield* Effect.exit(sessions.complete(completionOf(1)));
  expect(Exit.isFailure(exit)).toBe(true);
  expect(yield* sessions.find(session.id)).toEqual(Option.some(session));
  expect(yield* flows.find(flowOf(1).id, 0)).toEqual(flow);
  expect(yield* links.findByChatId(pid, chatId)).toEqual(Option.none());
  expect(look("SELECT * FROM sightings")).toEqual([]);
  expect(look("SELECT action FROM audit_log")).toEqual([{ action: "key.created" }]);
});

test("the removal of a link rolls back when it cannot end a session", function* () {
  const { tamper } = yield* Tampering;
  const [flows, links] = [yield* FlowStore, yield* LinkStore];
  yield* storeKey;
  const write = { ...origin, pid, chatId, at: 1 };
  yield* links.setGame({ ...write, gameId });
  yield* storeProven(1, session);
  const before = [yield* flows.find(flowOf(1).id, 0), yield* links.findByChatId(pid, chatId)];
  tamper(refuseWritesTo("verification_sessions", "UPDATE"));
  for (const removal of [links.removeGame(write), links.deleteScope(write)]) {
    expect(Exit.isFailure(yield* Effect.exit<unknown, unknown, never>(removal))).toBe(true);
    const after = [yield* flows.find(flowOf(1).id, 0), yield* links.findByChatId(pid, chatId)];
    expect(after).toEqual(before);
  }
});

test("a session that could not be created does not count against the burst of its key", function* () {
  const { tamper, look } = yield* Tampering;
  const sessions = yield* SessionStore;
  yield* storeKey;
  tamper(refuseWritesTo("verification_sessions"));
  const burst = { capacity: 1, refillMs: 10 };
  expect(Exit.isFailure(yield* Effect.exit(sessions.create({ session, burst })))).toBe(true);
  expect(look("SELECT * FROM session_bursts")).toEqual([]);
});
