/** The pages of the dashboard, in each of their states. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { paths } from "@accountlink/pages/dashboard";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { textOf } from "../support/http.ts";
import { english } from "../support/languages.ts";
import { hostile, newKey, ownGuild, shows, tokenOn, useDashboard } from "./dashboard_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

const { open, visit, send, url } = useDashboard();

it("a new owner sees where to start", async () => {
  const page = await open("/dashboard", /Newcomer/);
  await expectUsable(page, "Overview", "dashboard-overview-empty");
  for (const [title, path] of [
    ["Keys", paths.keys],
    ["Usage", paths.usage],
    ["Audit log", paths.audit],
    ["Events", paths.events],
  ] as const) {
    await page.goto(path);
    await expectUsable(page, title, `dashboard-${title.split(" ")[0]?.toLowerCase()}-empty`);
  }
});

it("the dashboard adds the bot, and then shows this step as done", async () => {
  const page = await open("/dashboard", /Newcomer/);
  expect(page.words).toContain("The bot is in none of the communities that you manage.");
  await page.press("Add the bot");
  await expectUsable(page, "Add the bot", "add-bot");
  expect(await page.press(/Without the bot/)).toContain("It is now in Without the bot.");
  expect(await page.press("Back to the dashboard")).toContain("Add the bot to your community: done");
  expect(page.words).toContain("The bot is in Without the bot.");
  await page.goto(paths.newKey);
  expect(page.value("Community")).toBe("700000000000000003");
});

it("the key form shows only the fields of the chosen scope, and keeps typed values if a field is invalid", async () => {
  const real = await visit(paths.newKey, /Ada\b/, desktop);
  const community = real.getByLabel("Community", { exact: true });
  await community.selectOption(ownGuild);
  await real.getByLabel("Shared list").check();
  expect(await community.isVisible()).toBe(false);
  await real.getByLabel("One community’s own list").check();
  expect(await real.getByLabel("Sites to continue to").isVisible()).toBe(true);
  const page = await open(paths.newKey, /Ada\b/);
  const typed = { Name: "Kept", "Allowed addresses": "not an address" };
  await page.press("Create the key", { ...typed, "Shared list": true });
  await expectUsable(page, "Create a key", "dashboard-key-refused");
  for (const [name, value] of Object.entries(typed)) expect(page.value(name)).toBe(value);
  expect(page.words).toMatch(/Allowed addresses: “not an address” is neither/);
});

it("a button that is pressed twice sends its form once", async () => {
  const page = await visit(paths.newKey, /Ada\b/, desktop);
  await page.getByLabel("Shared list").check();
  await page.getByLabel("Name").fill("Pressed twice");
  const pressTwice = `(() => {
    const prevented = [];
    addEventListener("submit", (event) => {
      prevented.push(event.defaultPrevented);
      event.preventDefault();
    });
    const button = document.querySelector("form.panel button");
    button.click();
    button.click();
    return prevented;
  })()`;
  expect(await page.evaluate(pressTwice)).toEqual([false, true]);
});

it("a key is updated, rotated, disabled and revoked", async () => {
  const page = await open("/dashboard", /Ada\b/);
  const expectPage = (title: string, picture: string) =>
    expectUsable(page, title, `dashboard-key-${picture}`);
  const statusWith = async (key: string) => (await send("GET /v2/chat?chatId=100001", { key })).status;
  const token = await newKey(page, "Changing");
  expect(await statusWith(token)).toBe(404);
  await expectPage("Your new key", "issued");
  await page.press("I have copied it");
  const rules = { "Denied addresses": "192.0.2.0/24\n2001:db8::/32", Expires: "2099-12-31" };
  await page.press("Save the settings", { Name: "Changed", "May look up links": true, ...rules });
  await expectPage("Changed", "updated");
  expect(page.words).toContain("settings of the key were changed");
  for (const [name, value] of Object.entries(rules)) expect(page.value(name)).toBe(value);
  const late = await open(page.path, /Ada\b/);
  await late.press("Rotate the key");
  await page.press("Rotate the key");
  expect(page.words).toContain("Current secret: the key was rotated after you opened the page");
  expect(page.words).toContain("The earlier secret, which is still accepted, is refused at once.");
  expect(await statusWith(token)).toBe(404);
  await page.press("Rotate the key", { "Current secret": "0" });
  await expectPage("The new secret of your key", "rotated");
  expect(tokenOn(page)).not.toBe(token);
  expect(await statusWith(token)).toBe(401);
  await page.press("I have copied it");
  await page.press("Disable the key");
  await expectPage("Changed", "disabled");
  expect(await page.press("Enable the key")).toContain("The key is active again");
  const id = page.path.split("/")[3] ?? "";
  expect(await page.press("Revoke the key", { "to confirm": id })).toContain("The key is revoked.");
  await expectPage("Changed", "revoked");
  await page.press("Usage of this key");
  expect(page.all("option", "Changed")).toHaveLength(1);
  expect(page.value("Key")).toBe(id);
  await page.goto(paths.keys);
  await expectPage("Keys", "list");
  await page.press("Sign out");
  expect(page.title).toBe("You are signed out");
});

it("a form that was open while others were saved changes only what its reader changed", async () => {
  const [first, second] = [await open("/dashboard", /Ada\b/), await open("/dashboard", /Ada\b/)];
  await newKey(first, "Shared");
  await first.press("I have copied it");
  const key = first.path;
  await first.goto(paths.newWebhook);
  await first.press("Create the webhook", { "Shared list": true, URL: "http://127.0.0.1:9/" });
  await first.press("I have copied it");
  const webhook = first.path;
  await first.goto(paths.communities);
  await first.press(/^Shared list$/);
  const [done, age] = ["Message at the end", "Youngest account on the chat platform"];
  const oneMember = "An account on the game platform belongs to one member.";
  for (const [path, button, kept, refused, changed] of [
    [
      key,
      "Save the settings",
      { Denied: "192.0.2.1", Expires: "2099-12-31" },
      { Name: " " },
      { Name: "Ours" },
    ],
    [webhook, "Save", { "A link was removed": true }, { URL: "x" }, { URL: "http://127.0.0.1:8/" }],
    [
      first.path,
      "Save",
      { "Help page": "https://a.example" },
      { [done]: "x".repeat(301) },
      { [done]: "Ours" },
    ],
    [first.path, "Save", { [oneMember]: true }, { [age]: "x" }, { [age]: "9" }],
  ] as const) {
    const beside = new RegExp(Object.keys(changed).join());
    for (const page of [first, second]) await page.goto(path);
    await first.press(button, kept, beside);
    await second.press(button, refused, beside);
    expect(second.answer.status).toBe(400);
    await second.press(button, changed, beside);
    for (const [name, value] of Object.entries({ ...kept, ...changed })) {
      const shown = second.value(name);
      expect(value === true ? shown !== undefined : shown).toBe(value);
    }
  }
});

it("the overview counts requests live", async () => {
  const key = await newKey(await open("/dashboard", /Ada\b/), "Live");
  const page = await visit("/dashboard", /Ada\b/, desktop);
  await send("GET /v2/chat?chatId=100001", { key });
  const card = page.getByRole("listitem").filter({ hasText: "Live" });
  await expect.poll(() => card.textContent(), { interval: 500 }).toMatch("Requests: 1 of 4");
});

it("usage and audit log can be viewed and downloaded, and keys are searched and sorted", async () => {
  const page = await open("/dashboard", /Newcomer/);
  const key = await newKey(page, "=Counted");
  for (const chatId of ["100001", "100002", "100003", "x", "100001"])
    await send(`GET /v2/chat?chatId=${chatId}`, { key });
  await page.goto("/dashboard");
  await shows(page, "Requests: 4 of 4", { interval: 250 });
  await expectUsable(page, "Overview", "dashboard-overview");
  await page.goto(`${paths.usage}?days=7`);
  await expectUsable(page, "Usage", "dashboard-usage");
  const contrast = await visit(paths.usage, /Newcomer/, { ...desktop, forcedColors: "active" });
  const swatches = await contrast.evaluate<ReadonlyArray<string>>(
    "[...document.querySelectorAll('.legend li')].map((entry) => getComputedStyle(entry, '::before').backgroundColor)",
  );
  expect(new Set(swatches).size).toBe(3);
  await page.goto(`${paths.usageFile}?days=7`);
  const usage = page.answer;
  expect(usage.text).toMatch(
    /^day,keyId,keyName,group,served,refused,errors\r\n[^]*,'=Counted,lookup,3,1,1\r\n/,
  );
  expect(usage.text).not.toContain(",0,0,0");
  expect(usage.headers["content-disposition"]).toBe('attachment; filename="usage-7-days.csv"');
  const spare = ["Second", "Third", "Fourth", "Fifth", "Sixth"].map((name) => `${name} spare`);
  for (const name of spare) await newKey(page, name);
  expect(await page.goto("/dashboard")).toMatch(/The busiest 5 of \d+ active keys\./);
  expect(page.all("h3")[0]).toBe("=Counted");
  await page.goto(paths.keys);
  // If a UTC day has ended since the requests, they count for the second to last day.
  expect(page.answer.text).toMatch(/By day, oldest first: (?:(?:0; ){6}5|(?:0; ){5}5; 0)"/);
  await expectUsable(page, "Keys", "dashboard-keys-table");
  await page.press("Search", { Find: "spare", Sort: "By name" }, "Sort");
  expect(page.all("th", "spare").map((name) => name.replace(/ Active.*/, ""))).toEqual(spare.toSorted());
  await page.goto(`${paths.audit}?chatId=nobody`);
  expect(page.words).toContain("Nobody was found with this ID or user name.");
  await expectUsable(page, "Audit log", "dashboard-audit-refused");
  expect(await page.goto(`${paths.audit}?action=webhook.deleted`)).toContain("Nothing in the log matches.");
  await page.goto(`${paths.audit}?action=key.created`);
  await expectUsable(page, "Audit log", "dashboard-audit");
  await page.goto(paths.auditFile);
  expect(page.answer.text).toMatch(/^at,action,actorType,actorId,member,pid,requestId,details\r\n/);
});

