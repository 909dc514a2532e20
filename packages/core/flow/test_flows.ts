/** Helpers for tests of verification flows: simulated browsers, and all services in memory. */
import { PlatformMemory } from "@accountlink/memory";
import { Context, Effect, Layer, Option } from "effect";
import * as AccountLink from "../account_link.ts";
import { NetworkIntelligence } from "../alts/network_intelligence.ts";
import { PlatformUnavailable } from "../errors.ts";
import { Counters } from "../limits/counters.ts";
import { LinkLookup } from "../links/link_lookup.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { ChatIdentity } from "../platforms/identity_provider.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { newKey, request } from "../sessions/test_sessions.ts";
import { type NewSession, VerificationSessions } from "../sessions/verification_sessions.ts";
import { Signals } from "../signals.ts";
import { address, chatId, gameId, operator, platform, stores, vaultWith } from "../test_services.ts";
import type { ConfirmForm } from "./confirm_flow.ts";
import type { FlowForm } from "./flow_form.ts";
import type { ProofStep } from "./flow_store.ts";
import { FlowStore } from "./flow_store.ts";
import type { FlowEntry, FlowRefused } from "./flow_view.ts";
import { VerificationFlows } from "./verification_flows.ts";

const ada = chatId("10001");

/** Settings with which a test makes the chat platform fail, or changes its answers about guild members. */
export class ChatPlatformSwitch extends Context.Service<
  ChatPlatformSwitch,
  { isDown: boolean; hasMembers: boolean; isManager: boolean; isMemberBySignIn: boolean | undefined }
>()("@accountlink/core/test/ChatPlatformSwitch") {}

const switched = Layer.effectContext(
  Effect.gen(function* () {
    const chat = yield* ChatPlatform;
    const identity = yield* ChatIdentity;
    const state: ChatPlatformSwitch["Service"] = {
      isDown: false,
      hasMembers: true,
      isManager: false,
      isMemberBySignIn: undefined,
    };
    const unlessDown = <A, E>(answer: Effect.Effect<A, E>) =>
      Effect.suspend(
        (): Effect.Effect<A, E | PlatformUnavailable> =>
          state.isDown ? new PlatformUnavailable({ operation: "ChatPlatform.findGuild" }) : answer,
      );
    return Context.make(ChatPlatformSwitch, state).pipe(
      Context.add(ChatPlatform, {
        ...chat,
        findGuild: (guild) => unlessDown(chat.findGuild(guild)),
        isManager: () => unlessDown(Effect.succeed(state.isManager)),
        findMember: (guild, user) =>
          unlessDown(
            Effect.map(
              chat.findMember(guild, user),
              Option.filter(() => state.hasMembers),
            ),
          ),
      }),
      Context.add(ChatIdentity, {
        ...identity,
        finish: (signIn, callback) =>
          Effect.map(identity.finish(signIn, callback), (signedIn) => ({
            ...signedIn,
            isMember: signIn.guildId === null ? undefined : state.isMemberBySignIn,
          })),
      }),
    );
  }),
);

type OnCall = (operation: string, args: ReadonlyArray<unknown>) => void;

const recordedPort = <Id, Shape extends object>(port: Context.Key<Id, Shape>, onCall: OnCall) =>
  Layer.effect(
    port,
    Effect.map(
      port,
      (implementation) =>
        new Proxy(implementation, {
          get: (target, name) => {
            const operation: unknown = Reflect.get(target, name);
            if (typeof operation !== "function") return operation;
            return (...args: ReadonlyArray<unknown>) => {
              onCall(String(name), args);
              return Reflect.apply(operation, target, args);
            };
          },
        }),
    ),
  );

/**
 * Returns a layer of all services of verification flows. `onCall` is called for each call of the flow store, session
 * store, counters or signals.
 */
export const flowServicesWith = ({ onCall }: { readonly onCall: OnCall }) => {
  const recorded = Layer.mergeAll(
    recordedPort(SessionStore, onCall),
    recordedPort(FlowStore, onCall),
    recordedPort(Counters, onCall),
    recordedPort(Signals, onCall),
  );
  return AccountLink.layerFlows.pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(Layer.mergeAll(switched, recorded)),
    Layer.provideMerge(
      Layer.mergeAll(
        stores,
        vaultWith(1),
        PlatformMemory.layer(platform),
        PlatformMemory.layerIdentities(platform),
        NetworkIntelligence.none,
      ),
    ),
    Layer.fresh,
  );
};

