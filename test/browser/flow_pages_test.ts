/** The pages of the flow, the code page and the home page in a real browser. */
import { expect, it } from "vitest";
import { guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { enter, press, signIn, useFlowPages, walk } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { clientUrl, newSession, linkOf, visit, send } = await useFlowPages();

it("a user on a phone sees the two game accounts without scrolling, and keeps one of them", async () => {
  const { sid } = await newSession();
  const watched = await visit(`/verify?sid=${sid}`, phone);
  const { page } = watched;
  await expectUsable(watched, "Link your accounts", "flow-begin");
  await signIn(page, "chat", /User 2\b/);
  await expectUsable(watched, "Link your accounts", "flow-half");
  await signIn(page, "game", /Player 1\b/);
  await expectUsable(watched, "Which account is yours?", "flow-replace");
  for (const name of ["Keep Player 3", "Link Player 1"]) {
    const box = await page.getByRole("button", { name }).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(phone.viewport.height);
  }
  await press(page, "Keep Player 3");
  await expectUsable(watched, "Your link stays as it is", "flow-kept");
});

it("the flow asks for confirmation, and links nothing after a cancellation", async () => {
  const { sid } = await newSession({ guildId: guild, redirect: `${clientUrl}/done` });
  const watched = await visit(`/verify?sid=${sid}`, desktop);
  await watched.page.getByText("Rook&BishopRook&Bishop").waitFor();
  await walk(watched.page);
  await expectUsable(watched, "Is this right?", "flow-confirm");
  await watched.page
    .getByText("your encrypted IP address and a cookie that recognizes this browser are stored for 180 days")
    .waitFor();
  await watched.page.getByText("Do not link anything").click();
  await expectUsable(watched, "Is this right?", "flow-decline");
  await press(watched.page, "End the verification");
  await expectUsable(watched, "Nothing was linked", "flow-cancelled");
});

it("the flow works with only a keyboard and a visible focus", async () => {
  const { sid } = await newSession();
  const watched = await visit(`/verify?sid=${sid}`, desktop);
  await enter(watched, /^Sign in to the chat platform/, "flow-focus");
  await enter(watched, /User 1/);
  await enter(watched, /^Sign in to the game platform/);
  await enter(watched, /Player 1/);
  await enter(watched, /^Link these accounts/);
  expect(await watched.page.title()).toBe("Your accounts are linked");
});

it("after a refusal, the flow can be retried with the keyboard alone", async () => {
  const { sid } = await newSession();
  const watched = await visit(`/verify?sid=${sid}`, desktop);
  await enter(watched, /^Sign in to the chat platform/);
  await enter(watched, /^Cancel/);
  expect(await watched.page.title()).toBe("You did not sign in");
  await enter(watched, /^Try again/, "flow-focus-refused");
  await enter(watched, /^Sign in to the chat platform/);
  await enter(watched, /User 1/);
  expect(await watched.page.getByText("Use another account on the chat platform").count()).toBe(1);
});

it.each([
  ["the last page", {}],
  ["the site of the client", { redirect: `${clientUrl}/done` }],
])("the back button links nothing again, from %s", async (_, asked) => {
  const { sid } = await newSession(asked);
  const { page } = await visit(`/verify?sid=${sid}`, phone);
  await walk(page);
  const asking = page.url();
  await press(page, "Link these accounts");
  await page.waitForURL((url) => url.href !== asking);
  const linked = await linkOf("100001");
  await page.goBack();
  expect([page.url(), await page.title()]).toEqual([asking, "You are already done"]);
  expect(await page.getByRole("button").count()).toBe(0);
  expect([linked["gameId"], await linkOf("100001")]).toEqual(["1", linked]);
});

const newCode = async () => {
  const { body } = await send("POST /v2/sessions", { body: { clientId: "player" } });
  return { sid: textOf(body.data?.sid), code: textOf(body.data?.code) };
};

it("the code page leads a player on a phone to a link in at most eight taps", async () => {
  const { sid, code } = await newCode();
  const watched = await visit("/go", phone);
  const { page } = watched;
  await expectUsable(watched, "Enter your code", "go");
  const field = page.getByLabel("Enter your code");
  expect(await field.evaluate("document.activeElement === document.querySelector('#code')")).toBe(true);
  await page.keyboard.type(code.toLowerCase().replace("-", ""));
  const taps: ReadonlyArray<() => Promise<void>> = [
    () => press(page, "Continue"),
    () => signIn(page, "chat", /User 1\b/),
    () => signIn(page, "game", /Player 1\b/),
    () => press(page, "Link these accounts"),
  ];
  for (const tap of taps) await tap();
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  // `taps` counts each of the two sign-ins as one tap, but a sign-in takes two taps.
  expect(taps.length + 2).toBeLessThanOrEqual(8);
  await expectUsable(watched, "Your accounts are linked", "go-done");
  const { body } = await send(`GET /v2/sessions/${sid}`);
  expect(body.data).toMatchObject({ state: "completed", chatId: "100001", gameId: "1" });
});

it("the code page shows the error of a wrong code at the input field", async () => {
  const watched = await visit("/go", phone);
  const { page } = watched;
  await page.getByLabel("Enter your code").fill("BBBB-BBBB");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This code does not work").waitFor();
  await expectUsable(watched, "Enter your code", "go-refused");
  const field = page.getByLabel("Enter your code");
  expect(await field.inputValue()).toBe("BBBB-BBBB");
  const { sid, code } = await newCode();
  await send(`DELETE /v2/sessions/${sid}`, { body: {} });
  await field.fill(code);
  await press(page, "Continue");
  await page.getByRole("alert").getByText("This code has ended").waitFor();
  expect(await field.inputValue()).toBe(code);
});

it("the home page has no accessibility problem and fits the screen", async () => {
  const watched = await visit("/", phone);
  await expectUsable(watched, "accountlink", "home");
  // Only the home page of the demo names persons to sign in as.
  expect(await watched.page.locator("main").innerText()).not.toMatch(/demo|Ada|Linus/);
});