it("times follow the page's language and the reader's zone, and titles keep UTC", async () => {
  const look = { ...desktop, locale: "de-DE", timezoneId: "Asia/Tokyo" };
  await newKey(await open("/dashboard", /Ada\b/), "Abroad");
  const page = await visit(paths.audit, /Ada\b/, look);
  const time = page.locator("main time").first();
  const utc = Date.parse((await time.getAttribute("datetime")) ?? "");
  const local = { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Tokyo" } as const;
  const shownIn = (locale: string) => new Intl.DateTimeFormat(locale, local).format(utc);
  expect(await time.textContent()).toBe(shownIn("de"));
  expect(await time.getAttribute("title")).toMatch(/ UTC$/);
});

it("a leaked key is reported on the overview", async () => {
  const page = await open("/dashboard", /Ada\b/);
  const key = await newKey(page, "Leaked");
  expect((await send("POST /v2/keys/leaked", { body: { key } })).status).toBe(200);
  expect(await page.goto("/dashboard")).toContain("Leaked was reported as leaked on");
  await expectUsable(page, "Overview", "dashboard-overview-leak");
});

const runProgram = async (source: string, key: string) => {
  const env = { ...process.env, ACCOUNTLINK_KEY: key };
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", source], {
    cwd: root,
    env,
  });
  return stdout;
};

