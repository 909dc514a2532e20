import { PlatformMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { aMember } from "@accountlink/testing";
import { Effect, Layer, Result } from "effect";
import type { ChatId } from "../ids.ts";
import { ImportStore } from "../imports/import_store.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { chatId, gameId, guildId, operator, platform, scopes, servicesOn } from "../test_services.ts";
import { BulkLookup } from "./bulk_lookup.ts";
import { LinkLookup } from "./link_lookup.ts";

const one = gameId("1");
/** Members of the guild. All are linked to game user 1, and the newest link is first. */
const members = Array.from({ length: 150 }, (_, index) => chatId(String(30_001 + index)));
const newest = members.slice(0, 100);
/** Chat users outside of the guild. Their links are newer than the members' links. */
const strangers = Array.from({ length: 850 }, (_, index) => chatId(String(20_001 + index)));

/**
 * Makes services that count the requests for member lists, and record which single members were requested.
 *
 * @param listed how many of the requested chat users a member list includes; null if the platform has no such list
 */
const observedServices = (listed: number | null) => {
  const asked = { lists: 0, members: [] as Array<ChatId> };
  const guild = { id: guildId, name: null, bot: true, members: members.map((id) => aMember(id)) };
  const observed = Layer.effect(
    ChatPlatform,
    Effect.map(ChatPlatform, (memory) => ({
      ...memory,
      findMember: (id, chat) => {
        asked.members.push(chat);
        return memory.findMember(id, chat);
      },
      ...(listed === null
        ? {}
        : {
            findMembers: (_, chatIds) => {
              asked.lists++;
              return Effect.succeed(new Map(chatIds.slice(0, listed).map((id) => [id, true])));
            },
          }),
    })),
  ).pipe(Layer.provideMerge(PlatformMemory.layer({ ...platform, guilds: [guild] })));
  return { asked, services: servicesOn(observed) };
};

const linkAll = Effect.fnUntraced(function* (chatIds: ReadonlyArray<ChatId>) {
  const { global } = yield* scopes;
  const links = chatIds.map((id, index) => ({ chatId: id, gameId: one, lastVerifiedAt: 2_000 - index }));
  const batch = { links, existing: "replace", proof: null, progress: null } as const;
  yield* (yield* ImportStore).importBatch({ ...operator, pid: global.pid, at: 3_000, ...batch });
  return global;
});

test.each([
  [null, 0, newest],
  [100, 1, []],
  [60, 1, newest.slice(60)],
] as const)(
  "a lookup in a guild returns the members among the newest 100 if the platform's list has %s of them",
  ([listed, lists, each]) => {
    const { asked, services } = observedServices(listed);
    return Effect.gen(function* () {
      const scope = yield* linkAll(members);
      const found = yield* (yield* LinkLookup).byGame(scope, one, { guildId });
      assert.deepStrictEqual(found.chatIds, newest);
      assert.deepStrictEqual(asked, { lists, members: [...each] });

      const bulk = yield* (yield* BulkLookup).byGames(scope, [one], { guildId });
      assert.deepStrictEqual(
        bulk.map(({ result }) => Result.getOrThrow(result).chatIds),
        [newest],
      );
      assert.deepStrictEqual(asked, { lists: 2 * lists, members: [...each, ...each] });
    }).pipe(Effect.provide(services));
  },
);

test("a lookup in a guild finds members behind 850 newer links of strangers", () => {
  const { services } = observedServices(null);
  return Effect.gen(function* () {
    const scope = yield* linkAll([...strangers, ...members]);
    const options = { guildId };
    assert.deepStrictEqual((yield* (yield* LinkLookup).byGame(scope, one, options)).chatIds, newest);
    const [item] = yield* (yield* BulkLookup).byGames(scope, [one], options);
    assert.deepStrictEqual(item && Result.getOrThrow(item.result).chatIds, newest);
  }).pipe(Effect.provide(services));
});

test("a lookup in the scope of a guild has to name the guild", () => {
  const { services } = observedServices(null);
  return Effect.gen(function* () {
    const { guild } = yield* scopes;
    const refused = yield* Effect.flip((yield* LinkLookup).byChat(guild, newest[0] as ChatId, {}));
    assert.strictEqual(refused._tag, "MissingParameter");
  }).pipe(Effect.provide(services));
});
