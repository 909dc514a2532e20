/** Tests the download of links with the names of their accounts. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { dataOf } from "./contract_server.ts";
import { pidOf, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer();

// Names are sent at 25 a second, so a whole file would take 20 seconds.
const links = Object.fromEntries(
  Array.from({ length: 500 }, (_, index) => [String(200_001 + index), "1"] as const),
);
for (const owner of ["100001", "100002"]) server.fixtures.key({ owner, account: `of ${owner}`, links });
server.fixtures.key({ account: "of 100001", guildId: guild });

test("an account downloads one file with names at a time, and another one once the first is broken off", async () => {
  const [one, other] = await Promise.all(["100001", "100002"].map((chatId) => downloaderOf(chatId)));
  const first = await one?.();
  expect(first?.status).toBe(200);
  const second = await one?.();
  expect([second?.status, second?.headers.get("location")]).toEqual([
    303,
    "/dashboard/links?pid=all&done=downloading",
  ]);
  const others = await other?.();
  expect(others?.status).toBe(200);
  for (const begun of [first, others]) await begun?.body?.cancel();
  await expect
    .poll(async () => {
      const next = await one?.();
      await next?.body?.cancel();
      return next?.status;
    })
    .toBe(200);
});

test("a file with names ends when its reader is removed from the team or from a list, or signs out", async () => {
  for (const [leave, reader] of [
    ["removed", "100003"],
    ["narrowed", "100006"],
    ["signed out", "100004"],
  ] as const) {
    const owner = await signInOwner(server, "100001");
    const admin = await signInOwner(server, reader);
    const body = { chatId: reader, role: "admin" };
    const add = async () => (await owner.send("POST /dashboard/api/members", { body })).status;
    // While the names of the file before are asked for, a busy platform may not answer about the reader.
    await expect.poll(add).toBe(201);
    const { account } = dataOf(await owner.send("GET /dashboard/api/session"));
    const chosen = { body: { account: textOf(account?.name) } };
    dataOf(await admin.send("POST /dashboard/api/session/account", chosen));
    const cookie = `accountlink_session=${admin.browser.cookies.get("accountlink_session")}`;
    const file = await fetch(`${server.url()}/dashboard/links.csv?pid=all&names=true`, {
      headers: { cookie },
    });
    expect(file.status).toBe(200);
    const member = `/dashboard/api/members/${reader}` as const;
    const scopes = [await pidOf(owner, guild)];
    if (leave === "removed") dataOf(await owner.send(`DELETE ${member}`));
    else if (leave === "narrowed") dataOf(await owner.send(`PATCH ${member}`, { body: { scopes } }));
    else dataOf(await admin.send("DELETE /dashboard/api/session"));
    await expect(file.text()).rejects.toThrow("terminated");
  }
});

/** Signs a user in, and returns a function that begins a download and resolves when its status has arrived. */
const downloaderOf = async (chatId: string): Promise<() => Promise<Response>> => {
  const { cookies } = await server.signIn(chatId);
  const cookie = `accountlink_session=${cookies.get("accountlink_session")}`;
  return () =>
    fetch(`${server.url()}/dashboard/links.csv?pid=all&names=true`, {
      headers: { cookie },
      redirect: "manual",
    });
};
