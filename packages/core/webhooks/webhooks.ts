import { Clock, Context, Effect, Layer, Option, Struct } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import type { WriteOrigin } from "../audit/audit.ts";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import type { ScopeTarget } from "../data_scope.ts";
import { BadRequest, Conflict, InvalidParameter, type ParameterProblem } from "../errors.ts";
import { EventStore, eventTypes } from "../events/mod.ts";
import { type Account, ApiKeys, type NewAccount, randomText } from "../keys/mod.ts";
import { pageOf } from "../list_page.ts";
import { expectedNameText, isNameText } from "../name_text.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs } from "../timestamp.ts";
import { newUlid } from "../ulid.ts";
import { untriedDelivery } from "./delivery/attempt.ts";
import { makeRequestedSend } from "./delivery/requested_send.ts";
import { isEventId, makeSentDeliveries, shownDelivery } from "./sent_delivery.ts";
import {
  isWebhookId,
  type StoredWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookDetails,
  type WebhookId,
  type WebhookUpdate,
} from "./webhook.ts";
import { WebhookSender, webhookUrlProblem } from "./webhook_sender.ts";
import { type DeliveryFilter, WebhookStore } from "./webhook_store.ts";

const webhooksOfScope = 5;

/** The greatest length of a description in characters. @internal */
export const longestDescription = 300;

/** How long the previous secret keeps signing after a rotation, in milliseconds. */
const rotationGrace = dayMs;

export interface NewWebhook extends Partial<Pick<Webhook, "types" | "description">> {
  readonly account: NewAccount | Account;
  readonly target: ScopeTarget;
  readonly url: string;
}

/** A new webhook or a webhook with a new secret. The secret is returned only here and cannot be read later. */
export interface IssuedWebhook {
  readonly webhook: WebhookDetails;
  /** `whsec_` and 32 bytes in base64. */
  readonly secret: string;
}

/**
 * A page of deliveries. The next page holds the deliveries before the event id `next`, which is null on the last page.
 */
export interface DeliveryPage {
  readonly deliveries: ReadonlyArray<WebhookDelivery>;
  readonly next: string | null;
}

/**
 * Manages webhooks for owners and operators. If `account` is null, a method covers the webhooks of all accounts.
 * @internal
 */
