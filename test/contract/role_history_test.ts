/** What the rules gave and took: as JSON and as a file, and given back. */
import { expect, test } from "vitest";
import { guild, stranger } from "../support/fixtures.ts";
import { formOf, withoutIsolation } from "../support/flow_browser.ts";
import { type Json, listOf } from "../support/http.ts";
import { dataOf, expectData, expectInvalid, expectUnknown, isoTime } from "./contract_server.ts";
import { enterDashboard, planOf, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, exportOf, useSiteServer, verified } from "./site_server.ts";

const [ada, bob, cyd] = ["100001", "100002", "100003"];
const roleId = verified.id;

const rules = [{ roleId, when: { is: "linked" } }];

const server = useSiteServer({}, clubOf(ada));
server.fixtures.plan({ account: "club", guildId: guild, rules });
server.fixtures.key({ account: "club", guildId: guild, links: { [bob]: "2", [cyd]: "3" } });

/** The values that a page has chosen or ticked. */
const checkedIn = (text: string) => [...text.matchAll(/value="(\w+)" checked/g)].map(([, value]) => value);

test("what the rules gave and took is listed, and what they took is given back", async () => {
  const { owner, pid } = await enterDashboard(server, ada);
  const place = { pid, guildId: guild };
  const list = `GET /dashboard/api/roles/history?pid=${pid}&guildId=${guild}` as const;
  const changes = async (query: `&${string}` | "" = "") => dataOf(await owner.send(`${list}${query}`));
  const made = async () =>
    listOf((await changes())["changes"]).map(({ chatId, change, because }) => [chatId, change, because]);
  const gave = (chatId: string) => [chatId, "gave", "sweep"];
  await expect.poll(made, { timeout: 12_000 }).toEqual([gave(cyd), gave(bob)]);

  const since = new Date().toISOString();
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: bob } }));
  const took = [bob, "took", "link"];
  await expect.poll(made, { timeout: 12_000 }).toEqual([took, gave(cyd), gave(bob)]);
  expectData(await owner.send(`${list}&limit=1`), {
    changes: [{ chatId: bob, roleId, change: "took", at: isoTime, because: "link" }],
    next: expect.stringMatching(/^\d+$/),
  });
  const { next } = await changes("&limit=1");
  expect(await changes(`&limit=2&cursor=${next as unknown as string}`)).toMatchObject({
    changes: [{ chatId: cyd }, { chatId: bob, change: "gave" }],
    next: null,
  });
  expectInvalid(await owner.send(`${list}&cursor=x`), "cursor");

  const putBack = (from: unknown) =>
    owner.send("POST /dashboard/api/roles/put-back", { body: { ...place, since: from } });
  expectInvalid(await putBack("yesterday"), "since");
  expectData(await putBack(new Date(Date.now() + 60_000).toISOString()), { pending: 0 });
  expect(await planOf(owner, pid)).toMatchObject({ status: { state: "paused" } });
  expectData(await putBack(since), { pending: 1 });
  const back = [[bob, "gave", "put_back"], took, gave(cyd), gave(bob)];
  await expect.poll(made, { timeout: 12_000 }).toEqual(back);
  expectData(await putBack(since), { pending: 0 });
  const { text } = await owner.browser.get("/dashboard/audit?action=roles.put_back");
  expect(text).toContain("1 role of");

  const page = `/dashboard/communities/${pid}/roles/history`;
  const shown = withoutIsolation((await owner.browser.get(page)).text);
  expect(shown).toContain("Verified");
  expect(shown).toContain("given back by the team");
  expect((await owner.browser.get(`${page}.csv`)).text).toMatch(
    new RegExp(`^at,chatId,roleId,change,because\\r\\n[^,]+,${bob},${roleId},gave,put_back\\r\\n`),
  );

  const me = await server.signIn(bob, undefined, "me");
  const roleChanges = listOf((await exportOf(me)).body.roleChanges);
  const own = { guildId: guild, roleId, change: "gave", at: isoTime, because: "put_back" };
  expect(roleChanges[0]).toEqual({ community: expect.objectContaining({ pid }), ...own });
  expect(roleChanges).toHaveLength(3);
});

