import { SessionId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { makeKey } from "@accountlink/testing";
import { expect } from "vitest";
import { origin, scope, Tampering, test } from "../sqlite/test_tampering.ts";

test("sessions are swept in batches, however many have ended", function* () {
  const { tamper, look } = yield* Tampering;
  const [sessions, keys] = [yield* SessionStore, yield* KeyStore];
  const key = makeKey(scope);
  yield* keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: 1 });
  const count = 1_200;
  tamper(`
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
          INSERT INTO verification_sessions
            (sid, key_id, pid, client_id, state, link_changed, created_at, expires_at, change)
          SELECT printf('vs_%043d', i), '${key.id}', '${scope.pid}', '', 'opened', 0, 0, 10, 2 FROM numbers;
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
          INSERT INTO verification_flows (id, pid, word_seed, expires_at) SELECT 'flow ' || i, '${scope.pid}', '', 10 FROM numbers`);
  const sids = Array.from({ length: count }, (_, i) => SessionId.make(`vs_${`${i + 1}`.padStart(43, "0")}`));
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
