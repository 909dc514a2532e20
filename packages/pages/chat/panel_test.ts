import {
  ChatPlatform,
  type GuildId,
  type Pid,
  PlatformUnavailable,
  type Rest,
  StorageUse,
} from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { expect } from "@accountlink/test-servers/effect";
import { aMember } from "@accountlink/testing";
import { Effect, Struct } from "effect";
import { Languages } from "../languages/mod.ts";
import { makePostPanel } from "./panel.ts";
import { testWithTwoAccounts } from "./test_two_accounts.ts";

const guildId = "70001" as GuildId;
const [ada, cleo] = ["100001", "100003"] as const;

const test = testWithTwoAccounts([ada, cleo], {
  guilds: [
    { id: guildId, name: "Crew", bot: true, members: [aMember(ada)], channels: [{ id: "1", name: "hall" }] },
  ],
  chatUsers: [],
  gameUsers: [],
});

const wanted = "pid_0123456789abcdefghij" as Pid;
const ensureScope = KeyStore.use((keys) => keys.ensureScope("acme", { kind: "global" }, wanted));
const origin = { actor: { type: "operator", id: "root" }, requestId: null } as const;

test("no panel is posted under another name while the platform does not tell the name of the guild", function* () {
  const findGuild = () => new PlatformUnavailable({ operation: "ChatPlatform.findGuild" });
  const postPanel = yield* makePostPanel.pipe(
    Effect.updateService(ChatPlatform, Struct.assign({ findGuild })),
    Effect.provide(Languages.layer),
  );
  const posted = postPanel({ scope: yield* ensureScope, guildId }, "1", null, origin);
  expect(yield* Effect.flip(posted)).toMatchObject({ operation: "ChatPlatform.findGuild" });
});

test("a restored storage posts no panel until it is resumed", function* () {
  const scope = yield* ensureScope;
  let rest: Rest | null = { reason: "restored", since: 0 };
  const postPanel = yield* makePostPanel.pipe(
    Effect.updateService(StorageUse, Struct.assign({ resting: () => rest })),
    Effect.provide(Languages.layer),
  );
  const post = postPanel({ scope, guildId }, "1", null, origin);
  expect(yield* Effect.flip(post)).toMatchObject({ _tag: "PlatformUnavailable" });
  rest = null;
  yield* post;
});
