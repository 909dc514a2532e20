/** Webhooks, which push the events of a scope to other servers. */
import { BadRequest, InvalidParameter } from "@accountlink/core/errors";
import { eventTypes } from "@accountlink/core/events";
import {
  Webhooks as CoreWebhooks,
  type DeliveryStatus,
  deliveryStatuses,
  type NewWebhook,
  type WebhookUpdate,
} from "@accountlink/core/webhooks";
import { Context, Effect, Layer } from "effect";
import * as Accept from "./accept.ts";
import { method, type Parameter } from "./method.ts";
import { type ActorOptions, originOf, Scope } from "./scope.ts";
import { withSpans } from "./spans.ts";

/** The fields of a new webhook. By default it receives all types of events. */
export type WebhookChoice = Omit<NewWebhook, "account" | "target">;

/** Selects deliveries, newest first. By default, selects the newest 50, whatever their status. */
export interface DeliveryChoice {
  readonly status?: DeliveryStatus;
  /** An event ID: selects deliveries of older events. For the next page, pass the `next` of the previous page. */
  readonly before?: string;
  readonly limit?: number;
}

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
export class Webhooks extends Context.Service<Webhooks>()("accountlink/Webhooks", {
  make: Effect.gen(function* () {
    const scope = yield* Scope;
    const webhooks = yield* CoreWebhooks;
    const { account } = scope;
    const owner = { name: account, chatId: null, tier: "free" } as const;

    const findOwn = Effect.fnUntraced(function* (id: string) {
      const found = yield* webhooks.find(account, id);
      if (found.scope.pid !== scope.pid) return yield* new BadRequest({ problem: "not_found" });
    });

    const own = <A, E>(id: string, operation: Effect.Effect<A, E>) =>
      orInvalid("id", `is "${id}", expected a webhook of the scope`, Effect.andThen(findOwn(id), operation));

    return {
      /**
       * Creates a webhook. Its `secret` cannot be read again. Fails with `Conflict` `webhook_limit` if the scope has
       * five webhooks.
       */
      create: method(
        [["webhook", Accept.fields({ ...webhookFields, url: Accept.text })], Accept.acting],
        (webhook: WebhookChoice, options?: ActorOptions) =>
          webhooks.create({ ...webhook, account: owner, target: scope }, originOf(options)),
      ),

      /** Returns the webhooks, oldest first. */
      list: () =>
        Effect.map(webhooks.list(account), (all) => all.filter((webhook) => webhook.scope.pid === scope.pid)),

      /** Changes a webhook. Fields that are left out stay. */
      update: method(
        [id, Accept.update(updateFields), Accept.acting],
        (id: string, update: WebhookUpdate, options?: ActorOptions) =>
          own(id, webhooks.update(account, id, update, originOf(options))),
      ),

      /** Ends a webhook, and forgets its deliveries. */
      delete: method([id, Accept.acting], (id: string, options?: ActorOptions) =>
        own(id, webhooks.remove(account, id, originOf(options))),
      ),

      /** Gives the webhook a new secret. For 24 hours, requests are signed with the previous secret too. */
      rotate: method([id, Accept.acting], (id: string, options?: ActorOptions) =>
        own(id, webhooks.rotate(account, id, originOf(options))),
      ),

      /**
       * Makes one attempt now to send an event of type `test`. Fails with `Conflict` `test_limit` while three tests of
       * the account are in flight.
       */
      test: method([id, Accept.acting], (id: string, options?: ActorOptions) =>
        own(id, webhooks.test(account, id, originOf(options))),
      ),

      /** Returns a page of deliveries, newest first. A delivery is kept as long as its event. */
      deliveries: method([id, selecting], (id: string, choice?: DeliveryChoice) =>
        own(id, webhooks.deliveries(account, id, { status: null, before: null, limit: 50, ...choice })),
      ),

      /** Makes one attempt now to send an event again. */
      resend: method(
        [id, ["eventId", Accept.text], Accept.acting],
        (id: string, eventId: string, options?: ActorOptions) =>
          own(
            id,
            orInvalid(
              "eventId",
              `is "${eventId}", expected the event of a delivery that is kept`,
              webhooks.resend(account, id, eventId, originOf(options)),
            ),
          ),
      ),
    };
  }).pipe(withSpans("Webhooks")),
}) {
  static readonly layer = Layer.effect(Webhooks, Webhooks.make);
}

const id: Parameter<string> = ["id", Accept.text];
const webhookFields = {
  types: Accept.maybe(Accept.listOf(Accept.oneOf(eventTypes))),
  description: Accept.maybe(Accept.text),
};
const updateFields = {
  ...webhookFields,
  url: Accept.maybe(Accept.text),
  status: Accept.maybe(Accept.oneOf(["active", "paused"])),
};
const selecting = Accept.options({
  status: Accept.maybe(Accept.oneOf(deliveryStatuses)),
  before: Accept.maybe(Accept.text),
  limit: Accept.maybe(Accept.whole(1, 100)),
});

/** Converts `BadRequest`, with which core reports an unknown ID, to `InvalidParameter`. */
const orInvalid = <A, E>(name: string, reason: string, operation: Effect.Effect<A, E>) =>
  Effect.mapError(operation, (error) =>
    error instanceof BadRequest ? InvalidParameter.one(name, reason) : (error as Exclude<E, BadRequest>),
  );