it("the try page shows the request and the answer, but not the key", async () => {
  const page = await open(paths.tryLookup, /Ada\b/);
  await expectUsable(page, "Try it", "dashboard-try");
  const key = await newKey(page, "Tried");
  const look = async (name: string, wanted = key) => {
    await page.goto(paths.tryLookup);
    await page.press("Send the request", { "API key": wanted, ID: "100001" });
    await expectUsable(page, "Try it", `dashboard-try-${name}`);
    return page.words;
  };
  const words = await look("answer");
  expect(words).toContain("LINK_NOT_FOUND");
  expect(words).toContain(`${url()}/v2/chat?chatId=100001`);
  expect(page.answer.text).not.toContain(key);
  expect(await runProgram(page.textOf("client"), key)).toBe("null\n");
  await page.goto(paths.keys);
  await page.press("Tried");
  await page.press("Save the settings", { "Denied addresses": "0.0.0.0/1\n128.0.0.0/1" });
  expect(await look("denied")).toContain("ip_not_allowed");
  expect(await look("refused", "alk_wrong")).toContain("Expected a whole key");
});

/** The refusals with the longest texts and all kinds of links. Only the proof opens every refusal in a browser. */
const opened: ReadonlyArray<string> = isProof ? Object.keys(refusals) : ["completed_removed", "misplaced"];

