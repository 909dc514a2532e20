import { AuditLog, type KeyId } from "@accountlink/core";
import { type AuditAction, type AuditFilter, auditActions } from "@accountlink/core/audit";
import { Context, Effect, Layer, Option, Stream } from "effect";
import * as Accept from "./accept.ts";
import { streamMethod } from "./method.ts";
import { Scope } from "./scope.ts";
import { withSpans } from "./spans.ts";

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
export class Audit extends Context.Service<Audit>()("accountlink/Audit", {
  make: Effect.gen(function* () {
    const { account } = yield* Scope;
    const log = yield* AuditLog;
    return {
      /**
       * Streams the entries of the account that owns the scope, newest first. Entries are read only as they are
       * consumed.
       */
      entries: streamMethod([selecting], (choice?: AuditChoice) => {
        const filter: AuditFilter = {
          action: choice?.action ?? null,
          keyId: (choice?.keyId ?? null) as KeyId | null,
        };
        return Stream.paginate(choice?.before ?? null, (earlier: number | null) =>
          Effect.map(log.list(account, earlier, pageSize, filter), ({ entries, next }) => [
            entries,
            Option.fromNullOr(next),
          ]),
        );
      }),
    };
  }).pipe(withSpans("Audit")),
}) {
  static readonly layer = Layer.effect(Audit, Audit.make);
}

const selecting = Accept.options({
  action: Accept.maybe(Accept.oneOf(auditActions)),
  keyId: Accept.maybe(Accept.anyKeyId),
  before: Accept.maybe(Accept.count),
});

const pageSize = 100;
