/** What the dashboard asks or says before an act that is hard to take back. */
import { beforeAll, expect, test } from "vitest";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, titleOf, wordsOf } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { enterDashboard, type Owner, pidOf, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, ben, cyd, mod, eve] = ["100001", "100002", "100003", "100004", "100005"];
const [moved, unasked, alsoUnasked] = ["100008", "100009", "100010"];
const nameless = "999999";
const [log, hall] = ["70", "71"];

const channels = [
  { id: log, name: "mod-log", isPublic: false },
  { id: hall, name: "hall" },
];

const server = useSiteServer({}, (fixture) => ({
  ...clubOf(ada, { team: { [cyd]: "admin", [mod]: "moderator", [nameless]: "admin" }, channels })(fixture),
  links: [
    { account: "club", scope: "guild", guildId: guild, chatId: ben, gameId: "2" },
    { account: "club", scope: "guild", guildId: guild, chatId: unasked, gameId: "12" },
    { account: "club", scope: "guild", guildId: guild, chatId: alsoUnasked, gameId: "13" },
    { account: "club", scope: "global", chatId: moved, gameId: "7" },
  ],
}));
const rules = [{ roleId: verified.id, when: { is: "linked" } }];
server.fixtures.plan({ account: "club", guildId: guild, rules });
server.fixtures.plan({ account: "club", guildId: botlessGuild });

let owner: Owner;
let pid: string;
let shared: string;
let botless: string;
beforeAll(async () => {
  ({ owner, pid, global: shared } = await enterDashboard(server, ada, guild));
  botless = await pidOf(owner, botlessGuild);
});

const postTo = async (browser: FlowBrowser, path: string, fields: Readonly<Record<string, string>>) => {
  const { csrf = "" } = formOf(await browser.get("/dashboard/account"));
  return browser.post(`/dashboard/${path}`, { csrf, ...fields });
};

const hiddenIn = ({ text }: Answer): string => {
  const form = text.slice(text.lastIndexOf("<form"));
  return new URLSearchParams(
    [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  ).toString();
};

const link = (browser: FlowBrowser, fields: Readonly<Record<string, string>>) =>
  postTo(browser, "links/link", { pid, of: "user", ...fields });

test("before users are unlinked, the page says in which communities role and nickname go", async () => {
  const { browser } = owner;
  const asking = async (path: string) => wordsOf(await browser.get(`/dashboard/links/${path}`));
  for (const path of [`unlink?pid=${pid}&chatId=${ben}`, `unlink-all?chatId=${ben}`])
    await expect
      .poll(() => asking(path), { timeout: 20_000 })
      .toMatch(/In Rook & Bishop, .*\(100002\) loses Verified\./);
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: cyd, gameId: "9" } });
  expect(await asking(`unlink?pid=${pid}&chatId=${ben}&chatId=${cyd}`)).toContain(
    "In Rook & Bishop, the bot takes back the roles and the nickname that it gave for the link, within seconds.",
  );
  await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: cyd } });
});

test("before a link goes that cannot be put back beside another user's, the page says so", async () => {
  const { browser } = owner;
  const second = { pid, chatId: cyd, gameId: "2", reason: "Sister" };
  expect((await owner.send("PUT /dashboard/api/links", { body: second })).status).toBe(200);
  const allow = (oneChatUser: boolean) =>
    owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { oneChatUser } });
  const asking = async (path: string) => wordsOf(await browser.get(`/dashboard/${path}`));
  const questions = (chatId: string) => [
    `links/unlink?pid=${pid}&chatId=${chatId}`,
    `links/unlink-all?chatId=${chatId}`,
    `links/block?pid=${pid}&chatId=${chatId}`,
  ];
  const told =
    "this community allows one: while one of them is linked, the links of the others can’t be put back.";
  for (const path of questions(ben)) expect(await asking(path)).not.toContain(told);
  expect((await allow(true)).status).toBe(200);
  for (const path of questions(ben)) expect(await asking(path)).toContain(told);
  for (const path of questions(unasked)) expect(await asking(path)).not.toContain(told);
  const listed = async (listKind: string, users: string) =>
    wordsOf(await postTo(browser, "links/block-list", { pid, listKind, users }));
  expect(await listed("chat", ben)).toContain(told);
  expect(await listed("game", "2\n12")).toContain(told);
  expect(await listed("chat", unasked)).not.toContain(told);
  const { csrf = "" } = formOf(await browser.get("/dashboard/account"));
  const file = new FormData();
  for (const field of Object.entries({ csrf, pid })) file.append(...field);
  file.append("file", new File([`chatId,gameId\n${ben},\n`], "blocks.csv", { type: "text/csv" }));
  expect(wordsOf(await browser.post("/dashboard/links/blocks/import", file))).toContain(told);
  await allow(false);
  await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: cyd } });
});