it("the preview shows each page as users see it, and refusals fit the window and are accessible", async () => {
  const page = await open(`${paths.preview}?state=choice`, /Ada\b/);
  expect(page.shown).toContain("Which account is yours?");
  await expectUsable(page, "Preview", "dashboard-preview");
  for (const name of Object.keys(refusals)) {
    await page.goto(`${paths.preview}?state=refused-${name}`);
    const title = english.text(`refusal.${name as RefusalName}.title`, { platform: "the chat platform" });
    expect(page.shown).toContain(title);
    if (!opened.includes(name)) continue;
    const { url: address, answer } = page;
    const refused = { url: address, answer: { ...answer, text: page.shown } };
    await expectUsable(refused, title, `refused-${name}`);
  }
});

it("the events page lists events as sentences, newest first, and filters by user", async () => {
  const page = await open("/dashboard", /Linus/);
  const key = await newKey(page, "Walk bot");
  const write = async (line: `${string} ${string}`, body: object) =>
    expect((await send(line, { key, body })).status).toBeLessThan(300);
  await write("PATCH /v2/game", { chatId: "100001", gameId: "1" });
  await write("PATCH /v2/game", { chatId: "100001", gameId: "2" });
  await write("PATCH /v2/chat", { oldChatId: "100001", newChatId: "100002" });
  await write("DELETE /v2/game", { chatId: "100002" });
  const { body } = await send("POST /v2/sessions", { key, body: { clientId: hostile } });
  await write(`DELETE /v2/sessions/${textOf(body.data?.["sid"])}`, {});

  await page.goto(paths.events);
  await expectUsable(page, "Events", "dashboard-events");
  const [unlinked, moved] = [
    `${hostile} (100002) was unlinked from Player 2 (2), by a key`,
    `The link to Player 2 (2) went from Ada (100001) to ${hostile} (100002), by a key`,
  ];
  const sentences = () => page.all("li", /^The verification|linked|went from/);
  expect(sentences()).toEqual(
    [
      `The verification of ${hostile} was cancelled`,
      unlinked,
      moved,
      "Ada (100001) was linked to Player 2 (2), in place of Player 1 (1), by a key",
      "Ada (100001) was linked to Player 1 (1), by a key",
    ].map((sentence) => expect.stringContaining(sentence) as string),
  );
  await page.press("Show", { "About the user": "100002" });
  expect(sentences()).toEqual([unlinked, moved].map((each) => expect.stringContaining(each) as string));
  await page.press("Show", { "About the user": "nobody at all" });
  await expectUsable(page, "Events", "dashboard-events-nobody");
});

it("the account page says what Premium adds, lists sign-ins, and ends one or all of them", async () => {
  const [page, other] = [await open(paths.account, /Ada\b/), await open("/dashboard", /Ada\b/)];
  await page.reload();
  await expectUsable(page, "Account", "dashboard-account");
  expect(page.words).toMatch(/Your plan is Free .*Links 100,000 5,000,000 /);
  expect(page.all("tr", "Alts").join()).toMatch(/no yes/);
  expect(page.words).toContain("To get Premium, ask whoever runs this service.");
  const [, described = ""] = /aria-describedby="([^"]*)">End it</.exec(page.answer.text) ?? [];
  expect(page.textOf(described)).toMatch(/^Unknown browser\s+Since .* until /);
  expect(await page.press("End it")).toContain("The sign-in was ended");
  await page.press("Sign out everywhere");
  await expectUsable(page, "You are signed out", "dashboard-signed-out");
  for (const left of [page, other]) {
    await left.goto("/dashboard");
    expect(left.path).toBe("/chat/oauth/authorize");
  }
});

it("an unknown page says so, and that another account may have it", async () => {
  const page = await open("/dashboard/keys/Aa0Bb1Cc2Dd3", /Ada\b/);
  await expectUsable(page, "There is no such page", "dashboard-refused-unknown");
  expect(page.words).toContain(
    "it belongs to another account, or your team has not given you this community",
  );
  await page.press("Overview");
});
