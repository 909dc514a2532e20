import { UserStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { userStoreSuite } from "./mod.ts";

type Users = UserStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (users: Users) => Partial<Users>>> = {
  "find gives all that is kept about a user, and nothing of anybody else": (users) => ({
    find: (chatId) => Effect.map(users.find(chatId), (found) => ({ ...found, flows: [] })),
  }),
  "erase deletes records and sightings in every scope, and nobody else's": (users) => ({
    erase: (write) =>
      Effect.map(
        users.erase(write),
        Option.map((erased) => ({ ...erased, sightings: 0 })),
      ),
  }),
  "erase makes the user [erased] in every log, and says where it was": (users) => ({
    erase: (write) => users.erase({ ...write, at: 0 }),
  }),
  "an account of the user loses its names, and its keys are revoked": (users) => ({
    erase: (write) => users.erase({ ...write, pseudonym: write.chatId }),
  }),
  "erase changes nothing when there is a record in another scope": (users) => ({
    erase: (write) =>
      Effect.tap(users.erase(write), (erased) =>
        Option.isSome(erased)
          ? Effect.void
          : Effect.flatMap(users.find(write.chatId), ({ records }) =>
              users.erase({ ...write, scopes: records.map(({ scope }) => scope.pid) }),
            ),
      ),
  }),
  "racing erase: each record, sighting and entry is erased once": (users) => ({
    erase: (write) =>
      Effect.gen(function* () {
        const { records } = yield* users.find(write.chatId);
        yield* Effect.yieldNow;
        const erased = yield* users.erase(write);
        return Option.map(erased, (parts) => ({ ...parts, records: records.length }));
      }),
  }),
};

test.describe("userStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => userStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, UserStore, mistake);
    test
      .expect(await failingTitles((api) => userStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });
});
