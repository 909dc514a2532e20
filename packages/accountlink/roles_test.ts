import { PlatformFixture } from "@accountlink/core/fixture";
import { PlatformMemory } from "@accountlink/memory";
import { Layer, Schema } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAccountLink, type PromisedAccountLink } from "./mod.ts";

const guildId = "700000000000000001";
const roles = [
  { id: "2", name: "Admin", assignable: false },
  { id: "1", name: "Verified", assignable: true },
];
const platform = Schema.decodeUnknownSync(PlatformFixture)({
  guilds: [{ id: guildId, roles, members: [{ chatId: "100001" }, { chatId: "100002" }] }],
  chatUsers: [{ id: "100001", username: "ada" }],
  gameUsers: [{ id: "1", username: "ada_plays" }],
});
const platforms = Layer.merge(PlatformMemory.layer(platform), PlatformMemory.layerIdentities(platform));

const settings = {
  rules: [{ roleId: "1", when: { is: "linked" } }],
  nickname: "{game.username}",
  state: "on",
} as const;

const invalid = (name: string) => ({ _tag: "InvalidParameter", parameters: [{ name }] });

let al: PromisedAccountLink;
beforeAll(async () => {
  al = await createAccountLink({ platforms, scope: { account: "acme" } });
  await al.links.set("100001", "1");
});
afterAll(() => al.close());

it("`roles` stores, previews and deletes a plan, and applies it to one member or to all", async () => {
  const here = { guildId };
  expect(await al.roles.list(here)).toEqual(roles);
  expect(await al.roles.get(here)).toMatchObject({ plan: { rules: [], state: "paused" } });
  const paused = { ...settings, state: "paused" } as const;
  const { plan } = await al.roles.put(paused, { ...here, actor: "ada" });
  const rules = settings.rules.map((rule) => ({ ...rule, nickname: null }));
  expect([plan.rules, plan.state]).toEqual([rules, "paused"]);
  const change = { add: ["1"], remove: [], nickname: "ada_plays" };
  expect(await al.roles.preview("100001", here)).toEqual(change);
  const { status } = await al.roles.put(settings, { ...here, actor: "ada" });
  expect(status.sweep).toEqual({ after: null, done: 0, total: 0 });
  // `put` started to apply the plan to all members, so this member may already have the role.
  expect(await al.roles.sync("100001", here)).toMatchObject({ chatId: "100001", removed: [] });
  expect(await al.roles.preview("100001", here)).toEqual({ add: [], remove: [], nickname: null });
  expect(await al.roles.sync("100002", here)).toMatchObject({ added: [], nickname: null });
  expect((await al.roles.sweep(here)).plan.state).toBe("on");
  const changes = [];
  for await (const { action, actor } of al.audit.entries()) changes.push([action, actor.id]);
  expect(changes).toContainEqual(["roles.updated", "ada"]);
  expect(await al.roles.delete(here)).toBe(true);
  expect(await al.roles.delete(here)).toBe(false);
});

it("`roles` refuses calls without a guild, without a plan, and for the guild of another scope", async () => {
  await expect(al.roles.get()).rejects.toMatchObject(invalid("guildId"));
  await expect(al.roles.sync("100001", { guildId })).rejects.toMatchObject(invalid("guildId"));
  await expect(al.roles.sweep({ guildId })).rejects.toMatchObject(invalid("guildId"));
  await expect(al.roles.preview("ada", { guildId })).rejects.toMatchObject(invalid("chatId"));
  const own = await al.scope({ account: "acme", guildId });
  expect((await own.roles.put({ ...settings, state: "paused" })).plan.guildId).toBe(guildId);
  await expect(own.roles.put(settings, { guildId: "700000000000000002" })).rejects.toMatchObject({
    _tag: "Forbidden",
    reason: "wrong_guild",
  });
  expect(await own.roles.delete()).toBe(true);
});
