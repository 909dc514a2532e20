/** A service with only one way to prove a game account, and a small limit of verifications for an address. */
import { expect, test } from "vitest";
import { chatUsers } from "../support/fixtures.ts";
import { formOf, locationOf, titleOf } from "../support/flow_browser.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

const { setup } = useFlowServer(
  { ACCOUNTLINK_GAME_PROOFS: "words", ACCOUNTLINK_IP_VERIFY_DAILY: "3" },
  () => ({
    platform: {
      chatUsers: chatUsers.map((user) => ({ ...user, connections: [{ gameId: "1", verified: true }] })),
    },
  }),
);

test("where words are the only way, their page is shown at once, and ways that are off are no routes", async () => {
  const { browser, bySid } = await setup();
  const authorizeUrl = await browser.leave("chat", bySid);
  expect(new URL(authorizeUrl).searchParams.get("scope")).toBe("identify");
  const page = await browser.get(locationOf(await browser.get(await browser.signIn(authorizeUrl, "100001"))));
  expect([page.status, titleOf(page.text)]).toEqual([200, "Your account on the game platform"]);
  expect(page.text).toContain('name="username"');
  for (const path of ["/verify/game/start", "/verify/game/callback"]) {
    expect((await browser.get(path)).status).toBe(404);
  }
  const chosen = await browser.post("/verify/game/connection", { ...formOf(page), gameId: "1" });
  expect(chosen.status).toBe(404);
});

test("names and checks count against the address's verifications of a day", async () => {
  const { browser, bySid } = await setup();
  const page = await browser.get(locationOf(await browser.prove("chat", "100001", bySid)));
  const form = formOf(page);
  const name = () => browser.post("/verify/game/words", { ...form, username: "player_2" });
  expect((await name()).status).toBe(200);
  for (let checks = 0; checks < 2; checks++) {
    expect((await browser.post("/verify/game/words/check", form)).status).toBe(409);
  }
  const refused = await name();
  expectPage(refused, 429, "Too many requests");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
});
