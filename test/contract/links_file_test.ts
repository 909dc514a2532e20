/** Tests the download of links with the names of their accounts. */
import { expect, test } from "vitest";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer();

// Names are sent at 25 a second, so a whole file would take 20 seconds.
const links = Object.fromEntries(
  Array.from({ length: 500 }, (_, index) => [String(200_001 + index), "1"] as const),
);
for (const owner of ["100001", "100002"]) server.fixtures.key({ owner, links });

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
