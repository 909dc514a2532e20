/** A service where a connection at the chat platform is the only way to prove a game account. */
import { expect, test } from "vitest";
import { chatUsers } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

const { setup, platform } = useFlowServer({ ACCOUNTLINK_GAME_PROOFS: "connection" }, () => ({
  platform: {
    chatUsers: chatUsers.map((user) => ({ ...user, connections: [{ gameId: "1", verified: true }] })),
  },
}));

test("who has no connection since the chat platform does not tell it reads how to get one, and tries again", async () => {
  const { browser, bySid } = await setup();
  const signIn = async (isDown: boolean) => {
    const approved = await browser.signIn(await browser.leave("chat", bySid), "100001");
    if (isDown) {
      await platform.fail({ mode: "down", platform: "chat", under: "/chat/api/users/@me/connections" });
    }
    const back = await browser.get(approved);
    await platform.recover();
    return browser.get(locationOf(back));
  };
  const page = await signIn(true);
  expect([page.status, page.text.includes("that you have connected on")]).toEqual([200, true]);
  expect(page.text).toContain("does not name a connected account of yours on");
  expect(page.text).toContain(`href="/verify/chat/start${bySid}">Try again`);
  const again = await signIn(false);
  expectPage(again, 200, "Is this right?");
  expect((await browser.post("/verify/confirm", formOf(again))).status).toBe(200);
});
