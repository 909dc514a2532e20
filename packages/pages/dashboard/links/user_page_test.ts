import { ChatId, type DataScope, GuildId, guildOf } from "@accountlink/core";
import { PlatformUnavailable } from "@accountlink/core/errors";
import { KeyStore } from "@accountlink/core/keys";
import { OwnedScopes } from "@accountlink/core/owners";
import { aFixture, aGuild, makeSignIn, memoryWorld } from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expect, it } from "vitest";
import type { OwnerVisitor } from "../owner_pages.ts";
import { makeListsOfUser } from "./user_page.ts";

const [ada, ben] = [ChatId.make("100001"), ChatId.make("100002")];

it("the platform is asked about the lists in which the user is linked alone, and one without an answer hides no other", async () => {
  const guildIds = Array.from({ length: 30 }, (_, index) => GuildId.make(`7000000000000001${index + 10}`));
  const lists = guildIds.map((guildId) => ({ account: "acme", scope: "guild" as const, guildId }));
  const world = await memoryWorld(
    aFixture({
      accounts: [{ name: "acme", chatId: ada }],
      links: lists.slice(0, 2).map((list) => ({ ...list, chatId: ben, gameId: "1" })),
      plans: lists.map((list) => ({ ...list, rules: [], nickname: "{game.username}" })),
      platform: { guilds: guildIds.map((id) => aGuild(id, [ada, ben])) },
    }),
  );
  const asked: Array<DataScope> = [];
  const unavailable = new PlatformUnavailable({ operation: "chat.guild" });
  const found = Effect.gen(function* () {
    const scopes = yield* OwnedScopes;
    const requireOpen = (scope: DataScope) =>
      Effect.suspend(() => {
        asked.push(scope);
        return guildOf(scope) === guildIds[1] ? Effect.fail(unavailable) : Effect.succeed(undefined);
      });
    const listsOf = yield* Effect.provideService(makeListsOfUser, OwnedScopes, { ...scopes, requireOpen });
    const account = Option.getOrThrow(yield* (yield* KeyStore).findAccount("acme"));
    const owner = { account, chatId: ada, requestId: "req_1", scopes: null };
    const signIn = makeSignIn({ chatId: ada, guilds: [] });
    return yield* listsOf({ owner, signIn } as OwnerVisitor, ben);
  });
  const linked = await world.run(found);
  await world.close();
  expect(linked.lists.map(({ community }) => guildOf(community.scope))).toEqual([guildIds[0]]);
  expect(linked.silent.map(({ scope }) => guildOf(scope))).toEqual([guildIds[1]]);
  expect(linked.failed).toBe(unavailable);
  expect(asked).toHaveLength(2);
});
