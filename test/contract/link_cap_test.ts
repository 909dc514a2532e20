/** The most links of an account, however they are made. */
import { expect, test } from "vitest";
import { formOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { expectConflict, expectV1Refusal } from "./contract_server.ts";
import { createKey, signInOwner } from "./dashboard.ts";
import { expectPage } from "./flow_server.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer(
  {
    ACCOUNTLINK_FREE_LINKS: "2",
    ACCOUNTLINK_FREE_PER_WINDOW: "0",
    ACCOUNTLINK_SESSION_CREATE_BURST: "0",
  },
  undefined,
  { usual: "postgres" },
);
const operators = server.fixtures.key({ tier: "free" });

test("an account that has as many links as its plan allows can change and remove them, and make no more", async () => {
  const owner = await signInOwner(server, "100001");
  const { token: key, key: made } = await createKey(owner);
  const pid = textOf(made["pid"]);
  const from = server.fixtures.address();
  const set = (chatId: string, gameId: string) =>
    server.send("PATCH /v2/game", { key, from, body: { chatId, gameId } });
  const byHand = (chatId: string) =>
    owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId: "1" } });

  const firsts = await Promise.all(["100001", "100002", "100003"].map((chatId) => set(chatId, "1")));
  const linked = ["100001", "100002", "100003"].filter((_, index) => firsts[index]?.status === 200);
  expect(linked).toHaveLength(2);
  const [first = "", second = ""] = linked;

  expectConflict(await set("100004", "1"), "link_limit");
  expectV1Refusal(
    await server.send("PUT /api/v1/link/update-game?chatId=100004&newGameId=1", { key, from }),
    400,
    "The plan allows no more links",
  );
  expectConflict(await byHand("100004"), "link_limit");
  const { body } = await server.send("POST /v2/sessions", { key, from, body: { clientId: "client" } });
  const browser = server.newBrowser();
  const page = await browser.walk(`?sid=${textOf(body.data?.["sid"])}`, "100004");
  const form = formOf(page);
  const confirm = () => browser.post("/verify/confirm", form);
  expectPage(await confirm(), 409, "There is no room for more links");
  await server.send("DELETE /v2/game", { key, from, body: { chatId: second } });
  const refusal = browser.cookies.get("accountlink_last_page") ?? "";
  expectPage(await confirm(), 200, "Your accounts are linked");
  // The form was sent twice before the first answer came.
  browser.cookies.set("accountlink_last_page", refusal);
  expectPage(await confirm(), 409, "You are already done");
  await server.send("DELETE /v2/game", { key, from, body: { chatId: "100004" } });
  expect((await set(second, "1")).status).toBe(200);

  expect((await set(first, "2")).body.data).toMatchObject({ updated: true, previousGameId: "1" });
  const move = { oldChatId: first, newChatId: "100004" };
  expect((await server.send("PATCH /v2/chat", { key, from, body: move })).status).toBe(200);
  expect((await server.send("DELETE /v2/game", { key, from, body: { chatId: second } })).status).toBe(200);
  expect((await byHand(second)).status).toBe(200);
  expectConflict(await set(first, "1"), "link_limit");

  await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { oneChatUser: true } });
  const mover = server.newBrowser();
  const asked = await mover.walk(`?pid=${pid}`, first, "1");
  expect(asked.text).toContain("Move the link here");
  expectPage(await mover.post("/verify/confirm", formOf(asked)), 200, "Your accounts are linked");
  const lookUp = (chatId: string) => server.send(`GET /v2/chat?chatId=${chatId}`, { key, from });
  expect([(await lookUp(first)).status, (await lookUp(second)).status]).toEqual([200, 404]);
});

test("an account without an owner is the operator's, and has no most links", async () => {
  for (const chatId of ["100001", "100002", "100003"]) {
    const body = { chatId, gameId: "1" };
    expect((await server.send("PATCH /v2/game", { key: operators, body })).status).toBe(200);
  }
});
