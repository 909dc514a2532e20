/** A node: the services and the HTTP application, as the server composes them. */

import {
  AccountLink,
  AddressVault,
  ChatId,
  ChatPlatform,
  decodeFixture,
  NetworkIntelligence,
  UserData,
} from "@accountlink/core";
import { EventWatch } from "@accountlink/core/events";
import { FallbackCounters } from "@accountlink/core/limits";
import { RoleCouriers } from "@accountlink/core/roles";
import { RootKey, Secrets } from "@accountlink/core/secrets";
import { SessionWatch } from "@accountlink/core/sessions";
import { WebhookCouriers, WebhookSender } from "@accountlink/core/webhooks";
import { type HttpRequest, type HttpResponse, HttpSettings, makeHttpApp, Readiness } from "@accountlink/http";
import { CacheMemory, PlatformMemory } from "@accountlink/memory";
import { cryptoLayer } from "@accountlink/server/crypto";
import { type Postgres, Process, type Redis, type World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect";
import type { Guild } from "./guild.ts";
import type { Receiver } from "./receiver.ts";

/** The chat users that exist in every simulation, in addition to `erasedChatId`. */
export const chatIds = ["100001", "100002"];
/** The chat user that clients of the kind `erasure` link and erase. Other clients do not use this chat user. */
export const erasedChatId = "100004";
const gameUsers = 400;

const platform = await Effect.runPromise(
  decodeFixture(
    JSON.stringify({
      platform: {
        chatUsers: [...chatIds, erasedChatId].map((id) => ({ id, username: `user_${id}` })),
        gameUsers: Array.from({ length: gameUsers }, (_, index) => ({
          id: String(index + 1),
          username: `game_${index + 1}`,
        })),
      },
    }),
  ),
).then((fixture) => fixture.platform);

const secret = Redacted.make(new Uint8Array(32).fill(7));

/**
 * Services without state, which all nodes share. Their keys are derived only once, since that takes real, not
 * simulated, time.
 */
const stateless = await Effect.runPromise(
  Effect.scoped(
    Layer.build(
      Layer.mergeAll(
        Secrets.layer.pipe(Layer.provide(Layer.succeed(RootKey, secret))),
        AddressVault.layer(new Map([["simulation", secret]])),
        NetworkIntelligence.none,
        PlatformMemory.layer(platform),
        PlatformMemory.layerIdentities(platform),
        Layer.succeed(HttpSettings, {
          publicUrl: "http://service.example",
          trustedProxies: [],
          withoutAddresses: true,
        }),
      ).pipe(Layer.provideMerge(cryptoLayer)),
    ),
  ),
);

export const { keyHash, sealWebhookSecret } = Context.get(stateless, Secrets);

/** The services of a node, composed as in `apps/server`. Each node provides its own storage and cache ports to them. */
const services = Layer.mergeAll(
  AccountLink.layerWeb,
  WebhookCouriers.layer,
  RoleCouriers.layer,
  Readiness.layerStorage,
).pipe(Layer.provideMerge(AccountLink.layer), Layer.provideMerge(FallbackCounters.layer(CacheMemory.layer)));

const start = Effect.gen(function* () {
  const built = yield* Layer.build(services);
  const app = yield* Effect.provideContext(makeHttpApp(), built);
  const stops = [
    Context.get(built, SessionWatch),
    Context.get(built, EventWatch),
    Context.get(built, WebhookCouriers),
    Context.get(built, RoleCouriers),
  ];
  return {
    app,
    users: Context.get(built, UserData),
    stop: Effect.forEach(stops, ({ stop }) => stop, { discard: true }),
  };
});

export interface Surroundings {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly receiver: Receiver;
  readonly guild: Guild;
}

/** A process of a node, from its start to its end. */
export class Node extends Process {
  readonly #scope = Scope.makeUnsafe();
  /** Null until the node has started, and again once it begins to stop. */
  #serving: Effect.Success<typeof start> | null = null;
  /** A callback for each request in flight. When the process ends, the callback aborts the request. */
  readonly inFlight = new Set<() => void>();

  /** @param onFailure called if the node could not start */
  constructor(
    world: World,
    name: string,
    { postgres, redis, receiver, guild }: Surroundings,
    onFailure: () => void,
  ) {
    super(world, name);
    const ports = Context.mergeAll(stateless, postgres.portsOf(this), redis.portsOf(this)).pipe(
      Context.add(WebhookSender, receiver.senderOf(this)),
      Context.add(ChatPlatform, guild.platformOf(this, Context.get(stateless, ChatPlatform))),
      Context.add(Scope.Scope, this.#scope),
    );
    this.start(Effect.provideContext(start, ports), (exit) => {
      if (Exit.isSuccess(exit)) {
        this.#serving = exit.value;
        return;
      }
      this.kill();
      onFailure();
    });
  }

  get isUp(): boolean {
    return this.state !== "dead" && this.#serving !== null;
  }

  /** Answers a request. Requests that arrive before `stop` are still answered after it. */
  answer(request: HttpRequest): Effect.Effect<HttpResponse> {
    return this.#serving?.app.answer(request) ?? Effect.never;
  }

  erase(chatId: string): Effect.Effect<unknown, unknown> {
    const origin = { actor: { type: "operator", id: "simulation" }, requestId: null } as const;
    return this.#serving?.users.erase(ChatId.make(chatId), origin) ?? Effect.never;
  }

  override kill(): void {
    super.kill();
    for (const breakOff of this.inFlight) breakOff();
    this.inFlight.clear();
  }

  /** Shuts down: ends waiting requests, then the process. */
  stop(): void {
    const stop = this.#serving?.stop ?? Effect.void;
    this.#serving = null;
    const untilAnswered = Effect.gen({ self: this }, function* () {
      while (this.inFlight.size > 0) yield* Effect.sleep(10);
    });
    const close = stop.pipe(
      Effect.andThen(untilAnswered),
      Effect.andThen(Scope.close(this.#scope, Exit.void)),
    );
    this.start(close, () => this.kill());
  }
}
