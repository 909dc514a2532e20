import { UserStore } from "@accountlink/core/users";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { userStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(userStoreSuite, StorageMemory.layer, UserStore, {
  "erase deletes the user's sign-ins, and no others": (users) => ({
    find: (chatId) => Effect.map(users.find(chatId), (found) => ({ ...found, signIns: [null as never] })),
  }),
  "find returns all data of a user, and of no other": (users) => ({
    find: (chatId) => Effect.map(users.find(chatId), (found) => ({ ...found, flows: [] })),
  }),
  "erase deletes the user's records and sightings in every scope, and no others": (users) => ({
    erase: (write) =>
      Effect.map(
        users.erase(write),
        Option.map((erased) => ({ ...erased, sightings: 0 })),
      ),
  }),
  "forgetBrowsers deletes the sightings of the user in browsers, and no others": (users) => ({
    forgetBrowsers: (chatId) => Effect.map(users.findBrowsers(chatId), ({ length }) => length),
  }),
  "erase replaces the user with [erased] in every log, and logs an entry in each scope": (users) => ({
    erase: (write) => users.erase({ ...write, at: 0 }),
  }),
  "erase removes the names of the user's accounts, and revokes their keys": (users) => ({
    erase: (write) => users.erase({ ...write, pseudonym: write.chatId }),
  }),
  "erase changes nothing if a record exists in another scope": (users) => ({
    erase: (write) =>
      Effect.tap(users.erase(write), (erased) =>
        Option.isSome(erased)
          ? Effect.void
          : Effect.flatMap(users.find(write.chatId), ({ records }) =>
              users.erase({ ...write, scopes: records.map(({ scope }) => scope.pid) }),
            ),
      ),
  }),
  "concurrent erase: each record, sighting and entry is erased once": (users) => ({
    erase: (write) =>
      Effect.gen(function* () {
        const { records } = yield* users.find(write.chatId);
        yield* Effect.yieldNow;
        const erased = yield* users.erase(write);
        return Option.map(erased, (parts) => ({ ...parts, records: records.length }));
      }),
  }),
});
