import { AuditLog, type StoragePorts } from "@accountlink/core";
import type { AuditAction } from "@accountlink/core/audit";
import { type KeyStatus, KeyStore } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { makeKey, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { insert } from "./keys.ts";

export const audits: Cases<StoragePorts> = {
  "each key change logs one audit entry, and a call without a change logs none": Effect.gen(function* () {
    const keys = yield* KeyStore;
    const log = yield* AuditLog;
    const { account, guild } = yield* makeScopes;
    const key = makeKey(guild, { createdAt: 1 });
    const { id } = key;
    const setStatus = (status: KeyStatus, at: Millis, action?: "key.reported") =>
      keys.updateKey({ ...origin, id, update: { status }, at, ...(action && { action }) });
    yield* insert(key);
    yield* insert(key);
    yield* insert(makeKey(guild), 0);
    yield* keys.rotateKey({ ...origin, id, hash: uniqueText(), at: 2, previousUntil: 5 });
    yield* setStatus("disabled", 3);
    yield* setStatus("disabled", 4);
    yield* setStatus("revoked", 5, "key.reported");
    yield* setStatus("active", 6);
    yield* keys.rotateKey({ ...origin, id, hash: uniqueText(), at: 7, previousUntil: 9 });
    const entryOf = (action: AuditAction, at: Millis, status: KeyStatus) => {
      const details = { keyId: id, status };
      return { ...origin, at, account: account.name, pid: guild.pid, action, details };
    };
    const entries = yield* log.list(account.name, null, 10);
    expectEqual(entries.map(({ sequence: _, ...entry }) => entry).toReversed(), [
      entryOf("key.created", 1, "active"),
      entryOf("key.rotated", 2, "active"),
      entryOf("key.status_changed", 3, "disabled"),
      entryOf("key.reported", 5, "revoked"),
    ]);
  }),
};