test("rules that have changed since the page was opened are deleted only after another look", async () => {
  const { browser } = await signInOwner(server, ada);
  const path = `/dashboard/communities/${shared}/roles?guildId=${guild}`;
  const store = (nickname: string) => putPlan(owner, { pid: shared, nickname, state: "paused" });
  const remove = (page: Answer) => browser.post(path, `${hiddenIn(page)}&act=delete`);
  expect((await store("{game.username}")).status).toBe(200);
  const opened = await browser.get(path);
  expect((await store("{chat.username}")).status).toBe(200);
  const refused = await remove(opened);
  expect([refused.status, wordsOf(refused)]).toEqual([
    409,
    expect.stringContaining("Nothing was deleted: these rules have changed since you opened the page."),
  ]);
  // A browser may send the form twice.
  for (const _ of [1, 2]) expect((await remove(refused)).headers.location).toContain("done=rolesDeleted");
});

test("before an import is undone, only members who are still there count as losing roles", async () => {
  const { browser } = owner;
  const { csrf = "" } = formOf(await browser.get("/dashboard/imports"));
  const rows = "chatId,gameId\n100011,4\n100012,4\n";
  const preview = locationOf(await uploadLinks(browser, { csrf, pid, onConflict: "newest" }, rows));
  expect((await browser.post(`${preview}/start`, { csrf })).status).toBe(303);
  const told = async () => wordsOf(await browser.get(`${preview}/undo`));
  const tells = (words: string) => expect.poll(told, { timeout: 20_000, interval: 200 }).toContain(words);
  await tells("2 of these members lose roles in Rook & Bishop.");
  const leaves = new URLSearchParams({ as: "100012", membership: "leave" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  await server.platform.send(`POST /chat/guilds/${guild}`, { headers, body: leaves });
  await tells("1 of these members loses roles in Rook & Bishop.");
  await server.platform.fail({ platform: "chat", mode: "slow", delayMs: 1_500, under: "/chat/api/guilds" });
  await tells("The members of Rook & Bishop are being read");
  expect(await told()).not.toContain("these members lose");
  await server.platform.recover();
  await tells("1 of these members loses roles in Rook & Bishop.");
});

test("who links themself by hand has to say why, and the audit log and the log channel tell it", async () => {
  expect((await putPlan(owner, { pid, logChannelId: log })).status).toBe(200);
  const moderator = await server.signIn(mod);
  const asked = await link(moderator, { chat: mod, game: "4" });
  expect([titleOf(asked.text), wordsOf(asked)]).toEqual([
    "Link these accounts? – accountlink",
    expect.stringContaining("You link yourself."),
  ]);
  const refused = await link(moderator, { chat: mod, game: "4", confirm: "1" });
  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    expect.stringContaining("Say why you link these accounts."),
  ]);
  const done = await link(moderator, { chat: mod, game: "4", confirm: "1", reason: "Lost my sign-in" });
  expect(done.headers.location).toContain("done=linked");
  expect(wordsOf(await owner.browser.get("/dashboard/audit"))).toContain("Lost my sign-in");
  await expect
    .poll(async () => wordsOf(await server.platform.send(`GET /chat/guilds/${guild}`)), { interval: 200 })
    .toMatch(/was linked to Player 4 .* by @Nick\s*\. Reason: “Lost my sign-in”/);
});

test("a game account that somebody else has proven is taken by hand only with a reason", async () => {
  const flow = server.newBrowser();
  const page = await flow.walk(`?pid=${pid}&guildId=${guild}`, eve, "5");
  expect((await flow.post("/verify/confirm", formOf(page))).status).toBe(200);
  const moderator = await server.signIn(mod);
  const taken = await link(moderator, { chat: "100006", game: "5", confirm: "1" });
  expect([taken.status, wordsOf(taken)]).toEqual([
    400,
    expect.stringContaining("Another user has proven that this game account is theirs"),
  ]);
  const replaced = await link(moderator, { chat: eve, game: "6" });
  expect(wordsOf(replaced)).toContain("The user has proven that the other game account is theirs.");
  // Whatever was proven, the new link is not.
  expect(wordsOf(replaced)).toContain("A link by hand has no proof.");
  // A link that nobody has proven needs none.
  const unproven = await link(moderator, { chat: "100007", game: "2", confirm: "1" });
  expect(unproven.headers.location).toContain("done=linked");
});

