import { AuditLog, type InvalidParameter, type StoreUnavailable } from "@accountlink/core";
import type { AuditAction, AuditEntry, AuditFilter } from "@accountlink/core/audit";
import { Array, Context, Effect, Layer, Option, Stream } from "effect";
import { keyIdOf } from "./ids.ts";
import { Scope } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** Selects entries of the audit log. A field that is left out does not restrict the selection. */
export interface AuditChoice {
  readonly action?: AuditAction;
  /** Selects entries about changes to this key, and about changes that this key made. */
  readonly keyId?: string;
  /** Selects entries whose sequence number is lower than this number. */
  readonly before?: number;
}

/**
 * The audit log of the account: who changed which links, keys and accounts.
 *
 * @example
 * ```ts
 * import { Effect, Stream } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const links = yield* Links;
 *   const audit = yield* Audit;
 *   yield* links.set("100001", "1", { actor: "Grace" });
 *   return yield* audit.entries().pipe(Stream.map(({ actor }) => actor.id), Stream.runCollect);
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // ["Grace"]
 * ```
 */
export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Streams the entries of the account that owns the scope, newest first. Entries are read only as they are consumed.
     */
    readonly entries: (
      choice?: AuditChoice,
    ) => Stream.Stream<AuditEntry, InvalidParameter | StoreUnavailable>;
  }
>()("accountlink/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const { account } = yield* Scope;
      const log = yield* AuditLog;
      const pagesOf = (filter: AuditFilter, before: number | null) =>
        Stream.paginate(before, (earlier) =>
          Effect.map(log.list(account, earlier, pageSize, filter), (entries) => [
            entries,
            Option.map(
              Option.filter(Array.last(entries), () => entries.length === pageSize),
              ({ sequence }) => sequence,
            ),
          ]),
        );
      return Audit.of(
        checked<Audit["Service"]>(
          {
            entries: ({ action = null, keyId, before = null } = {}) =>
              Stream.unwrap(
                Effect.map(keyId === undefined ? Effect.succeed(null) : keyIdOf(keyId, "keyId"), (id) =>
                  pagesOf({ action, keyId: id }, before),
                ),
              ),
          },
          signatures.audit,
        ),
      );
    }),
  );
}

const pageSize = 100;
