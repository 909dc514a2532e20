import { ChatId, type DataScope, GuildId, guildOf } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import { KeyStore } from "@accountlink/core/keys";
import { OwnedScopes } from "@accountlink/core/owners";
import { aFixture, aGuild, makeSignIn, memoryWorld } from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expect, it } from "vitest";
import { fieldsFrom } from "../form_fields.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { inEnglish } from "../test_english.ts";
import { makeLinksList } from "./links_list.ts";

const [ada, ben] = [ChatId.make("100001"), ChatId.make("100002")];

it("a search in all lists shows nothing of a list that is closed to the team", async () => {
  const guildIds = [GuildId.make("700000000000000110"), GuildId.make("700000000000000111")];
  const lists = guildIds.map((guildId) => ({ account: "acme", scope: "guild" as const, guildId }));
  const world = await memoryWorld(
    aFixture({
      accounts: [{ name: "acme", chatId: ada }],
      links: lists.map((list, index) => ({ ...list, chatId: ben, gameId: String(7_000_001 + index) })),
      plans: lists.map((list) => ({ ...list, rules: [], nickname: "{game.username}" })),
      platform: { guilds: guildIds.map((id) => aGuild(id, [ada, ben])) },
    }),
  );
  const found = Effect.gen(function* () {
    const scopes = yield* OwnedScopes;
    const requireOpen = (scope: DataScope) =>
      guildOf(scope) === guildIds[1] ? new Forbidden({ reason: "not_guild_manager" }) : Effect.void;
    const list = yield* Effect.provideService(makeLinksList, OwnedScopes, { ...scopes, requireOpen });
    const account = Option.getOrThrow(yield* (yield* KeyStore).findAccount("acme"));
    const owner = { account, chatId: ada, requestId: "req_1", scopes: null };
    const signIn = makeSignIn({ chatId: ada, guilds: [] });
    const fields = fieldsFrom((name) => (name === "q" ? [ben] : []));
    const none = { chatId: "", gameId: "" } as never;
    return yield* list({ owner, signIn } as OwnerVisitor, fields, none, []);
  });
  const { content } = await world.run(found);
  await world.close();
  const text = inEnglish(content);
  expect([text.includes("7000001"), text.includes("7000002")]).toEqual([true, false]);
});
