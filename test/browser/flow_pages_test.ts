import { describe, expect, it } from "vitest";
import { guild } from "../support/fixtures.ts";
import { enter, press, signIn, useFlowPages, walk } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { clientUrl, newSession, linkOf, visit } = await useFlowPages();

describe("the flow", () => {
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
    await watched.close();
  });

  it("the flow asks for confirmation, and links nothing after a cancellation", async () => {
    const { sid } = await newSession({ guildId: guild, redirect: `${clientUrl}/done` });
    const watched = await visit(`/verify?sid=${sid}`, desktop);
    await watched.page.getByText("Rook&BishopRook&Bishop").waitFor();
    await walk(watched.page);
    await expectUsable(watched, "Is this right?", "flow-confirm");
    await watched.page
      .getByText(
        "your encrypted IP address and a cookie that recognizes this browser are stored for 180 days",
      )
      .waitFor();
    await watched.page.getByText("Do not link anything").click();
    await expectUsable(watched, "Is this right?", "flow-decline");
    await press(watched.page, "End the verification");
    await expectUsable(watched, "Nothing was linked", "flow-cancelled");
    await watched.close();
  });

  it("the Content-Security-Policy of the flow allows the redirect of the user to the client", async () => {
    const { sid } = await newSession({ redirect: `${clientUrl}/done` });
    const { page, complaints, close } = await visit(`/verify?sid=${sid}`, phone);
    await walk(page);
    await press(page, "Link these accounts");
    await page.waitForURL(`${clientUrl}/done?sid=${sid}&state=completed`);
    expect(complaints).toEqual([]);
    await close();
  });

  it("the flow works without JavaScript", async () => {
    const { sid } = await newSession();
    const { page, close } = await visit(`/verify?sid=${sid}`, { ...phone, javaScriptEnabled: false });
    await walk(page);
    await press(page, "Link these accounts");
    await expect.poll(() => page.title()).toBe("Your accounts are linked");
    await close();
  });
});

describe("the flow with only a keyboard", () => {
  it("the flow works with only a keyboard and a visible focus", async () => {
    const { sid } = await newSession();
    const watched = await visit(`/verify?sid=${sid}`, desktop);
    await enter(watched, /^Sign in to the chat platform/, "flow-focus");
    await enter(watched, /User 1/);
    await enter(watched, /^Sign in to the game platform/);
    await enter(watched, /Player 1/);
    await enter(watched, /^Link these accounts/);
    expect(await watched.page.title()).toBe("Your accounts are linked");
    await watched.close();
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
    await watched.close();
  });
});

describe("the back button", () => {
  it.each([
    ["the last page", {}],
    ["the site of the client", { redirect: `${clientUrl}/done` }],
  ])("the back button links nothing again, from %s", async (_, asked) => {
    const { sid } = await newSession(asked);
    const { page, close } = await visit(`/verify?sid=${sid}`, phone);
    await walk(page);
    const asking = page.url();
    await press(page, "Link these accounts");
    await page.waitForURL((url) => url.href !== asking);
    const linked = await linkOf("100001");
    await page.goBack();
    expect([page.url(), await page.title()]).toEqual([asking, "You are already done"]);
    expect(await page.getByRole("button").count()).toBe(0);
    expect([linked["gameId"], await linkOf("100001")]).toEqual(["1", linked]);
    await close();
  });
});
