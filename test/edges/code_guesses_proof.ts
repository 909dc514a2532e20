/**
 * Whoever guesses codes at /go finds none: a thousand addresses with a hundred guesses each, many of them one character
 * away from the code of an open session, others that were right before their session was cancelled.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { type Answer, textOf } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";

const guesses = 100_000;
const addresses = 1_000;
const atOnce = 64;
const openSessions = 500;
const cancelledSessions = 100;
/** Wrong codes of an address that are looked at within a minute. */
const lookedAt = 10;

const alphabet = "23456789BCDFGHJKMNPQRSTVWXZ";

const world = makeWorld();
const key = world.key();
const { send, output } = useServer(() => ({
  fixture: world.fixture,
  env: {
    ACCOUNTLINK_SESSION_TTL: "1 hour",
    ACCOUNTLINK_SESSION_CREATE_BURST: "0",
    // As they are in production.
    ACCOUNTLINK_IP_PER_SECOND: "20",
    ACCOUNTLINK_IP_DAILY: "10000",
    ACCOUNTLINK_IP_VERIFY_DAILY: "10000",
    ACCOUNTLINK_IP_AUTH_FAILURES: "30",
  },
}));

const newSession = async () => {
  const options = { key, from: world.address(), body: { clientId: "game" } };
  const { body } = await send("POST /v2/sessions", options);
  return { sid: textOf(body.data?.sid), code: textOf(body.data?.code) };
};

const many = <A>(count: number, make: (index: number) => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

const one = <A>(of: ArrayLike<A>): A => of[randomInt(of.length)] as A;

const randomCode = (): string => {
  const text = Array.from({ length: 8 }, () => one(alphabet)).join("");
  return `${text.slice(0, 4)}-${text.slice(4)}`;
};

/** The code with another character in a place. */
const beside = (code: string): string => {
  const place = one([0, 1, 2, 3, 5, 6, 7, 8]);
  const other = one(alphabet.replace(code[place] as string, ""));
  return code.slice(0, place) + other + code.slice(place + 1);
};

/** The guesser also names an address that is not theirs, which has to count for nothing. */
const guess = (code: string, from: string): Promise<Answer> =>
  send("POST /go", {
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-forwarded-for": `203.0.113.${randomInt(256)}, ${from}`,
    },
    body: new URLSearchParams({ code }).toString(),
  });

const varying = new Set(["date", "x-request-id", "retry-after"]);

/** What an answer tells, without what differs from answer to answer of whatever kind. */
const told = ({ status, headers, text }: Answer): string => {
  const same = Object.entries(headers).filter(([name]) => !varying.has(name));
  return JSON.stringify([status, same, text.replaceAll(/req_\w+/g, "")]);
};

test(`${guesses} guesses from ${addresses} addresses find no code and open no session`, async () => {
  const open = await many(openSessions, newSession);
  const cancelled = await many(cancelledSessions, newSession);
  for (const { sid } of cancelled) {
    const answer = await send(`DELETE /v2/sessions/${sid}`, { key, from: world.address() });
    expect(answer.status).toBe(200);
  }
  const right = new Set(open.map(({ code }) => code));
  const kinds = [() => beside(one(open).code), () => one(cancelled).code, randomCode];
  const wrongCode = (): string => {
    const code = one(kinds)();
    return right.has(code) ? wrongCode() : code;
  };
  const guessers = Array.from({ length: addresses }, world.address);

  const answers = new Map<string, { readonly status: number; readonly count: number }>();
  const startedAt = performance.now();
  let next = 0;
  const guessOn = async () => {
    for (let index = next++; index < guesses; index = next++) {
      const answer = await guess(wrongCode(), guessers[index % addresses] as string);
      const { count } = answers.get(told(answer)) ?? { count: 0 };
      answers.set(told(answer), { status: answer.status, count: count + 1 });
    }
  };
  await many(atOnce, guessOn);
  const seconds = (performance.now() - startedAt) / 1_000;
  const counts = Object.fromEntries(Array.from(answers.values(), ({ status, count }) => [status, count]));
  console.log(`${guesses} guesses in ${Math.round(seconds)} s: ${JSON.stringify(counts)}`);

  // One answer to every wrong code, and one to every guess of an address that has sent too many.
  expect(answers.size).toBe(2);
  expect(counts[404]).toBeGreaterThanOrEqual(addresses * lookedAt);
  expect(counts[404]).toBeLessThanOrEqual(addresses * lookedAt * (1 + Math.floor(seconds / 60)));

  // The codes were right all along, which an address that has sent too many wrong ones is not told.
  const guesser = world.address();
  await many(lookedAt, () => guess(randomCode(), guesser));
  const refused = told(await guess(randomCode(), guesser));
  expect(answers.get(refused)?.status).toBe(429);
  for (const { code } of open.slice(0, 5)) expect(told(await guess(code, guesser))).toBe(refused);
  for (const { sid, code } of open) {
    const from = world.address();
    const entered = await guess(code, from);
    expect([entered.status, entered.headers.location]).toEqual([303, `/verify?sid=${sid}`]);
    const { body } = await send(`GET /v2/sessions/${sid}`, { key, from });
    expect(body.data).toMatchObject({ state: "pending", chatId: null, gameId: null });
  }
  expect(output()).not.toContain("Request failed");
});
