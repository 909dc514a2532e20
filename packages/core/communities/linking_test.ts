import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { Pid } from "../ids.ts";
import { ChatPlatform, GuildManagers } from "../platforms/mod.ts";
import { guildId } from "../test_services.ts";
import { newCommunity, type PauseReason, pauseFor } from "./community.ts";
import { CommunityStore } from "./community_store.ts";
import { makeHasOpen } from "./linking.ts";

const scope: DataScope = { account: "acme", kind: "guild", guildId, pid: "pid_0123456789abcdef" as Pid };

test.each<[why: PauseReason, hasBot: boolean, isManaged: boolean, isOpen: boolean]>([
  ["bot_removed", false, true, false],
  ["bot_removed", true, false, false],
  ["bot_removed", true, true, true],
  ["unmanaged", true, false, false],
  ["unmanaged", true, true, true],
  ["account_closed", true, true, false],
  ["many_would_lose", false, false, true],
])(
  "members may link after the pause %s, if the bot is there %s and a manager %s: %s",
  ([why, hasBot, isManaged, isOpen]) => {
    const community = { ...newCommunity, scope, guildId, homeSince: 1, paused: pauseFor(why, 2) };
    const guild = hasBot ? Option.some({ id: guildId, name: null }) : Option.none();
    return Effect.gen(function* () {
      const hasOpen = yield* makeHasOpen;
      assert.strictEqual(yield* hasOpen([community]), isOpen);
    }).pipe(
      Effect.provide([
        Layer.mock(CommunityStore)({ findHome: () => Effect.succeedSome(community) }),
        Layer.mock(ChatPlatform)({ findGuild: () => Effect.succeed(guild) }),
        Layer.mock(GuildManagers)({ mayName: () => Effect.succeed(isManaged) }),
      ]),
    );
  },
);