test("a page says how many roles were taken, and gives them back", async () => {
  const { owner, browser, csrf, pid } = await enterDashboard(server, ada);
  dataOf(await putPlan(owner, { pid, rules }));
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: cyd } }));
  const page = `/dashboard/communities/${pid}/roles/history`;
  const said = async () => withoutIsolation((await browser.get(page)).text);
  await expect.poll(said, { timeout: 12_000 }).toMatch(/The last hour: \d roles?/);
  const { text } = await browser.get(page);
  const [, since = ""] = /name="since" value="([^"]+)"/.exec(text) ?? [];
  expect(Date.now() - Date.parse(since)).toBeGreaterThanOrEqual(3_600_000);
  expect((await browser.post(page, { csrf, guildId: guild })).status).toBe(400);
  const answer = await browser.post(page, { csrf, guildId: guild, since });
  expect(answer.headers.location).toContain("done=rolesBack");
  await expect.poll(said, { timeout: 12_000 }).not.toMatch(/The last hour|still to be given back/);
});

test("a role that the rules name no more is taken where the change says so", async () => {
  const { owner, pid } = await enterDashboard(server, ada);
  const place = { pid, guildId: guild };
  const put = (change: object) => putPlan(owner, { pid, ...change });
  expectInvalid(await put({ rules, take: [roleId] }), "take");
  expectInvalid(await put({ take: ["x"] }), "take");
  const preview = async () => {
    const body = { ...place, rules: [], nickname: null };
    const { preview: found } = dataOf(await owner.send("POST /dashboard/api/roles/preview", { body }));
    return (found as Json)["unnamed"];
  };
  const lists = `/dashboard/communities/${pid}/roles/preview/members?roleId=${roleId}&change=`;
  const again = { ...place, rules, nickname: null };
  dataOf(await owner.send("POST /dashboard/api/roles/preview", { body: again }));
  expect((await owner.browser.get(`${lists}took`)).text).toMatch(/chatId=100002">/u);
  for (const nobody of [`${lists}gave`, lists.replace(`=${roleId}`, "=%00")])
    expect((await owner.browser.get(nobody)).text).toContain("The preview found nobody.");
  const members = async () => Number(listOf(await preview())[0]?.members ?? 0);
  const before = await members();
  expect(before).toBeGreaterThan(0);
  const { browser } = owner;
  const { text } = await browser.get(`/dashboard/communities/${pid}/roles/preview`);
  expect(withoutIsolation(text)).toContain(`Verified: ${before} member`);
  dataOf(await put({}));
  expect(await members()).toBe(before);

  const page = `/dashboard/communities/${pid}/roles`;
  const form = formOf(await browser.get(page));
  await browser.post(page, { ...form, nickname: "{game.username}", unlinked: "keep", act: "on" });
  // Rules that gave no role were turned on without choosing.
  const shown = await browser.get(`${page}/preview`);
  expect(checkedIn(shown.text)).toEqual(["keep"]);
  const chosen = { ...formOf(shown), seen: "1", unlinked: "remove", take: roleId, act: "confirm" };
  const refused = await browser.post(`${page}/preview`, chosen);
  expect([refused.status, checkedIn(refused.text)]).toEqual([409, ["remove", roleId]]);
  const route = "DELETE /chat/api/guilds/:guildId/members/:chatId/roles/:roleId";
  await server.platform.fail({ mode: "down", platform: "chat", route });
  dataOf(await put({ take: [roleId] }));
  expect((await browser.get(page)).text).toMatch(new RegExp(`${before} (?:is|are) still to be taken`));
  await server.platform.recover();
  await expect.poll(members, { timeout: 12_000 }).toBe(0);
  expect((await browser.get(page)).text).not.toContain("still to be taken");
});

test("a stranger neither reads nor reverses what the rules did", async () => {
  const { pid } = await enterDashboard(server, ada);
  const other = await signInOwner(server, stranger);
  expectUnknown(await other.send(`GET /dashboard/api/roles/history?pid=${pid}&guildId=${guild}`));
  const body = { pid, guildId: guild, since: "2026-01-01" };
  expectUnknown(await other.send("POST /dashboard/api/roles/put-back", { body }));
});

test("a form of rules keeps the version that it edits until its reader is told of another", async () => {
  const { owner, browser, pid } = await enterDashboard(server, ada);
  const address = `/dashboard/communities/${pid}/roles`;
  dataOf(await putPlan(owner, { pid, state: "paused" }));
  const opened = formOf(await browser.get(address));
  const typed = { ...opened, rows: "0", nickname: "{game.username}" };
  const previewed = await browser.post(address, { ...typed, act: "on" });
  dataOf(await putPlan(owner, { pid, rules, state: "paused" }));
  const linkIn = ({ text }: { readonly text: string }, part: string) =>
    text.match(new RegExp(`href="([^"]*${part}[^"]*)"`))?.[1]?.replaceAll("&amp;", "&") ?? "";
  const preview = await browser.get(previewed.headers.location ?? "");
  const listed = await browser.get(`${address}/preview/members?roleId=${roleId}&seen=${opened["seen"]}`);
  const forms = [
    await browser.post(address, { ...typed, act: "add" }),
    await browser.post(address, { ...typed, nickname: "same for all", act: "paused" }),
    preview,
    await browser.get(linkIn(preview, "draft=")),
    await browser.get(linkIn(listed, "/preview\\?")),
  ];
  // The form that deletes the rules comes last, and names the version that is stored.
  const editedIn = ({ text }: { readonly text: string }) => / name="seen" value="(\w+)"/.exec(text)?.[1];
  expect(forms.map(editedIn)).toEqual(forms.map(() => opened["seen"]));
  const told = await browser.post(address, { ...typed, act: "paused" });
  expect(told.text).toContain("Somebody else has changed these rules since you opened the page.");
  expect(
    (
      await browser.post(address, {
        ...formOf(told),
        ...typed,
        seen: editedIn(told) ?? "",
        act: "paused",
      })
    ).status,
  ).toBe(303);
});

test("linking is not turned on without rules over rules that were saved meanwhile", async () => {
  const { owner, pid } = await enterDashboard(server, ada);
  dataOf(await owner.send("DELETE /dashboard/api/roles", { body: { pid, guildId: guild } }));
  const address = `/dashboard/communities/${pid}/roles`;
  const opened = await owner.browser.get(address);
  dataOf(await putPlan(owner, { pid, rules }));
  const late = await owner.browser.post(address, { ...formOf(opened), act: "linking" });
  expect(late.text).toContain("Somebody else has changed these rules since you opened the page.");
  expect(await planOf(owner, pid)).toMatchObject({ rules: [{ roleId }] });
});

test("who compares rules is told when somebody else has compared others since, before these are turned on", async () => {
  const { owner, browser, pid } = await enterDashboard(server, ada);
  const address = `/dashboard/communities/${pid}/roles`;
  dataOf(await putPlan(owner, { pid, rules: [], state: "paused" }));
  const typed = { ...formOf(await browser.get(address)), rows: "0", act: "on" };
  const compare = async (nickname: string) =>
    (await browser.post(address, { ...typed, nickname })).headers.location ?? "";
  const own = await compare("{game.username}");
  const shown = await browser.get(own);
  expect(shown.text).not.toContain("Somebody has compared other rules since you did");
  const others = await compare("{chat.username}");
  const late = await browser.post(`${address}/preview`, { ...formOf(shown), act: "confirm" });
  for (const location of [own, late.headers.location ?? ""])
    expect((await browser.get(location)).text).toContain("Somebody has compared other rules since you did");
  expect(await planOf(owner, pid)).toMatchObject({ nickname: null, status: { state: "paused" } });
  const told = await browser.get(others);
  expect(told.text).not.toContain("Somebody has compared other rules since you did");
  expect((await browser.post(`${address}/preview`, { ...formOf(told), act: "confirm" })).status).toBe(303);
  expect(await planOf(owner, pid)).toMatchObject({ nickname: "{chat.username}", status: { state: "on" } });
});
