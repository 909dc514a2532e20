/** The pages of the flow, the code page and the home page in a real browser. */
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { enter, press, signIn, useFlowPages, walk } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { clientUrl, newSession, linkOf, visit, send } = await useFlowPages();

it("a user on a phone sees the two game accounts without scrolling, and keeps one of them", async () => {
  const { sid } = await newSession();
  const page = await visit(`/verify?sid=${sid}`, phone);
  await expectUsable(page, "Link your accounts", "flow-begin");
  await signIn(page, "chat", /User 2\b/);
  await expectUsable(page, "Link your accounts", "flow-half");
  await signIn(page, "game", /Player 1\b/);
  await expectUsable(page, "Which account is yours?", "flow-replace");
  for (const name of ["Keep Player 3", "Link Player 1"]) {
    const box = await page.getByRole("button", { name }).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(phone.viewport.height);
  }
  await press(page, "Keep Player 3");
  await expectUsable(page, "Your link stays as it is", "flow-kept");
});

it("the flow asks for confirmation, and links nothing after a cancellation", async () => {
  const { sid } = await newSession({ guildId: guild, redirect: `${clientUrl}/done` });
  const page = await visit(`/verify?sid=${sid}`, desktop);
  await page.getByText("Rook&BishopRook&Bishop").waitFor();
  await walk(page);
  await expectUsable(page, "Is this right?", "flow-confirm");
  await page
    .getByText(
      "your IP address (encrypted) and a cookie that recognizes this browser are stored for 180 days",
    )
    .waitFor();
  await page.getByText("Do not link anything").click();
  await expectUsable(page, "Is this right?", "flow-decline");
  await press(page, "End the verification");
  await expectUsable(page, "Nothing was linked", "flow-cancelled");
});

it("the flow says how many minutes it lasts, and counts down without a script", async () => {
  const { sid } = await newSession();
  const page = await visit(`/verify?sid=${sid}`, phone);
  await page.getByText(/^You have about 5 minutes left\./).waitFor();
  const left = () =>
    page.evaluate<number>(
      "Number(getComputedStyle(document.querySelector('.clock')).getPropertyValue('--rest'))",
    );
  const first = await left();
  expect(first).toBeGreaterThan(0);
  await expect.poll(left).toBeLessThan(first);
});

it("the flow works with only a keyboard and a visible focus, also after a refusal", async () => {
  const { sid } = await newSession();
  const page = await visit(`/verify?sid=${sid}`, desktop);
  await enter(page, /^Sign in to the chat platform/, "flow-focus");
  await enter(page, /^Cancel/);
  expect(await page.title()).toBe("You did not sign in");
  await enter(page, /^Try again/, "flow-focus-refused");
  await enter(page, /^Sign in to the chat platform/);
  await enter(page, /User 1/);
  expect(await page.getByText("Use another account on the chat platform").count()).toBe(1);
  await enter(page, /^Sign in to the game platform/);
  await enter(page, /Player 1/);
  await enter(page, /^Link these accounts/);
  expect(await page.title()).toBe("Your accounts are linked");
});

it.each([
  ["the site of the client", { redirect: `${clientUrl}/done` }],
  ...(isProof ? [["the last page", {}] as const] : []),
] as const)("the back button links nothing again, from %s", async (_, asked) => {
  const { sid } = await newSession(asked);
  const page = await visit(`/verify?sid=${sid}`, phone);
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
  const page = await visit("/go", phone);
  await expectUsable(page, "Enter your code", "go");
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
  await expectUsable(page, "Your accounts are linked", "go-done");
  const { body } = await send(`GET /v2/sessions/${sid}`);
  expect(body.data).toMatchObject({ state: "completed", chatId: "100001", gameId: "1" });
});

it("the code page shows the error of a wrong code at the input field", async () => {
  const page = await visit("/go", phone);
  await page.getByLabel("Enter your code").fill("BBBB-BBBB");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This code does not work").waitFor();
  await expectUsable(page, "Enter your code", "go-refused");
  const field = page.getByLabel("Enter your code");
  expect(await field.inputValue()).toBe("BBBB-BBBB");
  const { sid, code } = await newCode();
  await send(`DELETE /v2/sessions/${sid}`, { body: {} });
  await field.fill(code);
  await press(page, "Continue");
  await page.getByRole("alert").getByText("This code has expired").waitFor();
  expect(await field.inputValue()).toBe(code);
});

it("the home page has no accessibility problem and fits the screen", async () => {
  const page = await visit("/", phone);
  await expectUsable(page, "accountlink", "home");
  // Only the home page of the demo names persons to sign in as.
  expect(await page.locator("main").innerText()).not.toMatch(/demo|Ada|Linus/);
});
