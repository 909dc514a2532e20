import {
  ChatId,
  type FlowId,
  FlowStore,
  GameId,
  KeyStore,
  LinkStore,
  Pid,
  SessionStore,
} from "@accountlink/core";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import * as MemoryFlowStore from "./flow_store.ts";
import { State } from "./internal/state.ts";
import * as MemoryKeyStore from "./key_store.ts";
import * as MemoryLinkStore from "./link_store.ts";
import * as MemorySessionStore from "./session_store.ts";

const pid = Pid.make("pid_0123456789abcdef");
const gameId = GameId.make("1");
const [ada, bob] = [ChatId.make("10001"), ChatId.make("10002")];
const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid } as const;

const stores = Layer.mergeAll(
  MemoryFlowStore.layer,
  MemoryKeyStore.layer,
  MemoryLinkStore.layer,
  MemorySessionStore.layer,
).pipe(Layer.provideMerge(State.layer));

/** Takes the chat user through a flow, at an address. */
const see = Effect.fnUntraced(function* (chatId: ChatId, at: number, hash = "hash") {
  const [flows, sessions] = [yield* FlowStore, yield* SessionStore];
  const id = `flow of ${chatId} at ${at}` as FlowId;
  const empty = { sid: null, guildId: null, redirect: null, chatId: null, gameId: null, seenVersion: null };
  yield* flows.begin({ ...empty, id, pid, expiresAt: 100 });
  yield* flows.prove(id, { step: "chat", chatId }, 0, id);
  yield* flows.prove(id, { step: "game", gameId }, 0, id);
  const address = { hash, sealed: `sealed ${at}`, addressKeyId: "k1" };
  return yield* sessions.complete({ ...origin, flow: id, chatId, gameId, at, address });
});

it("keeps the last sighting of a chat user at an address, until the scope is deleted", () =>
  Effect.gen(function* () {
    const [keys, links, memory] = [yield* KeyStore, yield* LinkStore, yield* State];
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
    yield* see(ada, 10);
    yield* see(ada, 30);
    yield* see(ada, 20);
    yield* see(bob, 5);
    yield* see(ada, 6, "elsewhere");
    const seen = [...(memory.sightings.get(pid)?.values() ?? [])];
    expect(seen.map(({ chatId, address, seenAt }) => [chatId, address.hash, address.sealed, seenAt])).toEqual(
      [
        [ada, "hash", "sealed 30", 30],
        [bob, "hash", "sealed 5", 5],
        [ada, "elsewhere", "sealed 6", 6],
      ],
    );
    yield* links.deleteScope({ ...origin, at: 40 });
    expect(memory.sightings.get(pid)).toBeUndefined();
  }).pipe(Effect.provide(stores), Effect.runPromise));
