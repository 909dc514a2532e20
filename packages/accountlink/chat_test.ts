import { ChatPlatform } from "@accountlink/core";
import { PlatformFixture } from "@accountlink/core/fixture";
import { PlatformMemory } from "@accountlink/memory";
import { withResolvers } from "@accountlink/test-servers";
import { Effect, Layer, Schema } from "effect";
import { Hex } from "effect/encoding";
import { expect, it } from "vitest";
import { createAccountLink, InvalidOptions } from "./mod.ts";

const guildId = "700000000000000001";
const platform = Schema.decodeUnknownSync(PlatformFixture)({
  guilds: [
    {
      id: guildId,
      roles: [{ id: "1", name: "Verified", assignable: true }],
      members: [{ chatId: "100001" }],
      channels: [{ id: "70", name: "mod-log" }],
    },
  ],
  chatUsers: [{ id: "100001", username: "ada" }],
  gameUsers: [{ id: "1", username: "ada_plays" }],
});

const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
const hexKey = Hex.encode(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)));

/** The platform of the fixture, with an application whose key signs the interactions. */
const platformsWith = (change: (chat: ChatPlatform["Service"]) => object, edited: Array<object> = []) =>
  Layer.effect(
    ChatPlatform,
    Effect.map(ChatPlatform, (chat) => ({
      ...chat,
      commands: {
        application: Effect.succeed({ id: "1", publicKey: hexKey }),
        editAnswer: (_: object, message: object) =>
          Effect.as(
            Effect.sync(() => edited.push(message)),
            true,
          ),
      },
      ...change(chat),
    })),
  ).pipe(
    Layer.provideMerge(PlatformMemory.layer(platform)),
    Layer.merge(PlatformMemory.layerIdentities(platform)),
  );
const platforms = platformsWith(() => ({}));

const http = { publicUrl: "https://links.example", basePath: "/links", clientAddress: "given" } as const;

/** A signed request, at a path of the bot's own. */
const interaction = async (body: object) => {
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signed = new TextEncoder().encode(timestamp + text);
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, signed));
  const headers = { "x-signature-ed25519": Hex.encode(signature), "x-signature-timestamp": timestamp };
  return new Request("https://bot.example/", { method: "POST", headers, body: text });
};

const verify = {
  type: 2,
  id: "1",
  application_id: "1",
  token: "token",
  locale: "en-US",
  guild_id: guildId,
  guild_locale: "en-US",
  member: { user: { id: "100001" }, permissions: "0" },
  data: { id: "1", name: "verify", type: 1 },
};

it("`chat.answer` answers signed interactions at any path, and refuses others", async () => {
  const al = await createAccountLink({ platforms, http });
  await al.links.set("100001", "1");
  const rules = [{ roleId: "1", when: { is: "linked" } }] as const;
  await al.roles.put({ rules, nickname: null, state: "on" }, { guildId });

  const pong = await al.chat.answer(
    await interaction({ type: 1, id: "1", application_id: "1", token: "token" }),
  );
  expect([pong.status, await pong.json()]).toEqual([200, { type: 1 }]);
  const answer = await al.chat.answer(await interaction(verify));
  expect(await answer.json()).toMatchObject({
    type: 4,
    data: { flags: 64, content: expect.stringContaining("ada_plays") },
  });
  const forged = await interaction(verify);
  forged.headers.set("x-signature-timestamp", "1");
  expect((await al.chat.answer(forged)).status).toBe(401);
  await al.close();
});

it("a stop waits for an answer that was deferred", async () => {
  const edited: Array<object> = [];
  const [asked, told] = [withResolvers<void>(), withResolvers<void>()];
  const slow = platformsWith(
    ({ roles }) => ({
      roles: {
        ...roles,
        findMember: (...of: Parameters<NonNullable<typeof roles>["findMember"]>) => {
          asked.resolve();
          return Effect.andThen(
            Effect.promise(() => told.promise),
            roles?.findMember(...of) ?? Effect.succeedNone,
          );
        },
      },
    }),
    edited,
  );
  const al = await createAccountLink({ platforms: slow, http });
  const plan = { rules: [], nickname: null, state: "on" } as const;
  await al.roles.put(plan, { guildId });
  const deferred = await al.chat.answer(await interaction({ ...verify, data: { name: "update" } }));
  expect(await deferred.json()).toMatchObject({ type: 5 });
  await asked.promise;
  const closed = al.close();
  told.resolve();
  await closed;
  expect(edited).toEqual([
    expect.objectContaining({ content: expect.stringContaining("already has the right roles") }),
  ]);
});

it("`chat.answer` requires the option http", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  await expect(al.chat.answer(await interaction(verify))).rejects.toBeInstanceOf(InvalidOptions);
  await al.close();
});

it("the bot tells the log channel of a community who was linked", async () => {
  const posted: Array<unknown> = [];
  const logging = platformsWith(({ channels }) => ({
    isManager: () => Effect.succeed(true),
    channels: {
      ...channels,
      post: (channelId: string, body: object) => {
        posted.push([channelId, body]);
        return Effect.succeed("1");
      },
    },
  }));
  const al = await createAccountLink({ platforms: logging, http });
  const log = { rules: [], nickname: null, state: "on", logChannelId: "70" } as const;
  await al.roles.put(log, { guildId });
  await al.links.set("100001", "1");
  await expect
    .poll(() => posted)
    .toEqual([["70", expect.objectContaining({ content: expect.stringContaining("was linked to") })]]);
  await al.close();
});

it("a confirmed verification is told to subscribers", async () => {
  const al = await createAccountLink({ platforms, http });
  const heard = withResolvers<object>();
  await al.on("linkChanged", heard.resolve);
  const { sid, url } = await al.sessions.create({ clientId: "one" });
  let cookie = "";
  const send = async (path: string, body?: URLSearchParams) => {
    const init = { headers: { cookie }, ...(body && { method: "POST", body }) };
    const answer = await al.fetch(new Request(new URL(path, url ?? ""), init), {
      clientAddress: "203.0.113.7",
    });
    cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
    return answer;
  };
  for (const [step, code] of [
    ["chat", "100001"],
    ["game", "1"],
  ] as const) {
    const { headers } = await send(`/links/verify/${step}/start?sid=${sid}`);
    const { searchParams } = new URL(headers.get("location") ?? "");
    await send(
      `/links/verify/${step}/callback?${new URLSearchParams({ state: searchParams.get("state") ?? "", code })}`,
    );
  }
  const csrf = /name="csrf" value="([^"]*)"/.exec(await (await send(url ?? "")).text())?.[1] ?? "";
  await send("/links/verify/confirm", new URLSearchParams({ csrf, sid }));
  expect(await heard.promise).toMatchObject({ chatId: "100001", gameId: "1", previousGameId: null });
  await al.close();
});
