/** A receiver of webhooks, which refuses some deliveries and loses some answers. */
import type { ApiKey, StoragePorts } from "@accountlink/core";
import type { Secrets } from "@accountlink/core/secrets";
import { type WebhookId, WebhookSender, WebhookStore, WebhookUnanswered } from "@accountlink/core/webhooks";
import { makeWebhook } from "@accountlink/testing";
import type { Process, World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit } from "effect";
import { askService } from "./service_request.ts";

export interface Delivery {
  /** The event's ID. */
  readonly id: string;
  readonly status: number;
}

/** The receiver refuses a delivery or loses the answer at most this many times, only at a delivery's first attempt. */
const mostRefusals = 2;

export class Receiver {
  readonly received: Array<Delivery> = [];
  readonly #world: World;
  readonly #outside: Process;
  readonly #known = new Set<string>();
  #refusals = 0;

  constructor(world: World, outside: Process) {
    this.#world = world;
    this.#outside = outside;
  }

  senderOf(node: Process): (typeof WebhookSender)["Service"] {
    const world = this.#world;
    return {
      problemOf: () => Effect.succeed(null),
      send: ({ headers }) =>
        askService(node, this.#outside, new WebhookUnanswered({ error: "timeout" }), () => {
          const id = headers["webhook-id"] ?? "";
          const mayFail = this.#refusals < mostRefusals && !this.#known.has(id);
          this.#known.add(id);
          const [refuses, isLost] = [
            mayFail && world.chance.happens(0.2),
            mayFail && world.chance.happens(0.1),
          ];
          if (refuses || isLost) this.#refusals++;
          const status = refuses ? 500 : 204;
          this.received.push({ id, status });
          return isLost ? null : Exit.succeed({ status, retryAfter: null });
        }),
    };
  }

  /** Registers the receiver as a webhook of a scope. Deliveries start at the beginning of the feed. */
  register(
    scope: ApiKey["scope"],
    ports: Context.Context<StoragePorts>,
    seal: Secrets["Service"]["sealWebhookSecret"],
  ): Effect.Effect<unknown, unknown> {
    const id = "wh_00000000000000000001" as WebhookId;
    return Effect.flatMap(seal(id, new Uint8Array(32)), (sealed) =>
      Context.get(ports, WebhookStore).insert({
        actor: { type: "operator", id: "simulation" },
        requestId: null,
        webhook: makeWebhook(scope, { id, createdAt: this.#outside.currentTimeMillisUnsafe() }),
        sealed,
        position: 0,
        maxOfScope: 5,
      }),
    );
  }
}
