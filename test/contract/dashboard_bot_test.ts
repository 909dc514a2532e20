/** What the page of a community says about the bot there, and how members reach it. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { createKey, type Owner, scopesOf, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, newcomer] = ["100001", "100006"];

const server = useSiteServer({}, clubOf(ada));
const { fixtures } = server;
const rules = [{ roleId: verified.id, when: { is: "linked" as const } }];
fixtures.key({ account: "club", guildId: guild });
fixtures.plan({ account: "club", guildId: guild, rules });

const pidsOf = async (owner: Owner) => (await scopesOf(owner)).map(({ pid }) => textOf(pid));

test("the page says whether the bot answers, and shows the panel as members see it", async () => {
  const owner = await signInOwner(server, ada);
  const [pid = ""] = await pidsOf(owner);
  const page = async (query = "") => (await owner.browser.get(`/dashboard/communities/${pid}${query}`)).text;

  const on = await page("?text=Prove+who+%3Cyou%3E+are");
  expect(on).toContain("The bot answers here.");
  expect(on).toContain("Prove who &lt;you&gt; are</p>");
  expect(on).toContain(`/verify?pid=${pid}&amp;guildId=${guild}`);
  expect(on).toContain(`/chat/guilds/${guild}">Try it as a member</a>`);

  const body = { pid, guildId: guild, rules, nickname: null, state: "paused" };
  const paused = await owner.send("PUT /dashboard/api/roles", { body });
  expect(paused.status).toBe(200);
  const off = await page();
  expect(off).toContain("The bot tells members that linking is not set up here");
  expect(off).not.toMatch(/The bot answers here|Members type|Try it as a member/);
});

test("a community whose only key is disabled is not offered a verify link", async () => {
  const owner = await signInOwner(server, newcomer);
  const { key } = await createKey(owner);
  const [pid = ""] = await pidsOf(owner);
  const page = async () => (await owner.browser.get(`/dashboard/communities/${pid}`)).text;
  expect(await page()).toContain('id="verify-link"');
  await owner.send(`PATCH /dashboard/api/keys/${textOf(key.id)}`, { body: { status: "disabled" } });
  expect(await page()).not.toMatch(/id="(verify|step)-link"/);
});