test("who confirms a question about a link that is another one by now is asked again", async () => {
  const { browser } = owner;
  const chatId = moved;
  const relink = (gameId: string) =>
    owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId, reason: "Moved" } });
  const [asking, several] = [`chatId=${chatId}`, `chatId=${chatId}&chatId=${ben}`];
  for (const [path, ask, before] of [
    ["links/link", () => link(browser, { chat: chatId, game: "8" }), "replaces the link to Player 1 "],
    ["links/unlink", () => browser.get(`/dashboard/links/unlink?pid=${pid}&${asking}`), "from Player 1 "],
    ["links/unlink", () => browser.get(`/dashboard/links/unlink?pid=${pid}&${several}`), "from Player 1 "],
    ["links/unlink-all", () => browser.get(`/dashboard/links/unlink-all?${asking}`), "Player 1 "],
  ] as const) {
    await relink("1");
    const asked = await ask();
    expect(wordsOf(asked)).toContain(before);
    await relink("7");
    const sent = hiddenIn(asked);
    const again = await browser.post(`/dashboard/${path}`, sent);
    expect([again.status, wordsOf(again)]).toEqual([
      409,
      expect.stringMatching(/a link has changed since you opened the page.*Player 7/),
    ]);
    expect((await browser.post(`/dashboard/${path}`, hiddenIn(again))).status).toBe(303);
  }
  // A user of many lists has a long form.
  const long = { chatId: ben, seen: "x".repeat(20_000) };
  expect((await postTo(browser, "links/unlink-all", long)).status).toBe(303);
});

test("users are unlinked without asking the platforms for their names", async () => {
  await server.platform.send("DELETE /requests");
  for (const [path, fields] of [
    ["links/unlink", { pid, chat: unasked }],
    ["links/unlink-all", { chatId: alsoUnasked }],
  ] as const) {
    const removed = await postTo(owner.browser, path, fields);
    expect(removed.headers.location).toContain("done=unlinked");
    // A button that is pressed twice tells what the first press did.
    const again = await postTo(owner.browser, path, fields);
    expect(again.headers.location).toContain("done=unlinked");
  }
  expect((await server.platform.send("GET /requests")).text).not.toContain("/users/");
});

test("a channel that every member reads becomes the log only after a question", async () => {
  const { browser } = owner;
  const save = (fields: Readonly<Record<string, string>>) =>
    postTo(browser, `communities/${pid}/channels`, { guildId: guild, act: "log", ...fields });
  const asked = await save({ logChannelId: hall });
  expect([titleOf(asked.text), wordsOf(asked)]).toEqual([
    "Post the log in #hall? – accountlink",
    expect.stringContaining("Every member reads #hall."),
  ]);
  const confirmed = await save(formOf(asked));
  expect(confirmed.headers.location).toContain("done=logOn");
  // It is asked once, and not at all for a channel of the team.
  for (const logChannelId of [hall, log]) {
    expect((await save({ logChannelId })).headers.location).toContain("done=logOn");
  }
});

test("a refused channel of the log leaves what the other forms of the page have stored", async () => {
  const { browser } = owner;
  const path = `communities/${pid}/channels`;
  const days = { guildId: guild, act: "reminders", remindAfterDays: "7", confirm: "yes" };
  expect((await postTo(browser, path, days)).headers.location).toContain("done=remindersOn");
  const refused = await postTo(browser, path, { guildId: guild, act: "log", logChannelId: "99" });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/name="remindAfterDays"[^>]* value="7"/);
  await postTo(browser, path, { ...days, remindAfterDays: "" });
});

test("a refused form of a shared list has an address that leads back to its community", async () => {
  const { browser } = owner;
  const page = await browser.get(`/dashboard/communities/${shared}/channels?guildId=${guild}`);
  const [, action = ""] = /<form method="post" action="([^"]*\/channels[^"]*)"/.exec(page.text) ?? [];
  const refused = await browser.post(action, { ...formOf(page), act: "log", logChannelId: "99" });
  expect([refused.status, titleOf(refused.text)]).toEqual([
    400,
    "Log and panel of Rook &amp; Bishop – accountlink",
  ]);
  expect(titleOf((await browser.get(action)).text)).toBe(titleOf(refused.text));
});

