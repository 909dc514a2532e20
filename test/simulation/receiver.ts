/** A receiver of webhooks, which refuses some deliveries and loses some answers. */
import type { ApiKey, StoragePorts } from "@accountlink/core";
import type { Secrets } from "@accountlink/core/secrets";
import { type WebhookId, WebhookSender, WebhookStore, WebhookUnanswered } from "@accountlink/core/webhooks";
import { latency, type Process, type World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit } from "effect";

export interface Delivery {
  readonly at: number;
  /** The event's ID. */
  readonly id: string;
  readonly status: number;
}

/** How long nodes wait for an answer, in milliseconds. */
const patience = 3_000;

/** At most this many deliveries are refused, each at its first attempt. */
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
    const unanswered = Exit.fail(new WebhookUnanswered({ error: "timeout" }));
    return {
      problemOf: () => Effect.succeed(null),
      send: ({ headers }) =>
        Effect.callback((resume) => {
          const stopWaiting = world.after(patience, node, () => resume(unanswered));
          world.after(latency(world), this.#outside, () => {
            const id = headers["webhook-id"] ?? "";
            const mayFail = this.#refusals < mostRefusals && !this.#known.has(id);
            this.#known.add(id);
            const [refuses, isLost] = [
              mayFail && world.chance.happens(0.2),
              mayFail && world.chance.happens(0.1),
            ];
            if (refuses || isLost) this.#refusals++;
            const status = refuses ? 500 : 204;
            this.received.push({ at: world.now, id, status });
            if (isLost) return;
            world.after(latency(world), node, () => {
              stopWaiting();
              resume(Exit.succeed({ status, retryAfter: null }));
            });
          });
          return Effect.sync(stopWaiting);
        }),
    };
  }

  /** Registers the receiver for a scope, from the beginning of the feed. */
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
        webhook: {
          id,
          scope,
          url: "https://receiver.example",
          types: [],
          description: "",
          status: "active",
          disabledReason: null,
          createdAt: this.#outside.currentTimeMillisUnsafe(),
          lastDeliveredAt: null,
          failingSince: null,
        },
        sealed,
        position: 0,
        maxOfScope: 5,
      }),
    );
  }
}