export class Webhooks extends Context.Service<Webhooks>()("@accountlink/core/Webhooks", {
  make: Effect.gen(function* () {
    const store = yield* WebhookStore;
    const events = yield* EventStore;
    const keys = yield* ApiKeys;
    const sender = yield* WebhookSender;
    const random = yield* SecureRandom.SecureRandom;
    const secrets = yield* Secrets;
    const sendNow = yield* makeRequestedSend;
    const deliveries = yield* makeSentDeliveries;
    const announceChange = yield* makeAnnounceItems("webhooks");
    const notFound = new BadRequest({ problem: "not_found" });

    const issueSecret = Effect.fnUntraced(function* (id: WebhookId) {
      const bytes = yield* random.randomBytes(32);
      const sealed = yield* secrets.sealWebhookSecret(id, bytes);
      return { secret: `whsec_${Base64.encode(bytes)}`, sealed };
    });

    /** @param id any text, such as a value from a URL */
    const findStored = Effect.fnUntraced(function* (account: string | null, id: string) {
      const found = isWebhookId(id) ? Option.getOrNull(yield* store.find(id)) : null;
      const isTheirs = found !== null && (account === null || found.scope.account === account);
      return isTheirs ? found : yield* notFound;
    });

    const find = Effect.fn("Webhooks.find")(function* (account: string | null, id: string) {
      const [found] = isWebhookId(id) ? yield* store.list({ account, id }) : [];
      return found ?? (yield* notFound);
    });

    const detailsOf = ({ id, scope: { account } }: StoredWebhook) => find(account, id);

    /** Makes an operation on a webhook of an account, or of any account if that is null. */
    const ofOwner = <Rest extends ReadonlyArray<unknown>, Step extends Effect.Effect<unknown, unknown>, A>(
      name: string,
      operate: (webhook: StoredWebhook, ...rest: Rest) => Generator<Step, A>,
    ) =>
      Effect.fn(`Webhooks.${name}`)(function* (account: string | null, id: string, ...rest: Rest) {
        return yield* operate(yield* findStored(account, id), ...rest);
      });

    return {
      /** Returns webhooks oldest first. */
      list: (account: string | null) => store.list({ account, id: null }),

      /** @param id any text, such as a value from a URL */
      find,

      /**
       * Creates a webhook, which gets all events from now on. Fails with a `webhook_limit` `Conflict` if the scope
       * already has the maximum number of webhooks.
       *
       * @param admission checks the caller's permission; runs after the fields are checked
       */
      create: Effect.fn("Webhooks.create")(function* <E = never, R = never>(
        choice: NewWebhook,
        origin: WriteOrigin,
        admission?: Effect.Effect<unknown, E, R>,
      ) {
        const { account, target, url, types = [], description = "" } = choice;
        yield* check(sender, { url, types, description });
        if (admission !== undefined) yield* admission;
        const scope = yield* keys.scopeOf(account, target);
        const id = `wh_${yield* randomText(random, 20, 62)}` as WebhookId;
        const { secret, sealed } = yield* issueSecret(id);
        const webhook: Webhook = {
          id,
          scope,
          url,
          types: [...new Set(types)],
          description,
          status: "active",
          disabledReason: null,
          createdAt: yield* Clock.currentTimeMillis,
          lastDeliveredAt: null,
          failingSince: null,
        };
        const { end } = yield* events.range(scope.pid);
        const write = { ...origin, webhook, sealed, position: end, maxOfScope: webhooksOfScope };
        if (!(yield* store.insert(write))) return yield* new Conflict({ reason: "webhook_limit" });
        yield* announceChange;
        return { secret, webhook: { ...webhook, pending: 0, previousSecretEndsAt: null } };
      }),

      /**
       * Sends a `test` event now, once. Fails with a `test_limit` `Conflict` while three tests and resent events are in
       * flight.
       */
      test: ofOwner("test", function* (webhook, origin: WriteOrigin) {
        const at = yield* Clock.currentTimeMillis;
        const event = { id: `evt_${newUlid(at)}`, type: "test", at, data: {} };
        return yield* sendNow(webhook, event, untriedDelivery(event), origin);
      }),

      /**
       * Sends an event again now. If the delivery was failing and this attempt fails too, the scheduled attempts
       * continue. Fails with `Conflict` as `test` does.
       */
      resend: ofOwner("resend", function* (webhook, eventId: string, origin: WriteOrigin) {
        const delivery = yield* deliveries.findTried(webhook, eventId);
        const event = yield* deliveries.eventOf(webhook, delivery);
        return yield* sendNow(webhook, event, delivery, origin);
      }),

      /**
       * Returns a delivery with the headers and the body that its latest attempt sent. The signature is left out, because
       * the secret of the webhook may have changed since then. Users who were erased since then are erased in the body
       * too.
       */
      sent: ofOwner("sent", function* (webhook, eventId: string) {
        return yield* deliveries.sent(webhook, eventId);
      }),

      update: ofOwner("update", function* (webhook, update: WebhookUpdate, origin: WriteOrigin) {
        yield* check(sender, update);
        const types = update.types && { types: [...new Set(update.types)] };
        // Drops unknown fields, because callers without type checks may pass fields that must not change, such as a
        // secret.
        const change = { ...Struct.pick(update, ["url", "description", "status"]), ...types };
        const at = yield* Clock.currentTimeMillis;
        yield* store.update({ ...origin, id: webhook.id, change, at });
        yield* announceChange;
        return yield* detailsOf(webhook);
      }),

      remove: ofOwner("remove", function* ({ id }, origin: WriteOrigin) {
        const at = yield* Clock.currentTimeMillis;
        if (!(yield* store.remove({ ...origin, id, at }))) return yield* notFound;
        yield* announceChange;
      }),

      /** Gives the webhook a new secret. For 24 hours, deliveries are signed with the previous secret too. */
      rotate: ofOwner("rotate", function* (webhook, origin: WriteOrigin) {
        const { id } = webhook;
        const { secret, sealed } = yield* issueSecret(id);
        const at = yield* Clock.currentTimeMillis;
        const change = { sealed, previousUntil: at + rotationGrace };
        yield* store.update({ ...origin, id, change, at });
        return { secret, webhook: yield* detailsOf(webhook) };
      }),

      /**
       * Tries all failing deliveries of an active webhook again now, instead of at their scheduled times. The deliveries
       * keep all of their scheduled attempts.
       */
      sendPending: ofOwner("sendPending", function* (webhook) {
        yield* store.sendPending(webhook.id, yield* Clock.currentTimeMillis);
        yield* announceChange;
        return yield* detailsOf(webhook);
      }),

      /** Returns the deliveries of a webhook, newest first. A delivery is kept as long as its event. */
      deliveries: ofOwner("deliveries", function* (webhook, { limit, ...filter }: DeliveryFilter) {
        if (filter.before !== null && !isEventId(filter.before)) return { deliveries: [], next: null };
        const found = yield* store.deliveries(webhook.id, { ...filter, limit: limit + 1 });
        const { page, last } = pageOf(found, limit);
        return { deliveries: page.map(shownDelivery), next: last && last.eventId };
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(Webhooks, Webhooks.make);
}

/** Fails with `InvalidParameter` for fields that a webhook cannot have. */
const check = Effect.fnUntraced(function* (
  sender: typeof WebhookSender.Service,
  { url, types = [], description = "" }: WebhookUpdate,
) {
  const problems: Array<ParameterProblem> = [];
  if (url !== undefined) {
    const problem = webhookUrlProblem(url) ?? (yield* sender.problemOf(url));
    if (problem !== null) problems.push({ name: "url", reason: problem });
  }
  if (!types.every((type) => (eventTypes as ReadonlyArray<string>).includes(type))) {
    problems.push({ name: "types", reason: `expected a list of ${eventTypes.join(", ")}` });
  }
  if (Array.from(description).length > longestDescription || !isNameText(description)) {
    problems.push({
      name: "description",
      reason: `expected at most ${longestDescription} characters, ${expectedNameText}`,
    });
  }
  if (problems.length > 0) return yield* new InvalidParameter({ parameters: problems });
});