test("somebody becomes an owner only after a question that says what owners may do", async () => {
  const { browser } = owner;
  const asked = await postTo(browser, "team/role", { chatId: cyd, [`role-${cyd}`]: "owner" });
  expect([titleOf(asked.text), wordsOf(asked)]).toEqual([
    "Make User 3 an owner? – accountlink",
    expect.stringContaining(
      "An owner can change or remove every member of the team, you and the founder included",
    ),
  ]);
  const inGerman = { chatId: nameless, [`role-${nameless}`]: "owner" };
  const question = await postTo(browser, "team/role?lang=de", inGerman);
  expect(titleOf(question.text)).toBe("Benutzer 999999 zum Besitzer machen? – accountlink");
  await browser.get("/dashboard?lang=en");
  const team = wordsOf(await browser.get("/dashboard/team"));
  expect(team).toContain("100003 Admin since");
  expect(team).toContain("Finds, links, unlinks and blocks users");
  const invited = await postTo(browser, "team/add", { who: "100008", role: "owner" });
  expect(wordsOf(invited)).toContain("delete the account with all its data");
  const confirmed = await browser.post("/dashboard/team/role", {
    ...formOf(asked),
    [`role-${cyd}`]: "owner",
  });
  expect(confirmed.headers.location).toContain("done=roleChanged");
});

test("an account is called by its owner's name also after the founder has stepped down", async () => {
  const founder = await signInOwner(server, "100021");
  await founder.send("POST /dashboard/api/members", { body: { chatId: "100022", role: "owner" } });
  const other = await signInOwner(server, "100022");
  await other.send("POST /dashboard/api/session/account", { body: { account: "chat:100021" } });
  const roleOf = (role: string) => other.send("PATCH /dashboard/api/members/100021", { body: { role } });
  expect((await roleOf("admin")).status).toBe(200);
  expect((await roleOf("owner")).status).toBe(200);
  for (const { browser } of [founder, other]) {
    const { text } = await browser.get("/dashboard/account");
    expect(text).toMatch(/User 2[12]’s account/);
    expect(text).not.toContain("chat:100021</");
  }
});

test("members of a community that lost the bot read who can help, and owners why the rules are off", async () => {
  const browser = server.newBrowser();
  const page = () => browser.get(`/verify?pid=${botless}`);
  await expect.poll(async () => (await page()).status, { timeout: 10_000 }).toBe(404);
  expect(wordsOf(await page())).toContain("the bot is not in this one. Tell the community’s team.");
  const overview = wordsOf(await owner.browser.get("/dashboard"));
  expect(overview).toMatch(/This service paused the rules of .*, because the bot was removed\./);
  // What the overview names leads to what mends it.
  const refused = async (path: string) => wordsOf(await owner.browser.get(`/dashboard/${path}`));
  expect(await refused(`communities/${botless}/roles`)).toContain("The bot is not in this community. Add it");
  expect(await refused(`communities/${botless}/channels`)).toContain(
    "The bot is not in this community. Add it",
  );
  expect(await refused(`links?pid=${botless}`)).toContain("is closed while the bot is not in it");
});

test("a search says that more users without a link were found than it shows", async () => {
  const page = await owner.browser.get(`/dashboard/links?pid=${pid}&q=user_`);
  expect(wordsOf(page)).toContain("More than 10 were found. Type more of the name.");
});

test("the page of communities says what an own list is", async () => {
  const page = await owner.browser.get("/dashboard/communities");
  expect(wordsOf(page)).toContain("Its own list: who links here is linked in this community alone.");
});

test("the page of a community and that of its panel show one verify link", async () => {
  const address = `/verify?pid=${pid}&amp;guildId=${guild}`;
  for (const path of ["", "/channels"]) {
    const { text } = await owner.browser.get(`/dashboard/communities/${pid}${path}`);
    expect(text).toContain(address);
    expect(text).not.toContain(`/verify?pid=${pid}<`);
  }
});

test("before the data of a list is deleted, its links can be downloaded", async () => {
  const { text } = await owner.browser.get(`/dashboard/communities/${pid}/delete`);
  expect(text).toContain(`href="/dashboard/links.csv?pid=${pid}"`);
});

test("who keeps an account does not read what the community says to those who linked one", async () => {
  const body = { doneText: "Here are 100 coins." };
  expect((await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body })).status).toBe(200);
  const browser = server.newBrowser();
  const first = await browser.walk(`?pid=${pid}&guildId=${guild}`, "100009", "8");
  const linked = await browser.post("/verify/confirm", formOf(first));
  expect(wordsOf(linked)).toContain("Here are 100 coins.");
  const again = await browser.walk(`?pid=${pid}&guildId=${guild}`, "100009", "9");
  const kept = await browser.post("/verify/confirm", { ...formOf(again), keep: "1" });
  expect([kept.status, wordsOf(kept)]).toEqual([200, expect.not.stringContaining("coins")]);
});
