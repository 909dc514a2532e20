import { ChatPlatform, type GuildId, type PlatformUnavailable } from "@accountlink/core";
import { decodeFixture } from "@accountlink/core/fixture";
import type { ChatChannels, ChatRoles, PostRefused } from "@accountlink/core/platforms";
import { PlatformMemory } from "@accountlink/memory";
import { describe, expect, test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Option } from "effect";
import { startServer } from "./test_server.ts";

const [guildId, plain, elsewhere] = ["70001", "70002", "70003"] as [GuildId, GuildId, GuildId];
const log = { id: "71", name: "mod-log", mayPost: true };
const staff = { id: "72", name: "staff", mayPost: false };

const document = {
  platform: {
    guilds: [
      { id: guildId, roles: [{ id: "5", name: "Member" }], channels: [{ id: "71", name: "mod-log" }, staff] },
      { id: plain },
      { id: elsewhere, bot: false, channels: [{ id: "73", name: "hall" }] },
    ],
  },
};

const decoded = Effect.map(decodeFixture(JSON.stringify(document)), ({ platform }) => platform);

const dev = Effect.gen(function* () {
  const server = yield* startServer(yield* decoded);
  return Context.get(yield* Layer.build(server.adapters()), ChatPlatform);
});

const memory = Effect.gen(function* () {
  return Context.get(yield* Layer.build(PlatformMemory.layer(yield* decoded)), ChatPlatform);
});

const reasonOf = <A>(post: Effect.Effect<A, PostRefused | PlatformUnavailable>) =>
  Effect.map(Effect.flip(post), (error) => ("reason" in error ? error.reason : error._tag));

describe.each([
  ["memory", memory],
  ["dev", dev],
])("channels of the platform %s", (_, started) => {
  const channelsOf = Effect.map(started, ({ channels }) => channels as ChatChannels);

  test("the channels of a guild say if the bot may post, and a guild without channels has one", function* () {
    const channels = yield* channelsOf;
    const listed = (id: GuildId) =>
      Effect.map(channels.findChannels(id), (found) => Option.getOrNull(found)?.channels);
    expect(yield* listed(guildId)).toEqual([log, staff]);
    expect(yield* listed(plain)).toEqual([{ id: plain, name: "general", mayPost: true }]);
    expect(yield* listed(elsewhere)).toBe(undefined);
  });

  test("messages are posted and edited where the bot may", function* () {
    const channels = yield* channelsOf;
    const id = yield* channels.post(log.id, { content: "one" });
    expect(yield* channels.post(log.id, { content: "two" })).not.toBe(id);
    expect(yield* channels.edit(log.id, id, { content: "three" })).toBe(true);
    expect(yield* channels.edit(log.id, "999", { content: "three" })).toBe(false);
    for (const channelId of [staff.id, "73", "74"]) {
      expect(yield* reasonOf(channels.post(channelId, { content: "" }))).toBe("channel_closed");
      expect(yield* reasonOf(channels.edit(channelId, id, { content: "" }))).toBe("channel_closed");
    }
  });

  test("a role that the bot makes is listed, and the bot may give it", function* () {
    const roles = (yield* started).roles as ChatRoles;
    const made = yield* roles.makeRole?.(guildId, "Officer") ?? Effect.succeedNone;
    const found = Option.getOrThrow(yield* roles.findGuildRoles(guildId)).roles;
    expect(found.at(-1)).toEqual({ id: Option.getOrThrow(made), name: "Officer", assignable: true });
    expect(yield* roles.makeRole?.(elsewhere, "Officer") ?? Effect.void).toEqual(Option.none());
  });
});
