/** Who turned the rules of a community on is told by the bot when the service pauses them, with the way to the page. */
import { beforeAll, expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { dataOf, expectInvalid } from "./contract_server.ts";
import { enterDashboard, type Owner, pidOf, planOf, putPlan, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";

const [ada, rival] = ["100001", "100007"];

const server = useSiteServer({}, managedBy([ada, rival], [], { locale: "de" }));
const { fixtures, platform } = server;
fixtures.key({ account: "club", owner: ada, guildId: guild });
fixtures.key({ account: "rival", owner: rival, guildId: guild });

let owner: Owner;
let pid: string;
beforeAll(async () => {
  ({ owner, pid } = await enterDashboard(server, ada));
});

const put = async (by: Owner, fields: object = {}) => putPlan(by, { pid: await pidOf(by), ...fields });

test("the setting is on, and the page and the plan turn it off and on", async () => {
  expectInvalid(await put(owner, { tellTroubles: "yes" }), "tellTroubles");
  expect(dataOf(await put(owner)).plan).toMatchObject({ tellTroubles: true });
  const path = `/dashboard/communities/${pid}/channels`;
  const page = await owner.browser.get(path);
  expect(page.text).toContain('name="tellTroubles" value="true" checked');
  const form = formOf(page);
  expect((await owner.browser.post(path, { ...form, act: "tells" })).headers.location).toContain(
    "tellsSaved",
  );
  expect(await planOf(owner, pid)).toMatchObject({ tellTroubles: false });
  expect(dataOf(await put(owner, { tellTroubles: true })).plan).toMatchObject({ tellTroubles: true });
});

test("who turned the rules on gets one private message with the cause and the way to them", async () => {
  const other = await signInOwner(server, rival);
  dataOf(await put(owner, { nickname: "{game.username}" }));
  const manage = async (manager: boolean) => {
    const set = await platform.send(`PUT /control/guilds/${guild}/members/${ada}`, { body: { manager } });
    expect(set.status).toBeLessThan(300);
  };
  await manage(false);
  await expect.poll(async () => (await put(other)).status, { timeout: 20_000 }).toBe(200);
  const message = async () => {
    const { text } = await platform.send(`GET /chat/guilds/${guild}?as=${ada}`);
    return /<section id="private">.*?<\/section>/s.exec(text)?.[0] ?? "";
  };
  await expect.poll(message, { timeout: 20_000 }).toContain("niemand aus deinem Team");
  const told = await message();
  expect(told.match(/<li/g)).toHaveLength(1);
  const [way = ""] = /\/dashboard\/communities\/[^"]*/.exec(told) ?? [];
  expect(way).toBe(`/dashboard/communities/${pid}/roles?guildId=${guild}`);

  await manage(true);
  const state = async () =>
    (await owner.send(`GET /dashboard/api/communities/${pid}`)).body.data?.community as unknown;
  await expect.poll(state, { timeout: 20_000 }).toMatchObject({ rules: "paused", pausedFor: "unmanaged" });
  expect((await owner.browser.get(way)).text).toContain(
    "because nobody of your team managed the community any more",
  );
});
