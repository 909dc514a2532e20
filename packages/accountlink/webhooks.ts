/** Webhooks, which push the events of a scope to other servers. */
import type { Conflict, InvalidParameter, StoreUnavailable } from "@accountlink/core";
import { BadRequest, InvalidParameter as Invalid } from "@accountlink/core/errors";
import {
  Webhooks as CoreWebhooks,
  type DeliveryPage,
  type DeliveryStatus,
  type IssuedWebhook,
  type NewWebhook,
  type WebhookDelivery,
  type WebhookDetails,
  type WebhookUpdate,
} from "@accountlink/core/webhooks";
import { Context, Effect, Layer } from "effect";
import { originOf, Scope, type WriteOptions } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** The fields of a new webhook. By default it receives all types of events. */
export type WebhookChoice = Omit<NewWebhook, "account" | "target">;

/** Selects deliveries, newest first. By default, selects the newest 50, whatever their status. */
export interface DeliveryChoice {
  readonly status?: DeliveryStatus;
  /** An event ID: selects deliveries of older events. For the next page, pass the `next` of the previous page. */
  readonly before?: string;
  readonly limit?: number;
}

type Options = Pick<WriteOptions, "actor">;
type ReadError = InvalidParameter | StoreUnavailable;

/**
 * The webhooks of a scope. An ID that is not a webhook of the scope fails with `InvalidParameter`. The service sends
 * events only while its process runs. Several processes on the same storage share the work.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const webhooks = yield* Webhooks;
 *   const { webhook, secret } = yield* webhooks.create({ url: "https://example.com/links" });
 *   yield* webhooks.update(webhook.id, { status: "paused" });
 *   return [secret.slice(0, 6), (yield* webhooks.list()).map(({ status }) => status)];
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // ["whsec_", ["paused"]]
 * ```
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * Creates a webhook. Its `secret` cannot be read again. Fails with `Conflict` `webhook_limit` if the scope has five
     * webhooks.
     */
    readonly create: (
      webhook: WebhookChoice,
      options?: Options,
    ) => Effect.Effect<IssuedWebhook, InvalidParameter | Conflict | StoreUnavailable>;

    /** Returns the webhooks, oldest first. */
    readonly list: () => Effect.Effect<ReadonlyArray<WebhookDetails>, StoreUnavailable>;

    readonly update: (
      id: string,
      update: WebhookUpdate,
      options?: Options,
    ) => Effect.Effect<WebhookDetails, ReadError>;

    readonly delete: (id: string, options?: Options) => Effect.Effect<void, ReadError>;

    /** Gives the webhook a new secret. For 24 hours, requests are signed with the previous secret too. */
    readonly rotate: (id: string, options?: Options) => Effect.Effect<IssuedWebhook, ReadError>;

    /**
     * Makes one attempt now to send an event of type `test`. Fails with `Conflict` `test_limit` while three tests of
     * the account are in flight.
     */
    readonly test: (id: string, options?: Options) => Effect.Effect<WebhookDelivery, ReadError | Conflict>;

    /** Returns a page of deliveries, newest first. A delivery is kept as long as its event. */
    readonly deliveries: (id: string, choice?: DeliveryChoice) => Effect.Effect<DeliveryPage, ReadError>;

    /** Makes one attempt now to send an event again. */
    readonly resend: (
      id: string,
      eventId: string,
      options?: Options,
    ) => Effect.Effect<WebhookDelivery, ReadError>;
  }
>()("accountlink/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const webhooks = yield* CoreWebhooks;
      const { account } = scope;

      const findOwn = Effect.fnUntraced(function* (id: string) {
        const found = yield* webhooks.find(account, id);
        if (found.scope.pid !== scope.pid) return yield* new BadRequest({ problem: "not_found" });
      });

      const own = <A, E extends ReadError | Conflict>(
        id: string,
        operation: Effect.Effect<A, BadRequest | E>,
      ): Effect.Effect<A, ReadError | E> =>
        orInvalid(
          "id",
          `is "${id}", expected a webhook of the scope`,
          Effect.andThen(findOwn(id), operation),
        );

      return Webhooks.of(
        checked<Webhooks["Service"]>(
          {
            create: (choice, options) =>
              webhooks.create({ ...choice, account, target: scope }, originOf(options)),
            list: () =>
              Effect.map(webhooks.list(account), (all) =>
                all.filter((webhook) => webhook.scope.pid === scope.pid),
              ),
            update: (id, update, options) => own(id, webhooks.update(account, id, update, originOf(options))),
            delete: (id, options) => own(id, webhooks.remove(account, id, originOf(options))),
            rotate: (id, options) => own(id, webhooks.rotate(account, id, originOf(options))),
            test: (id, options) => own(id, webhooks.test(account, id, originOf(options))),
            deliveries: (id, { status = null, before = null, limit = 50 } = {}) =>
              own(id, webhooks.deliveries(account, id, { status, before, limit })),
            resend: (id, eventId, options) =>
              own(
                id,
                orInvalid(
                  "eventId",
                  `is "${eventId}", expected the event of a delivery that is kept`,
                  webhooks.resend(account, id, eventId, originOf(options)),
                ),
              ),
          },
          signatures.webhooks,
        ),
      );
    }),
  );
}

/** Converts `BadRequest`, with which core reports an unknown ID, to `InvalidParameter`. */
const orInvalid = <A, E extends ReadError | Conflict>(
  name: string,
  reason: string,
  operation: Effect.Effect<A, BadRequest | E>,
): Effect.Effect<A, InvalidParameter | E> =>
  Effect.catchTag(operation, "BadRequest", () => Invalid.one(name, reason));
