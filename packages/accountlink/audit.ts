/**
 * The audit log of an account.
 */

import type { KeyId } from "@accountlink/core";
import { AuditLog, type StoreUnavailable } from "@accountlink/core";
import type { AuditAction, AuditEntry } from "@accountlink/core/audit";
import { Array, Context, Effect, Layer, Option, Stream } from "effect";
import { Scope } from "./scope.ts";

/** Which entries; all if left out. */
export interface AuditChoice {
  readonly action?: AuditAction;
  /** A key that changed, or that made the change. */
  readonly keyId?: KeyId;
  /** Only entries before this sequence. */
  readonly before?: number;
}

/** Who changed which links, keys and accounts. */
export class Audit extends Context.Service<
  Audit,
  {
    /** The entries of the account that owns the scope, newest first, read as they are needed. */
    readonly entries: (choice?: AuditChoice) => Stream.Stream<AuditEntry, StoreUnavailable>;
  }
>()("accountlink/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const { account } = yield* Scope;
      const log = yield* AuditLog;
      return Audit.of({
        entries: ({ action = null, keyId = null, before = null } = {}) =>
          Stream.paginate(before, (earlier) =>
            Effect.map(log.list(account, earlier, pageSize, { action, keyId }), (entries) => [
              entries,
              Option.map(
                Option.filter(Array.last(entries), () => entries.length === pageSize),
                ({ sequence }) => sequence,
              ),
            ]),
          ),
      });
    }),
  );
}

const pageSize = 100;
