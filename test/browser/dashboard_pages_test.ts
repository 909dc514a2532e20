/** The pages of the dashboard in a real browser, in each of their states. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { paths } from "@accountlink/pages/dashboard";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { textOf } from "../support/http.ts";
import { english } from "../support/languages.ts";
import { recordOf } from "./browser.ts";
import { createKey, hostile, openKey, ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

const { visit, send, url } = useDashboard();

it("a new owner sees where to start", async () => {
  const page = await visit("/dashboard", /Newcomer/, phone);
  await expectUsable(page, "Overview", "dashboard-overview-empty");
  for (const [title, path] of [
    ["Keys", paths.keys],
    ["Usage", paths.usage],
    ["Audit log", paths.audit],
    ["Events", paths.events],
  ] as const) {
    await page.goto(`${url()}${path}`);
    await expectUsable(page, title, `dashboard-${title.split(" ")[0]?.toLowerCase()}-empty`);
  }
});

it("the key form keeps typed values if a field is invalid", async () => {
  const page = await visit(paths.newKey, /Ada\b/, phone);
  await page.getByLabel("Name", { exact: true }).fill("Kept");
  const community = page.getByLabel("Community", { exact: true });
  await community.selectOption(ownGuild);
  await page.getByLabel("Shared list").check();
  expect(await community.isVisible()).toBe(false);
  await page.getByLabel("One community’s own list").check();
  expect(await page.getByLabel("Sites to continue to").isVisible()).toBe(true);
  await page.getByText("Restrictions").click();
  await page.getByLabel("Allowed addresses").fill("not an address");
  await press(page, "Create the key");
  await expectUsable(page, "Create a key", "dashboard-key-refused");
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Kept");
  expect(await page.getByLabel("Allowed addresses").inputValue()).toBe("not an address");
  expect(await page.getByRole("alert").textContent()).toMatch(
    /Allowed addresses: “not an address” is neither/,
  );
});

it("a key is updated, rotated, disabled and revoked", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  const expectPage = (title: string, picture: string) =>
    expectUsable(page, title, `dashboard-key-${picture}`);
  const statusWith = async (key: string) => (await send("GET /v2/chat?chatId=100001", { key })).status;
  await page.goto(`${url()}${paths.newKey}`);
  await page.getByLabel("Shared list").check();
  await page.getByLabel("Name", { exact: true }).fill("Changing");
  await press(page, "Create the key");
  const token = (await page.locator("#token").textContent()) ?? "";
  expect(await statusWith(token)).toBe(404);
  await expectPage("Your new key", "issued");
  await press(page, "I have copied it");
  await page.getByLabel("Name", { exact: true }).fill("Changed");
  await page.getByRole("radio", { name: /^May look up links/ }).check();
  await page.getByText("Restrictions").click();
  await page.getByLabel("Denied addresses").fill("192.0.2.0/24\n2001:db8::/32");
  await page.getByLabel("Expires").fill("2099-12-31");
  await press(page, "Save the rules");
  await expectPage("Changed", "updated");
  expect(await page.getByRole("status").textContent()).toMatch("rules of the key were changed");
  expect(await page.getByLabel("Denied addresses").inputValue()).toBe("192.0.2.0/24\n2001:db8::/32");
  expect(await page.getByLabel("Expires").inputValue()).toBe("2099-12-31");
  await page.getByLabel("Current secret").selectOption("0");
  await press(page, "Rotate the key");
  await expectPage("The new secret of your key", "rotated");
  expect(await page.locator("#token").textContent()).not.toBe(token);
  expect(await statusWith(token)).toBe(401);
  await press(page, "I have copied it");
  await press(page, "Disable the key");
  await expectPage("Changed", "disabled");
  await press(page, "Enable the key");
  await page.getByText("The key is active again").waitFor();
  const revoke = page.getByRole("button", { name: "Revoke the key" });
  await expect.poll(() => revoke.isDisabled()).toBe(true);
  await page.getByLabel(/^Type/).fill(new URL(page.url()).pathname.split("/")[3] ?? "");
  await revoke.click();
  await page.getByText("The key is revoked.").waitFor();
  await expectPage("Changed", "revoked");
  await press(page, "Usage of this key");
  await expect
    .poll(() => page.getByLabel("Key").locator("option:checked").textContent())
    .toContain("Changed");
  await page.goto(`${url()}${paths.keys}`);
  await expectPage("Keys", "list");
  await press(page, "Sign out");
  await expect.poll(() => page.title()).toBe("You are signed out");
  // Browsers log a console error for each refused form.
  expect(recordOf(page).complaints.filter((text) => !text.includes("status of 400"))).toEqual([]);
});

it("the overview counts requests live, and usage and audit log can be viewed and downloaded", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  const key = await createKey(page, "=Counted");
  await page.goto(`${url()}/dashboard`);
  for (const chatId of ["100001", "100002", "100003", "x", "100001"])
    await send(`GET /v2/chat?chatId=${chatId}`, { key });
  const card = page.getByRole("listitem").filter({ hasText: "=Counted" });
  await expect.poll(() => card.textContent()).toMatch("Requests: 4 of 4");
  await expectUsable(page, "Overview", "dashboard-overview");
  await page.goto(`${url()}${paths.usage}?days=7`);
  await expectUsable(page, "Usage", "dashboard-usage");
  const usage = await page.context().request.get(`${url()}${paths.usageFile}?days=7`);
  expect(await usage.text()).toMatch(
    /^day,keyId,keyName,group,served,refused,errors\r\n[^]*,'=Counted,lookup,3,1,1\r\n/,
  );
  expect(await usage.text()).not.toContain(",0,0,0");
  expect(usage.headers()["content-disposition"]).toBe('attachment; filename="usage-7-days.csv"');
  for (const name of ["Second", "Third", "Fourth", "Fifth", "Sixth"]) await createKey(page, `${name} spare`);
  await page.goto(`${url()}/dashboard`);
  await page.getByText(/^The busiest 5 of \d+ active keys\./).waitFor();
  expect(await page.getByRole("heading", { level: 3 }).first().textContent()).toBe("=Counted");
  await page.goto(`${url()}${paths.keys}`);
  const row = page.getByRole("row").filter({ hasText: "=Counted" });
  // If a UTC day has ended since the requests, they count for the second to last day.
  await row.getByRole("img", { name: /^By day, oldest first: (?:(?:0; ){6}5|(?:0; ){5}5; 0)$/ }).waitFor();
  await expectUsable(page, "Keys", "dashboard-keys-table");
  await page.getByLabel("Find").fill("spare");
  await page.getByLabel("Sort").selectOption("By name");
  await press(page, "Search");
  const names = page.getByRole("rowheader").getByRole("link");
  await expect
    .poll(() => names.allTextContents())
    .toEqual(["Fifth", "Fourth", "Second", "Sixth", "Third"].map((name) => `${name} spare`));
  await page.goto(`${url()}${paths.audit}?chatId=nobody`);
  await page.getByText("Nobody was found with this ID or user name.").waitFor();
  await expectUsable(page, "Audit log", "dashboard-audit-refused");
  await page.goto(`${url()}${paths.audit}?action=webhook.deleted`);
  await page.getByText("Nothing in the log matches.").waitFor();
  await page.goto(`${url()}${paths.audit}?action=key.created`);
  await expectUsable(page, "Audit log", "dashboard-audit");
  const audit = await page.context().request.get(`${url()}${paths.auditFile}`);
  expect(await audit.text()).toMatch(/^at,action,actorType,actorId,member,pid,requestId,details\r\n/);
});

it("numbers and times follow the reader's language and zone, and titles keep UTC", async () => {
  const look = { ...desktop, locale: "de-DE", timezoneId: "Asia/Tokyo" };
  const page = await visit("/dashboard", /Ada\b/, look);
  await createKey(page, "Abroad");
  await openKey(page, "Abroad");
  const time = page.getByRole("definition").locator("time").first();
  const utc = Date.parse((await time.getAttribute("datetime")) ?? "");
  const local = { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Tokyo" } as const;
  expect(await time.textContent()).toBe(new Intl.DateTimeFormat("de-DE", local).format(utc));
  expect(await time.getAttribute("title")).toMatch(/ UTC$/);
  await page.goto(`${url()}/dashboard`);
  await page.getByText("Verification requests: 0 of 2.000").first().waitFor();
});

it("a leaked key is reported on the overview", async () => {
  const page = await visit("/dashboard", /Ada\b/, phone);
  const key = await createKey(page, "Leaked");
  expect((await send("POST /v2/keys/leaked", { body: { key } })).status).toBe(200);
  await page.goto(`${url()}/dashboard`);
  await page.getByText(/^Leaked was reported as\s+leaked on/).waitFor();
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
  const page = await visit(paths.tryLookup, /Ada\b/, phone);
  await expectUsable(page, "Try it", "dashboard-try");
  const key = await createKey(page, "Tried");
  await page.goto(`${url()}${paths.tryLookup}`);
  await page.getByLabel("API key").fill(key);
  await page.getByLabel("ID", { exact: true }).fill("100001");
  await press(page, "Send the request");
  await expectUsable(page, "Try it", "dashboard-try-answer");
  expect(await page.locator("#answer").textContent()).toMatch("LINK_NOT_FOUND");
  expect(await page.locator("#curl").textContent()).toMatch(`${url()}/v2/chat?chatId=100001`);
  expect(await runProgram((await page.locator("#client").textContent()) ?? "", key)).toBe("null\n");
  expect(await page.content()).not.toContain(key);
  await openKey(page, "Tried");
  await page.getByText("Restrictions").click();
  await page.getByLabel("Denied addresses").fill("127.0.0.1");
  await press(page, "Save the rules");
  await page.goto(`${url()}${paths.tryLookup}`);
  await page.getByLabel("API key").fill(key);
  await page.getByLabel("ID", { exact: true }).fill("100001");
  await press(page, "Send the request");
  await page.locator("#answer").filter({ hasText: "ip_not_allowed" }).waitFor();
  await page.getByLabel("API key").fill("alk_wrong");
  await press(page, "Send the request");
  await expectUsable(page, "Try it", "dashboard-try-refused");
});

/** The refusals with the longest texts and all kinds of links. Only the proof opens every refusal in a browser. */
const opened: ReadonlyArray<string> = isProof ? Object.keys(refusals) : ["completed_removed", "misplaced"];

