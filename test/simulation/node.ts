/** A node: the services and the HTTP application, as the server composes them. */

import {
  AccountLink,
  AddressVault,
  ChatId,
  ChatPlatform,
  GamePlatform,
  NetworkIntelligence,
  type Pid,
  SignIns,
  UserData,
  VerificationFlows,
} from "@accountlink/core";
import { EventWatch } from "@accountlink/core/events";
import { FallbackCounters } from "@accountlink/core/limits";
import { RoleCouriers } from "@accountlink/core/roles";
import { RootKey, Secrets } from "@accountlink/core/secrets";
import { SessionWatch } from "@accountlink/core/sessions";
import { WebhookCouriers, WebhookSender } from "@accountlink/core/webhooks";
import { type HttpRequest, type HttpResponse, HttpSettings, makeHttpApp, Readiness } from "@accountlink/http";
import { CacheMemory, PlatformMemory } from "@accountlink/memory";
import { makePages } from "@accountlink/pages";
import { layerRemindersIn } from "@accountlink/pages/chat";
import { Languages } from "@accountlink/pages/languages";
import { cryptoLayer } from "@accountlink/server/crypto";
import { type Postgres, Process, type Redis, type World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect";
import type { Guild } from "./guild.ts";
import { origin, platform } from "./people.ts";
import type { Receiver } from "./receiver.ts";

export const publicUrl = "http://service.example";

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
          publicUrl,
          trustedProxies: [],
          withoutAddresses: true,
        }),
      ).pipe(Layer.provideMerge(cryptoLayer)),
    ),
  ),
);

export const { keyHash, sealWebhookSecret } = Context.get(stateless, Secrets);

/** The services of a node, composed as in `apps/server`. Each node provides its own storage and cache ports to them. */
const withoutReminders = Layer.mergeAll(
  AccountLink.layerWeb,
  WebhookCouriers.layer,
  RoleCouriers.layer,
  Readiness.layerStorage,
).pipe(Layer.provideMerge(AccountLink.layer), Layer.provideMerge(FallbackCounters.layer(CacheMemory.layer)));

/** English alone, read before the simulation, since a file is read in real time. */
const inEnglish = await Effect.runPromise(
  Effect.gen(function* () {
    const languages = yield* Languages;
    const english = Effect.succeed(yield* languages.ofLocale(null));
    return Layer.succeed(Languages, { ...languages, ofLocale: () => english });
  }).pipe(Effect.provide(Languages.layer)),
);

const services = Layer.provideMerge(Layer.provide(layerRemindersIn, inEnglish), withoutReminders);

const start = Effect.gen(function* () {
  const built = yield* Layer.build(services);
  const app = yield* Effect.provideContext(makeHttpApp({ pages: makePages }), built);
  const stops = [
    Context.get(built, SessionWatch),
    Context.get(built, EventWatch),
    Context.get(built, WebhookCouriers),
    Context.get(built, RoleCouriers),
  ];
  return {
    app,
    users: Context.get(built, UserData),
    flows: Context.get(built, VerificationFlows),
    signIns: Context.get(built, SignIns),
    stop: Effect.forEach(stops, ({ stop }) => stop, { discard: true }),
  };
});

export interface Surroundings {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly receiver: Receiver;
  readonly guild: Guild;
}

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
      Context.add(GamePlatform, guild.gamesOf(this, Context.get(stateless, GamePlatform))),
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
    return this.#serving?.users.erase(ChatId.make(chatId), origin) ?? Effect.never;
  }

  /**
   * Lets a browser of a chat user enter the verification of a scope and prove the chat account, and the game account if
   * one is given. Returns what the page shows.
   */
  enter(pid: Pid, chatId: string, gameId: string | null): Effect.Effect<FlowPage, unknown> {
    const flows = this.#serving?.flows;
    if (flows === undefined) return Effect.never;
    const prove = Effect.fnUntraced(function* (step: "chat" | "game", as: string, held: string | null) {
      const { url, cookie } = yield* flows.start(step, entryOf(pid), held, redirectUri);
      const state = new URL(url).searchParams.get("state") ?? "";
      return yield* flows.finish(step, cookie, new URLSearchParams({ state, code: as }), redirectUri);
    });
    return Effect.gen(function* () {
      const { cookie } = yield* prove("chat", chatId, null);
      const proven = gameId === null ? { cookie } : yield* prove("game", gameId, cookie);
      return yield* pageOf(flows, pid, proven.cookie);
    });
  }

  /** Presses the button of an account that the page offers. */
  choose(pid: Pid, { cookie, csrf }: FlowPage, gameId: string): Effect.Effect<FlowPage, unknown> {
    const flows = this.#serving?.flows;
    return flows === undefined
      ? Effect.never
      : Effect.flatMap(flows.chooseKnown(cookie, { csrf, sid: null }, gameId), (chosen) =>
          pageOf(flows, pid, chosen.cookie),
        );
  }

  confirm({ cookie, csrf }: FlowPage): Effect.Effect<unknown, unknown> {
    const from = { address: null, browser: null, requestId: "simulation" };
    return this.#serving?.flows.confirm(cookie, { csrf, sid: null }, from) ?? Effect.never;
  }

  signIn(chatId: string): Effect.Effect<SignedIn, unknown> {
    const signIns = this.#serving?.signIns;
    if (signIns === undefined) return Effect.never;
    return Effect.gen(function* () {
      const { state } = yield* signIns.begin("dashboard", signInUri, true);
      const callback = new URLSearchParams({ state, code: chatId });
      const browser = { redirectUri: signInUri, state, callback, cookie: null, userAgent: null };
      const { cookie } = yield* signIns.finish({ site: "dashboard", ...browser });
      return { cookie, csrf: yield* signIns.csrfToken(yield* signIns.find("dashboard", cookie)) };
    });
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

/** What a browser knows of a page of the verification. */
export interface FlowPage {
  readonly cookie: string;
  readonly csrf: string;
  /** The accounts that the page offers. */
  readonly offered: ReadonlyArray<string>;
}

const [redirectUri, signInUri] = [`${publicUrl}/verify/callback`, `${publicUrl}/dashboard/callback`];

/** What a browser knows of a sign-in to the dashboard. */
export interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
}

const entryOf = (pid: Pid) => ({ pid, guildId: null, redirect: null });

const pageOf = (flows: VerificationFlows["Service"], pid: Pid, held: string) =>
  Effect.map(
    flows.view(entryOf(pid), held),
    ({ cookie, csrf, known }): FlowPage => ({
      cookie,
      csrf,
      offered: known.map(({ id }) => id),
    }),
  );
