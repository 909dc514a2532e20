import { ChatId, GameId, GuildId, LinkStore, Pid } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { FlowStore } from "@accountlink/core/flow";
import type { FlowId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import * as MemoryFlowStore from "../flow/flow_store.ts";
import * as MemoryKeyStore from "../keys/key_store.ts";
import * as MemoryLinkStore from "../links/link_store.ts";
import { State } from "../state/state.ts";
import * as MemorySessionStore from "./session_store.ts";

const pid = Pid.make("pid_0123456789abcdef");
const otherPid = Pid.make("pid_fedcba9876543210");
const gameId = GameId.make("1");
const [ada, bob] = [ChatId.make("10001"), ChatId.make("10002")];
const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid } as const;

const stores = Layer.mergeAll(
  MemoryFlowStore.layer,
  MemoryKeyStore.layer,
  MemoryLinkStore.layer,
  MemorySessionStore.layer,
).pipe(Layer.provideMerge(State.layer));

const storeScopes = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, pid);
  yield* keys.ensureScope("acme", { kind: "guild", guildId: GuildId.make("700000000000000001") }, otherPid);
});

/** Completes a flow of the chat user, at an address. */
const see = Effect.fnUntraced(function* (chatId: ChatId, at: number, hash = "hash", scope = pid) {
  const [flows, sessions] = [yield* FlowStore, yield* SessionStore];
  const id = `flow of ${chatId} at ${at} in ${scope}` as FlowId;
  const empty = {
    session: null,
    guildId: null,
    redirect: null,
    chatId: null,
    gameId: null,
    seenVersion: null,
  };
  yield* flows.begin({ ...empty, id, pid: scope, expiresAt: 100 });
  yield* flows.prove(id, { step: "chat", chatId }, 0, id);
  yield* flows.prove(id, { step: "game", gameId }, 0, id);
  const address = { hash, sealed: `sealed ${at}`, addressKeyId: "k1" };
  return yield* sessions.complete({
    ...origin,
    pid: scope,
    flow: id,
    chatId,
    gameId,
    at,
    address,
    browser: null,
  });
});

it("keeps the latest sighting of a chat user at an address, until the scope is deleted", () =>
  Effect.gen(function* () {
    const [links, memory] = [yield* LinkStore, yield* State];
    yield* storeScopes;
    yield* see(ada, 10);
    yield* see(ada, 30);
    yield* see(ada, 20);
    yield* see(bob, 5);
    yield* see(ada, 6, "elsewhere");
    const seen = (memory.sightings.get(pid)?.all() ?? []).filter(isAtAddress);
    expect(seen.map(({ chatId, address, seenAt }) => [chatId, address.hash, address.sealed, seenAt])).toEqual(
      [
        [ada, "hash", "sealed 30", 30],
        [ada, "elsewhere", "sealed 6", 6],
        [bob, "hash", "sealed 5", 5],
      ],
    );
    yield* links.deleteScope({ ...origin, at: 40 });
    expect(memory.sightings.get(pid)).toBeUndefined();
  }).pipe(Effect.provide(stores), Effect.runPromise));

it("records the latest sightings for each chat user and address", () =>
  Effect.gen(function* () {
    const [sessions, memory] = [yield* SessionStore, yield* State];
    yield* storeScopes;
    const at = (chatId: ChatId, seenAt: number, hash = "hash") => {
      return { chatId, address: { hash, sealed: `sealed ${seenAt}`, addressKeyId: "k1" }, seenAt };
    };
    yield* sessions.recordSightings(pid, [at(ada, 10), at(bob, 20)]);
    yield* sessions.recordSightings(pid, [at(ada, 30), at(ada, 25), at(bob, 15), at(bob, 5, "elsewhere")]);
    expect(memory.sightings.get(pid)?.all()).toEqual([at(ada, 30), at(bob, 20), at(bob, 5, "elsewhere")]);
  }).pipe(Effect.provide(stores), Effect.runPromise));

it("deletes older sightings in every scope, and no others", () =>
  Effect.gen(function* () {
    const [sessions, memory] = [yield* SessionStore, yield* State];
    yield* storeScopes;
    for (const scope of [pid, otherPid]) {
      yield* see(ada, 10, "hash", scope);
      yield* see(bob, 20, "hash", scope);
    }
    const sweep = (sightingsBefore: number) =>
      Effect.map(sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore }), () =>
        [pid, otherPid].map((scope) =>
          memory.sightings
            .get(scope)
            ?.all()
            .map(({ seenAt }) => seenAt),
        ),
      );
    const all = [10, 20];
    expect(yield* sweep(0)).toEqual([all, all]);
    expect(yield* sweep(10)).toEqual([all, all]);
    expect(yield* sweep(11)).toEqual([[20], [20]]);
    expect(yield* sweep(21)).toEqual([[], []]);
  }).pipe(Effect.provide(stores), Effect.runPromise));
