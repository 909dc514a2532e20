import { ChatId, ChatPlatform, GuildId } from "@accountlink/core";
import { originOfOperator } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { OwnedScopes } from "@accountlink/core/owners";
import { StoredPlans } from "@accountlink/core/roles";
import { aFixture, aGuild, makeSignIn, memoryWorld } from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { makeTroubles } from "./troubles.ts";

const guildId = GuildId.make("700000000000000001");
const chatId = ChatId.make("100001");

it("rules that an operator called roles has paused were paused by the operator", async () => {
  const plan = { account: "acme", scope: "global", guildId, rules: [], nickname: "{game.username}" } as const;
  const guild = aGuild(guildId, [chatId]);
  const world = await memoryWorld(aFixture({ plans: [plan], platform: { guilds: [guild] } }));
  const found = Effect.gen(function* () {
    const account = Option.getOrThrow(yield* (yield* KeyStore).findAccount("acme"));
    const owner = { account, chatId, requestId: "req_1", scopes: null };
    const [owned] = yield* (yield* OwnedScopes).list(owner);
    if (owned === undefined) return [];
    const paused = { rules: [], nickname: "{game.username}", state: "paused" } as const;
    yield* (yield* StoredPlans).put({ scope: owned.scope, guildId }, paused, originOfOperator("roles"));
    const visitor = { owner, signIn: makeSignIn({ chatId, guilds: [] }) };
    return yield* (yield* makeTroubles)(visitor, [{ ...owned, guildName: null }]);
  });
  const [[trouble] = []] = await world.run(found);
  await world.close();
  expect(trouble && inEnglish(trouble.text)).toContain("were paused by the operator at ");
});

it("one request asks where the bot is, for several communities", async () => {
  const guildIds = [guildId, GuildId.make("700000000000000002")];
  const guilds = guildIds.map((id) => ({ ...aGuild(id, [chatId]), bot: id === guildId }));
  const plans = guildIds.map((id) => ({
    account: "acme",
    scope: "guild" as const,
    guildId: id,
    rules: [],
    nickname: "{game.username}",
  }));
  const world = await memoryWorld(aFixture({ plans, platform: { guilds } }));
  const asked: Array<ReadonlyArray<GuildId>> = [];
  const found = Effect.gen(function* () {
    const platform = yield* ChatPlatform;
    const joinedGuilds: typeof platform.joinedGuilds = (ids) => {
      asked.push(ids);
      return platform.joinedGuilds(ids);
    };
    const account = Option.getOrThrow(yield* (yield* KeyStore).findAccount("acme"));
    const owner = { account, chatId, requestId: "req_1", scopes: null };
    const lists = (yield* (yield* OwnedScopes).list(owner)).filter(({ scope }) => scope.kind === "guild");
    const troublesOf = yield* Effect.provideService(makeTroubles, ChatPlatform, {
      ...platform,
      joinedGuilds,
    });
    const visitor = { owner, signIn: makeSignIn({ chatId, guilds: [] }) };
    return yield* troublesOf(
      visitor,
      lists.map((list) => ({ ...list, guildName: null })),
    );
  });
  const troubles = await world.run(found);
  await world.close();
  expect(asked).toEqual([guildIds]);
  expect(troubles.map((each) => each.map(({ tone }) => tone))).toEqual([[], ["bad"]]);
});
