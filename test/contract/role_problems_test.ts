/** What role plans do, and show, when the platforms refuse changes and answers. */
import { expect, onTestFinished, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { type Json } from "../support/http.ts";
import { expectData } from "./contract_server.ts";
import { enterDashboard, planOf, putPlan } from "./dashboard.ts";
import { clubOf, useSiteServer } from "./site_server.ts";

const [ada, dan, eve] = ["100001", "100004", "100005"];
const [member, linked, chief] = ["1", "2", "3"];
const roles = [
  { id: member, name: "Member" },
  { id: linked, name: "Linked" },
  { id: chief, name: "Chief" },
];

const server = useSiteServer({}, clubOf(ada, { roles }));
const { fixtures, send, platform } = server;
const key = fixtures.key({
  account: "club",
  guildId: guild,
  tier: "premium",
  links: { [dan]: "2", [eve]: "1" },
});

const isLinked = { roleId: linked, when: { is: "linked" } };
const api = {
  member: "/chat/api/guilds/:guildId/members/:chatId",
  members: "/chat/api/guilds/:guildId/members",
};

/** Turns on a plan while the platforms have the faults. Returns a function that reads the plan after its sweep. */
const sweepWith = async (faults: ReadonlyArray<object>, settings: object) => {
  for (const fault of faults) await platform.fail(fault);
  const { owner, pid } = await enterDashboard(server, ada, guild);
  const place = { pid, guildId: guild };
  expect((await putPlan(owner, { ...place, unlinked: "keep", ...settings })).status).toBe(200);
  onTestFinished(async () => {
    await platform.recover();
    await owner.send("DELETE /dashboard/api/roles", { body: place });
  });
  const status = async () => (await planOf(owner, place.pid)).status;
  const sweptAt = expect.any(String) as unknown;
  await expect.poll(status).toMatchObject({ sweep: null, sweptAt });
  return status;
};

const problem = (reason: string, chatIds: ReadonlyArray<string>, roleId: string | null) => ({
  chatId: chatIds.length === 0 ? null : (expect.stringMatching(new RegExp(chatIds.join("|"))) as unknown),
  chatIds: expect.arrayContaining(chatIds.slice()) as unknown,
  count: chatIds.length,
  roleId,
  reason,
  at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
});

const sync = (chatId: string) => send("POST /v2/members/sync", { key, body: { chatId, guildId: guild } });

const setRoles = (chatId: string, of: ReadonlyArray<object>) =>
  platform.send(`PUT /control/guilds/${guild}/members/${chatId}`, { body: { roles: of } });

test("a refused nickname and a refused role are problems, and sync answers with what was done", async () => {
  const status = await sweepWith(
    [
      { mode: "refused", code: "nickname_refused", platform: "chat", route: `PATCH ${api.member}` },
      {
        mode: "refused",
        code: "role_refused",
        platform: "chat",
        route: `PUT ${api.member}/roles/:roleId`,
        ending: chief,
      },
    ],
    {
      rules: [{ roleId: chief, when: { is: "linked" } }, isLinked],
      nickname: "{game.username}",
    },
  );
  const { problems, pending } = (await status()) ?? {};
  expect(pending).toBe(0);
  expect(new Set(problems as unknown as ReadonlyArray<Json>)).toEqual(
    new Set([problem("nickname_refused", [dan, eve], null), problem("role_refused", [dan, eve], chief)]),
  );
  await setRoles(eve, []);
  expectData(await sync(eve), { chatId: eve, added: [linked], removed: [], nickname: null });
  expectData(await sync(eve), { chatId: eve, added: [], removed: [], nickname: null });
});

test("members that may not be listed end the sweep, and are a problem that the page tells below the rules", async () => {
  const hidden = { mode: "refused", code: "members_hidden", platform: "chat", route: `GET ${api.members}` };
  const status = await sweepWith([hidden], { rules: [isLinked] });
  expect((await status())?.problems).toEqual([problem("members_hidden", [], null)]);
  const { browser, pid } = await enterDashboard(server, ada, guild);
  const { text } = await browser.get(`/dashboard/communities/${pid}/roles?guildId=${guild}`);
  const headings = Array.from(text.matchAll(/<h2>(Rules|Problems)<\/h2>/g), ([, name]) => name);
  expect(headings).toEqual(["Rules", "Problems"]);
});

test("a member who has not passed the guild's screening is as one who has not joined", async () => {
  const put = (pending: boolean) =>
    platform.send(`PUT /control/guilds/${guild}/members/${eve}`, { body: { roles: [], pending } });
  await put(true);
  const status = await sweepWith([], { rules: [isLinked] });
  expect((await status())?.problems).toEqual([]);
  const held = async () => {
    const { body } = await platform.send(`GET /control/guilds/${guild}/roles`);
    return body[linked];
  };
  expectData(await sync(dan), { chatId: dan, added: [], removed: [], nickname: null });
  expect(await held()).toBe(1);
  const refused = await sync(eve);
  expect([refused.status, refused.body.error?.details]).toEqual([403, { reason: "user_not_in_guild" }]);
  const { owner, pid } = await enterDashboard(server, ada, guild);
  const list = `GET /dashboard/api/unlinked?pid=${pid}&guildId=${guild}`;
  expect(JSON.stringify((await owner.send(list as never)).body)).not.toContain(eve);
  await owner.send("POST /dashboard/api/roles/preview", { body: { pid, guildId: guild } });
  const preview = async () =>
    (await owner.send(`GET /dashboard/api/roles/preview?pid=${pid}&guildId=${guild}`)).body.data?.preview;
  await expect.poll(async () => (await preview())?.state).toBe("done");
  const { done, total } = (await preview()) ?? {};
  expect(total).toBe(done);
  await put(false);
  expectData(await sync(eve), { chatId: eve, added: [linked], removed: [], nickname: null });
});
