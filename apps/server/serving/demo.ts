/**
 * The demo: what `npm start` serves when nothing is configured.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generateToken } from "@accountlink/core/keys";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import { Effect } from "effect";
import { writeIfAbsent } from "../cli/atomic_write.ts";
import { reasonOf } from "../cli/report.ts";
import { InvalidConfig } from "../config/config.ts";

const guildId = "700000000000000001";
/** High enough that a tour that is pasted at once is not rate limited. */
const limits = { perWindow: 10, windowMs: 1_000 };
const created = "2020-01-01T00:00:00.000Z";

const people = [
  { chatId: "100001", gameId: "1", username: "ada", displayName: "Ada" },
  { chatId: "100002", gameId: "2", username: "grace", displayName: "Grace" },
  { chatId: "100003", gameId: "2", username: "grace_alt", displayName: "Grace (second account)" },
  { chatId: "100004", gameId: null, username: "linus", displayName: "Linus" },
];

const gameUsers = [
  { id: "1", username: "ada_plays", displayName: "Ada" },
  { id: "2", username: "grace_plays", displayName: "Grace" },
  { id: "3", username: "linus_plays", displayName: "Linus" },
];

const demoDocument = (globalKey: string, guildKey: string) => ({
  accounts: [{ name: "demo", chatId: "100001", tier: "premium" }],
  keys: [
    { key: globalKey, account: "demo", scope: "global", tier: "premium", limits },
    { key: guildKey, account: "demo", scope: "guild", guildId, tier: "free", limits },
  ],
  links: people
    .filter(({ gameId }) => gameId !== null)
    .flatMap(({ chatId, gameId }, index) => {
      const link = { account: "demo", chatId, gameId, lastVerifiedAt: `2026-01-0${index + 1}T00:00:00.000Z` };
      return [
        { ...link, scope: "global" },
        { ...link, scope: "guild", guildId },
      ];
    }),
  platform: {
    guilds: [
      {
        id: guildId,
        name: "Engine Room",
        bot: true,
        members: people.map(({ chatId, displayName }) => ({
          chatId,
          manager: chatId === "100001",
          nickname: displayName,
          joined: created,
          roles: [{ id: "1", name: "Member" }],
        })),
      },
    ],
    chatUsers: people.map(({ chatId, username, displayName }) => ({
      id: chatId,
      username,
      displayName,
      created,
    })),
    gameUsers: gameUsers.map(({ id, username, displayName }) => ({
      id,
      username,
      displayName,
      description: null,
      created,
      isBanned: false,
      hasVerifiedBadge: false,
      badges: [],
      groups: [],
    })),
  },
});

/**
 * The demo's fixture file, which is created at the first start with new keys.
 *
 * @param folder the demo's data folder, which exists
 */
export const demoFixture = Effect.fn("demoFixture")(function* (folder: string) {
  const file = demoFile(folder);
  const failed = (cause: unknown) =>
    new InvalidConfig({ problem: `demo file "${file}" cannot be used: ${reasonOf(cause)}` });
  if (!existsSync(file)) {
    const [globalKey, guildKey] = yield* Effect.all([generateToken(), generateToken()]).pipe(
      Effect.provide(NodeCrypto.layerSecureRandom),
    );
    const document = demoDocument(globalKey.token, guildKey.token);
    yield* Effect.mapError(writeIfAbsent(file, `${JSON.stringify(document, null, 2)}\n`), failed);
  }
  return yield* Effect.tryPromise({ try: () => readFile(file, "utf8"), catch: failed });
});

export const demoFile = (folder: string): string => join(folder, "fixture.json");

/** The demo's global key. */
export const demoKeyOf = (fixture: string): string =>
  (JSON.parse(fixture) as ReturnType<typeof demoDocument>).keys[0]?.key ?? "";

/** The text after the ready line: the demo's keys, and requests to try. */
export const demoIntroduction = (url: string, fixture: string): string => {
  const { keys } = JSON.parse(fixture) as ReturnType<typeof demoDocument>;
  const [globalKey, guildKey] = keys.map(({ key }) => key);
  return `
This is a demo with data of its own. Its keys:

  global, premium  ${globalKey}
  one guild, free  ${guildKey}

Try, in another terminal:

  curl "${url}/v2/chat?chatId=100001" -H "Authorization: Bearer ${globalKey}"
  curl "${url}/v2/game?gameId=2&guildId=${guildId}" -H "Authorization: Bearer ${guildKey}"
  curl -X PATCH ${url}/v2/game -H "Authorization: Bearer ${globalKey}" -H "Content-Type: application/json" -d '{"chatId":"100004","gameId":"3"}'

The interface: ${url}/docs
The dashboard of the keys, as Ada: ${url}/dashboard
Stop with Ctrl+C.`;
};
