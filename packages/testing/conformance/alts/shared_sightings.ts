import { type ChatId, type StoragePorts } from "@accountlink/core";
import type { ProtectedAddress } from "@accountlink/core/addresses";
import { type SharedSightings, SightingStore } from "@accountlink/core/alts";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { atOnce, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";

const addressAt = (hash: string): ProtectedAddress => ({ hash, sealed: "sealed", addressKeyId: "k1" });

/** Creates a scope and the operations on its sightings. */
const newSightingSteps = Effect.gen(function* () {
  const [store, sessions] = [yield* SightingStore, yield* SessionStore];
  const { pid } = (yield* makeScopes).global;
  return {
    /** Records when users were seen at an address. */
    see: (hash: string, seen: Readonly<Record<ChatId, Millis>>) =>
      sessions.recordSightings(
        pid,
        Object.entries(seen).map(([chatId, seenAt]) => ({
          chatId: chatId as ChatId,
          address: addressAt(hash),
          seenAt,
        })),
      ),
    rotate: (chatId: ChatId, hash: string, newHash: string) =>
      store.reprotect(pid, [{ chatId, hash, address: addressAt(newHash) }]),
    forget: (sightingsBefore: Millis) => sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore }),
    count: (...addresses: ReadonlyArray<ReadonlyArray<string>>) => store.countUsers(pid, addresses),
    /** Finds the users who were seen at these addresses. Returns sorted texts, each with chat ID, hash and time. */
    find: (hashes: ReadonlyArray<string>, parts: Partial<SharedSightings> = {}) =>
      Effect.map(
        store.findShared(pid, { hashes, including: [], excluding: [], limit: 10, ...parts }),
        (found) => found.map(({ chatId, hash, seenAt }) => `${chatId} ${hash} ${seenAt}`).toSorted(),
      ),
  };
});

export const sharedSightings: Cases<StoragePorts> = {
  "countUsers is right after racing sightings, rotations and sweeps": function* () {
    const { see, find, count, rotate, forget } = yield* newSightingSteps;
    const users = Array.from({ length: 12 }, () => uniqueChatId());
    const hashes = ["one", "two", "three", uniqueText()];
    const everywhere = users.flatMap((chatId, i) =>
      hashes.map((hash, j) => see(hash, { [chatId]: (i + j) % 3 === 0 ? -1 : 1 })),
    );
    const rotations = users.map((chatId) => rotate(chatId, "one", "two"));
    yield* Effect.all([...everywhere, ...rotations, forget(0), forget(0)], atOnce);
    const found = yield* find(hashes, { limit: 100 });
    const expected = hashes.map((hash) => found.filter((line) => line.split(" ")[1] === hash).length);
    expectEqual(yield* count(...hashes.map((hash) => [hash])), expected);
  },
};