export const flowServices = flowServicesWith({ onCall: () => {} });

/**
 * The query parameters with which a platform sends the browser back. A string is the value of `code`. An object has all
 * parameters except `state`.
 */
type Returned = string | Readonly<Record<string, string>>;

const newBrowser = Effect.gen(function* () {
  const flows = yield* VerificationFlows;
  const jar: { cookie: string | null; mark: string | null } = { cookie: null, mark: null };
  const keep = <Given extends { readonly cookie: string }>(given: Given): Given => {
    jar.cookie = given.cookie;
    return given;
  };

  const show = (entry: FlowEntry) =>
    Effect.map(
      Effect.suspend(() => flows.view(entry, jar.cookie)),
      keep,
    );

  /** Starts a sign-in and returns its `state`. */
  const leave = (step: ProofStep, entry: FlowEntry | null = null) =>
    Effect.map(
      Effect.suspend(() => flows.start(step, entry, jar.cookie, callbackOf(step))),
      (started) => new URL(keep(started).url).searchParams.get("state") ?? "",
    );

  const comeBack = (step: ProofStep, state: string, as: Returned) => {
    const query = new URLSearchParams({ state, ...(typeof as === "string" ? { code: as } : as) });
    return Effect.map(
      Effect.suspend(() => flows.finish(step, jar.cookie, query, callbackOf(step))),
      keep,
    );
  };

  const prove = (step: ProofStep, as: Returned, entry: FlowEntry | null = null) =>
    Effect.flatMap(leave(step, entry), (state) => comeBack(step, state, as));

  /** Opens the page of a flow and returns its form. */
  const form = (entry: FlowEntry) => Effect.map(show(entry), ({ csrf, sid }): FlowForm => ({ csrf, sid }));

  const send = (sent: ConfirmForm, from = "203.0.113.7") =>
    Effect.suspend(() =>
      flows.confirm(jar.cookie, sent, { address: address(from), browser: jar.mark, requestId: "req_test" }),
    );

  return {
    jar,
    show,
    leave,
    comeBack,
    prove,
    form,
    send,
    walk: (entry: FlowEntry, chat = "10001", game = "1") =>
      Effect.andThen(prove("chat", chat, entry), prove("game", game)),
    confirm: (entry: FlowEntry, from?: string) => Effect.flatMap(form(entry), (sent) => send(sent, from)),
    cancel: (sent: FlowForm) => Effect.suspend(() => flows.cancel(jar.cookie, sent)),
  };
});

const callbackOf = (step: ProofStep): string => `https://service.example/verify/${step}/callback`;

/** Creates a key, a session of the key, and a browser. */
export const setupFlow = Effect.fnUntraced(function* (changes: Partial<NewSession> = {}) {
  const sessions = yield* VerificationSessions;
  const writer = yield* LinkWriter;
  const lookup = yield* LinkLookup;
  const key = yield* newKey();
  const store = yield* SessionStore;
  const { id, sid } = yield* sessions.create(key, { ...request, ...changes });
  const target = { scope: key.scope, guildId: null, origin: operator };
  return {
    key,
    entry: { sid },
    byScope: { pid: key.scope.pid, guildId: null, redirect: null },
    browser: yield* newBrowser,
    read: Effect.map(store.find(id), Option.getOrThrow),
    link: (game: string) => writer.setGame(target, { chatId: ada, gameId: gameId(game) }),
    unlink: writer.removeGame(target, ada, { requireMember: false }),
    gameOf: Effect.map(
      lookup.verification(key.scope, ada, { guildId: null, resolved: false }),
      (found) => found.gameId,
    ),
  };
});

/** Returns the reason of a refusal, followed by the session's final state if the refusal has one. */
export const reasonOf = <A, E, R>(effect: Effect.Effect<A, E | FlowRefused, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { reason, state } = error as FlowRefused;
    return state === undefined ? reason : `${reason} ${state}`;
  });
