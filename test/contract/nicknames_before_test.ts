/** The nicknames that members had before rules gave them others: a file, and a way to put them back. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { locationOf, withoutIsolation, wordsOf } from "../support/flow_browser.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { enterDashboard, putPlan } from "./dashboard.ts";
import { clubOf, useSiteServer } from "./site_server.ts";

const [ada, cyd] = ["100001", "100003"];

const header = "chatId,before,byTheRules,replacedAt\r\n";
const replaced = /^chatId,before,byTheRules,replacedAt\r\n100003,Nick,player_3,\d{4}-[^,]*Z\r\n$/;

const server = useSiteServer({}, clubOf(ada, { roles: [{ id: "1", name: "Member", assignable: true }] }));
server.fixtures.plan({ account: "club", guildId: guild, nickname: "{game.username}" });
server.fixtures.key({ account: "club", guildId: guild, links: { [cyd]: "3" } });

test("nicknames from before are downloaded, and put back while no rules set nicknames", async () => {
  const { owner, browser, csrf, pid } = await enterDashboard(server, ada);
  const page = `/dashboard/communities/${pid}/roles`;
  const file = async () => (await browser.get(`${page}/nicknames.csv?guildId=${guild}`)).text;
  await expect.poll(file, { timeout: 12_000 }).toMatch(replaced);
  expect((await browser.get(page)).text).toContain("Nicknames from before");

  const putBack = () => browser.post(page, { csrf, guildId: guild, act: "putBack" });
  expect((await putBack()).status).toBe(400);
  const without = { pid, guildId: guild, rules: [], nickname: null, state: "on" };
  expect((await owner.send("POST /dashboard/api/roles/preview", { body: without })).status).toBe(200);
  await expect
    .poll(async () => wordsOf(await browser.get(`${page}/preview?guildId=${guild}`)), { timeout: 12_000 })
    .toContain(
      "These rules set no nickname any more: members keep the nicknames that they have from the rules",
    );
  const put = (nickname: string | null) => putPlan(owner, { pid, nickname });
  expect((await put(null)).status).toBe(200);
  expect((await browser.get(page)).text).toContain("Put 1 nickname back");
  expect((await putBack()).headers.location).toContain("done=nicknamesBack");
  const log = withoutIsolation((await browser.get("/dashboard/audit?action=nicknames.put_back")).text);
  expect(log).toContain("User 1 had 1 nickname of Rook &amp; Bishop put back");
  await expect.poll(file, { timeout: 12_000 }).toBe(header);
  expect((await browser.get(page)).text).not.toContain("Nicknames from before");

  // The members have them again: the rules replace the same ones.
  expect((await put("{game.username}")).status).toBe(200);
  await expect.poll(file, { timeout: 12_000 }).toMatch(replaced);
});

const dan = "100004";

const isNamed = (nickname: string) =>
  expect
    .poll(async () => wordsOf(await server.platform.send(`GET /chat/guilds/${guild}?as=${dan}`)), {
      timeout: 12_000,
      interval: 200,
    })
    .toContain(`Your nickname: ${nickname} `);

const upload = async ({ browser, csrf, pid }: Awaited<ReturnType<typeof enterDashboard>>) =>
  locationOf(await uploadLinks(browser, { csrf, pid, onConflict: "replace" }, `chatId,gameId\n${dan},4\n`));

test("an import says that the bot changes nicknames, and its undo gives members theirs back", async () => {
  const entered = await enterDashboard(server, ada, guild);
  const { browser, csrf } = entered;
  const preview = await upload(entered);
  expect(wordsOf(await browser.get(preview))).toContain(
    "the bot then changes roles and nicknames of members to fit these links. If you undo the import, it changes them back.",
  );
  await isNamed("Nick");
  expect((await browser.post(`${preview}/start`, { csrf })).status).toBe(303);
  await isNamed("player_4");
  expect((await browser.post(`${preview}/undo`, { csrf })).status).toBe(303);
  await isNamed("Nick");
});

test("the undo of an import gives a member who had unlinked before the nickname of then", async () => {
  const entered = await enterDashboard(server, ada, guild);
  const { owner, browser, csrf, pid } = entered;
  const link = { pid, chatId: dan };
  expect((await owner.send("PUT /dashboard/api/links", { body: { ...link, gameId: "4" } })).status).toBe(200);
  await isNamed("player_4");
  expect((await owner.send("DELETE /dashboard/api/links", { body: link })).status).toBe(200);
  await isNamed("none");
  const member = `PUT /control/guilds/${guild}/members/${dan}` as const;
  await server.platform.send(member, { body: { nickname: "Chosen" } });
  await isNamed("Chosen");
  const preview = await upload(entered);
  expect((await browser.post(`${preview}/start`, { csrf })).status).toBe(303);
  await isNamed("player_4");
  expect((await browser.post(`${preview}/undo`, { csrf })).status).toBe(303);
  await isNamed("Chosen");
});
