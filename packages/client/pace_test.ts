import { expect, it } from "vitest";
import { createClient } from "./mod.ts";

/** A service that allows some requests per window, reports the limit in headers, and refuses further requests. */
const paced = (quota: number, seconds = 1) => {
  let [used, ends] = [0, 0];
  const answered: Array<readonly [chatId: string | null, status: number]> = [];
  const fetch = async (request: Request) => {
    const now = performance.now();
    if (now >= ends) [used, ends] = [0, now + seconds * 1_000];
    const status = ++used > quota ? 429 : 200;
    answered.push([new URL(request.url).searchParams.get("chatId"), status]);
    const headers = {
      "ratelimit-policy": `"day";q=500;w=86400, "second";q=${quota};w=${seconds}`,
      ratelimit: `"second";r=${Math.max(0, quota - used)};t=${Math.ceil((ends - now) / 1_000)}`,
    };
    const error = { code: "RATE_LIMITED", message: "No", details: { bucket: "second" } };
    return Response.json(status === 200 ? { data: { gameId: "1" } } : { error }, { status, headers });
  };
  return { ...createClient({ url: "http://links.example", fetch, retryFor: 0 }), answered };
};

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => String(first + at));

it.concurrent.each([
  [1, 3],
  [4, 11],
])("with a limit of %i per second, %i calls at once wait in turn, unrefused", async (quota, count) => {
  const { links, answered } = paced(quota);
  const ids = idsFrom(100_001, count);
  await Promise.all(ids.map((id) => links.get(id)));
  expect(answered).toEqual(ids.map((id) => [id, 200]));
});

it.concurrent("a call over the daily limit does not wait for the next day", async () => {
  const { links, answered } = paced(1, 40_000);
  await links.get("100001");
  await expect(links.get("100002")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(answered.at(-1)).toEqual(["100002", 429]);
});

it.concurrent("when a waiting call is aborted, the next call proceeds", async () => {
  const { links, answered } = paced(1);
  const waiting = new AbortController();
  const ended = new Error("No longer wanted");
  const calls = [
    links.get("100001"),
    links.get("100002", { signal: waiting.signal }),
    links.get("100003", { signal: waiting.signal }),
    links.get("100004"),
  ];
  await calls[0];
  waiting.abort(ended);
  expect(await Promise.allSettled(calls)).toMatchObject([
    { status: "fulfilled" },
    { reason: ended },
    { reason: ended },
    { status: "fulfilled" },
  ]);
  expect(answered.map(([id]) => id)).toEqual(["100001", "100004"]);
});

it.concurrent("calls do not wait for each other if the service reports no limit or does not respond", async () => {
  let arrived = 0;
  const fetch = () => {
    arrived++;
    return new Promise<never>(() => {});
  };
  const { links } = createClient({ url: "http://links.example", fetch, timeout: 3_000, retryFor: 0 });
  const calls = idsFrom(100_001, 20).map((id) => links.get(id));
  await Promise.allSettled(calls.slice(0, 1));
  expect(arrived).toBe(20);
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => ({ reason: { code: "TIMEOUT" } })));
});

it.concurrent("verification sessions, which have limits of their own, do not wait for lookups", async () => {
  const { links, sessions, answered } = paced(1);
  await links.get("100001");
  const waiting = new AbortController();
  const lookup = links.get("100002", { signal: waiting.signal }).catch(() => null);
  await sessions.get("vs_1").catch(() => null);
  expect(answered.map(([id]) => id)).toEqual(["100001", null]);
  waiting.abort();
  await lookup;
});
