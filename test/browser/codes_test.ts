/** The code page and the home page in a real browser, on a phone. */
import { describe, expect, it } from "vitest";
import { textOf } from "../support/http.ts";
import { press, signIn, useFlowPages } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const { visit, send } = await useFlowPages();

const newCode = async () => {
  const { body } = await send("POST /v2/sessions", { body: { clientId: "player" } });
  return { sid: textOf(body.data?.sid), code: textOf(body.data?.code) };
};

describe("the code page", () => {
  it("the code page leads a player on a phone to a link in at most eight taps", async () => {
    const { sid, code } = await newCode();
    const watched = await visit("/go", phone);
    const { page, close } = watched;
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
    await close();
  });

  it("the code page shows the error of a wrong code at the input field", async () => {
    const watched = await visit("/go", phone);
    const { page, close } = watched;
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
    await close();
  });
});

describe("the home page", () => {
  it("the home page has no accessibility problem and fits the screen", async () => {
    const watched = await visit("/", phone);
    await expectUsable(watched, "accountlink", "home");
    await watched.close();
  });
});
