import { AuditLog, type StoragePorts, type StoreUnavailable } from "@accountlink/core";
import { SuspectStore } from "@accountlink/core/alts";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { RolePlanStore } from "@accountlink/core/roles";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore } from "@accountlink/core/sign_ins";
import { UsageStore } from "@accountlink/core/usage";
import { expect, testLiveWith } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { layerTampering, scope, Tampering } from "../sqlite/test_tampering.ts";

const batches = 8;

/** SQL that inserts enough rows to fill all batches of a sweep. All rows are older than its time, which is 2. */
const insert = (table: string, values: string) => `
  INSERT INTO ${table}
  WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${batches * 100})
  SELECT ${values} FROM numbers`;

const { pid } = scope;

interface Sweep {
  readonly insertion: string;
  readonly sweep: Effect.Effect<unknown, StoreUnavailable, StoragePorts>;
}

const sweepSessions = SessionStore.use((store) =>
  store.sweep({ at: 2, sessionsBefore: 2, sightingsBefore: 2 }),
);

const sweeps: Readonly<Record<string, Sweep>> = {
  idempotency_keys: {
    insertion: insert("idempotency_keys (id, fingerprint, chat_ids, ends_at)", "i, 'f', '[]', 1"),
    sweep: IdempotencyStore.use((store) => store.sweep(2)),
  },
  begun_sign_ins: {
    insertion: insert("begun_sign_ins (state_hash, site, expires_at)", "i, 'me', 1"),
    sweep: SignInStore.use((store) => store.sweep(2)),
  },
  site_sign_ins: {
    insertion: insert("site_sign_ins (id, site, chat_id, created_at, expires_at)", "i, 'me', '10001', 0, 1"),
    sweep: SignInStore.use((store) => store.sweep(2)),
  },
  journal: {
    insertion: insert(
      "journal (place, sequence, at, actor_type, actor_id, action, details)",
      `'${pid}', i, 1, 'operator', 'test', 'link.set', '{}'`,
    ),
    sweep: AuditLog.use((log) => log.forget(2)),
  },
  usage_days: {
    insertion: insert("usage_days", "'key', i - 100000, 'lookup', 1, 0, 0"),
    sweep: UsageStore.use((store) => store.forget(2)),
  },
  verification_flows: {
    insertion: insert("verification_flows (id, pid, word_seed, expires_at)", `i, '${pid}', '', 1`),
    sweep: sweepSessions,
  },
  suspects: {
    insertion: insert(
      "suspects (pid, chat_id, other_chat_id, game_id, linked_at, score, evidence)",
      `'${pid}', 10000 + i, '10001', '1', 1, 1, '[]'`,
    ),
    sweep: SuspectStore.use((suspects) => suspects.forget(2)),
  },
  role_members: {
    insertion: insert(
      "role_members (pid, guild_id, chat_id, mark, replaced_at)",
      `'${pid}', '70001', 10000 + i, 1, 1`,
    ),
    sweep: RolePlanStore.use((plans) => plans.forgetNicknames(2)),
  },
  sightings: {
    insertion: insert(
      "sightings (pid, chat_id, place_hash, address_key_id, sealed_address, seen_at)",
      `'${pid}', 10000 + i, i, 'k', 'x', 1`,
    ),
    sweep: sweepSessions,
  },
};

const test = testLiveWith(layerTampering);

test.each(Object.entries(sweeps))(
  "a sweep of %s lets requests run after each batch",
  function* ([table, each]) {
    const { tamper, look } = yield* Tampering;
    tamper(each.insertion);
    let turns = 0;
    const count = () => {
      turns++;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    yield* each.sweep;
    clearImmediate(turn);
    expect(turns).toBeGreaterThanOrEqual(batches - 1);
    expect(look(`SELECT 1 FROM ${table}`)).toEqual([]);
  },
);