it("the preview shows each page as users see it, and refusals fit the window and are accessible", async () => {
  const page = await visit(`${paths.preview}?state=choice`, /Ada\b/, desktop);
  const shown = page.frameLocator("iframe");
  await shown.getByRole("heading", { level: 1, name: "Which account is yours?" }).waitFor();
  await expectUsable(page, "Preview", "dashboard-preview");
  for (const [name, { status }] of Object.entries(refusals)) {
    const preview = `${url()}${paths.preview}?state=refused-${name}`;
    const title = english.text(`refusal.${name as RefusalName}.title`, { platform: "the chat platform" });
    const answer = await page.context().request.get(preview);
    expect((await answer.text()).replaceAll(/&lt;(?=\/?h1)|&#x3c;(?=\/?h1)/g, "<")).toContain(title);
    if (!opened.includes(name)) continue;
    await page.goto(preview);
    const body = (await page.locator("#shown").getAttribute("srcdoc")) ?? "";
    const address = `${url()}/verify/${name}`;
    await page.route(address, (route) =>
      route.fulfill({ status, contentType: "text/html; charset=utf-8", body }),
    );
    await page.goto(address);
    await expectUsable(page, title, `refused-${name}`);
  }
});

it("the events page lists events as sentences, newest first, and filters by user", async () => {
  const page = await visit("/dashboard", /^A?\s*Ada\b/, desktop);
  const key = await createKey(page, "Walk bot");
  const write = async (line: `${string} ${string}`, body: object) =>
    expect((await send(line, { key, body })).status).toBeLessThan(300);
  await write("PATCH /v2/game", { chatId: "100001", gameId: "1" });
  await write("PATCH /v2/game", { chatId: "100001", gameId: "2" });
  await write("PATCH /v2/chat", { oldChatId: "100001", newChatId: "100002" });
  await write("DELETE /v2/game", { chatId: "100002" });
  const { body } = await send("POST /v2/sessions", { key, body: { clientId: hostile } });
  await write(`DELETE /v2/sessions/${textOf(body.data?.["sid"])}`, {});

  await page.goto(`${url()}${paths.events}`);
  await expectUsable(page, "Events", "dashboard-events");
  const sentences = page.locator(".history li > span");
  expect(await sentences.allTextContents()).toEqual([
    `The verification of ${hostile} was cancelled`,
    `${hostile} (100002) was unlinked from Player 2 (2), by a key`,
    `The link to Player 2 (2) went from Ada (100001) to ${hostile} (100002), by a key`,
    "Ada (100001) was linked to Player 2 (2), in place of Player 1 (1), by a key",
    "Ada (100001) was linked to Player 1 (1), by a key",
  ]);
  await page.getByLabel("About the user").fill("100002");
  await press(page, "Show");
  await expect
    .poll(() => sentences.allTextContents())
    .toEqual([
      `${hostile} (100002) was unlinked from Player 2 (2), by a key`,
      `The link to Player 2 (2) went from Ada (100001) to ${hostile} (100002), by a key`,
    ]);
  await page.getByLabel("About the user").fill("nobody at all");
  await press(page, "Show");
  await expectUsable(page, "Events", "dashboard-events-nobody");
});

it("the account page lists sign-ins, and ends one or all of them", async () => {
  const [page, other] = [
    await visit(paths.account, /Ada\b/, phone),
    await visit("/dashboard", /Ada\b/, desktop),
  ];
  await page.reload();
  await expectUsable(page, "Account", "dashboard-account");
  await page
    .getByText(/ on Linux$/)
    .first()
    .waitFor();
  await press(page, "End it");
  await page.getByText("The sign-in was ended").waitFor();
  await press(page, "Sign out everywhere");
  await expectUsable(page, "You are signed out", "dashboard-signed-out");
  for (const left of [page, other]) {
    await left.goto(`${url()}/dashboard`);
    expect(new URL(left.url()).pathname).toBe("/chat/oauth/authorize");
  }
});

it("unknown pages and forged forms get an error page", async () => {
  const page = await visit("/dashboard", /Ada\b/, phone);
  await page.goto(`${url()}/dashboard/keys/Aa0Bb1Cc2Dd3`);
  await expectUsable(page, "There is no such page", "dashboard-refused-unknown");
  await page.goto(`${url()}${paths.newKey}`);
  await page.evaluate("document.querySelector('main [name=csrf]').value = 'x'");
  await page.getByLabel("Name", { exact: true }).fill("Forged");
  await press(page, "Create the key");
  await expectUsable(page, "This form cannot be used", "dashboard-refused-forged");
});
