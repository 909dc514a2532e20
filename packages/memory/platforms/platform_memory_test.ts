import { ChatId, ChatPlatform, decodeFixture, GameId, GamePlatform, GuildId } from "@accountlink/core";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Option } from "effect";
import { layer } from "./platform_memory.ts";

const guild = GuildId.make("700000000000000001");
const botless = GuildId.make("700000000000000002");
const unnamed = GuildId.make("700000000000000003");
const ada = ChatId.make("100001");
const grace = ChatId.make("100002");

const document = JSON.stringify({
  platform: {
    guilds: [
      {
        id: guild,
        name: "Engine Room",
        members: [
          { chatId: ada, manager: true, nickname: "countess", roles: [{ id: "1", name: "Member" }] },
          { chatId: grace },
        ],
      },
      { id: unnamed },
      { id: botless, name: "Elsewhere", bot: false, members: [{ chatId: ada }] },
    ],
    chatUsers: [{ id: ada, username: "ada" }],
    gameUsers: [{ id: "1", username: "ada_plays" }],
  },
});

const platforms = Layer.unwrap(Effect.map(decodeFixture(document), ({ platform }) => layer(platform)));

describe("PlatformMemory", () => {
  it.effect("the platform finds the guilds that the bot is in, and their members", () =>
    Effect.gen(function* () {
      const chat = yield* ChatPlatform;
      assert.deepStrictEqual(
        [yield* chat.findGuild(guild), yield* chat.findGuild(unnamed)],
        [Option.some({ id: guild, name: "Engine Room" }), Option.some({ id: unnamed, name: null })],
      );
      assert.deepStrictEqual(
        [yield* chat.findGuild(botless), yield* chat.findGuild(GuildId.make("12345"))],
        [Option.none(), Option.none()],
      );
      const member = Option.getOrThrow(yield* chat.findMember(guild, ada));
      assert.deepStrictEqual(member, {
        nickname: "countess",
        joined: null,
        roles: [{ id: "1", name: "Member" }],
      });
      assert.isTrue(Option.isNone(yield* chat.findMember(unnamed, grace)));
      assert.isTrue(Option.isNone(yield* chat.findMember(botless, ada)));
    }).pipe(Effect.provide(platforms)),
  );

  it.effect("the platform lists the guilds that the bot is in, and says who may manage a guild", () =>
    Effect.gen(function* () {
      const chat = yield* ChatPlatform;
      assert.deepStrictEqual(yield* chat.joinedGuilds([guild, botless, unnamed]), new Set([guild, unnamed]));
      assert.isTrue(yield* chat.isManager(guild, ada));
      assert.isFalse(yield* chat.isManager(guild, grace));
      assert.isFalse(yield* chat.isManager(unnamed, ada));
    }).pipe(Effect.provide(platforms)),
  );

  it.effect("both platforms find their users", () =>
    Effect.gen(function* () {
      const chat = yield* ChatPlatform;
      const game = yield* GamePlatform;
      assert.strictEqual(Option.getOrThrow(yield* chat.findUser(ada)).username, "ada");
      assert.isTrue(Option.isNone(yield* chat.findUser(grace)));
      assert.isTrue(yield* game.hasUser(GameId.make("1")));
      assert.isFalse(yield* game.hasUser(GameId.make("2")));
      const profile = Option.getOrThrow(yield* game.findProfile(GameId.make("1")));
      assert.strictEqual(profile.username, "ada_plays");
    }).pipe(Effect.provide(platforms)),
  );
});
