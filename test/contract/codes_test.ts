/** Session codes, which users type in when they cannot open a link. */
import { expect, test } from "vitest";
import { type Answer, textOf } from "../support/http.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

const { fixtures, send, newKey, newSession, read } = useFlowServer();

const codeOf = async (key = newKey()) => {
  const { sid, code } = await newSession(key);
  return { key, sid: textOf(sid), code: textOf(code) };
};

const typed = (code: string, from = fixtures.address()): Promise<Answer> =>
  send("POST /go", {
    from,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ code }).toString(),
  });

const unknownCode = "BBBB-BBBB";

test("session codes are unique, and stay the same in every read of their session", async () => {
  const key = newKey();
  const sessions = await Promise.all(Array.from({ length: 20 }, () => codeOf(key)));
  expect(new Set(sessions.map(({ code }) => code)).size).toBe(20);
  const [{ sid, code } = { sid: "", code: "" }] = sessions;
  expect(await read(key, sid)).toMatchObject({ code });
  const v1 = await send(`GET /api/v1/verify/session/${sid}`, { key });
  expect(v1.body.data).toMatchObject({ code, codeUrl: expect.stringMatching(/\/go$/) });
  const cancelled = await send(`DELETE /v2/sessions/${sid}`, { key });
  expect(cancelled.body.data).toMatchObject({ code });
});

test.each<[string, (code: string) => string]>([
  ["exactly", (code) => code],
  ["in lower case", (code) => code.toLowerCase()],
  ["without its dash", (code) => code.replace("-", "")],
  ["with spaces", (code) => ` ${code.split("").join(" ")} `],
  ["with the dash of another keyboard", (code) => code.replace("-", "–")],
])("session codes redirect to the flow when typed %s", async (_, write) => {
  const { sid, code } = await codeOf();
  const answer = await typed(write(code));
  expect([answer.status, answer.headers.location]).toEqual([303, `/verify?sid=${sid}`]);
  expect(answer.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  const linked = await send(`GET /go?${new URLSearchParams({ code: write(code) })}`, {
    from: fixtures.address(),
  });
  expect([linked.status, linked.headers.location]).toEqual([303, `/verify?sid=${sid}`]);
});

test("the code page says that the session of a code has ended, and answers unknown and malformed codes alike", async () => {
  const { key, sid, code } = await codeOf();
  await send(`DELETE /v2/sessions/${sid}`, { key });
  const plain = ({ text }: Answer) => text.replaceAll(/req_\w+|value="[^"]*"/g, "");
  const [ended, unknown, malformed] = [await typed(code), await typed(unknownCode), await typed("x")];
  for (const answer of [ended, unknown, malformed]) expectPage(answer, 404, "Enter your code");
  expect(ended.text).toContain("This code has expired. Get a new one where you got it.");
  expect(plain(malformed)).toBe(plain(unknown));
  expect(plain(unknown)).not.toContain("has ended");
  expect(plain(await typed(""))).toBe(plain(unknown));
  expectPage(await send("GET /go?code="), 200, "Enter your code");
});

test("ten wrong codes within a minute block all codes from the address", async () => {
  const [from, other] = [fixtures.address(), fixtures.address()];
  const { sid, code } = await codeOf();
  expect((await typed(code, from)).status).toBe(303);
  for (let i = 0; i < 10; i++) expectPage(await typed(unknownCode, from), 404, "Enter your code");
  const refused = await typed(unknownCode, from);
  expectPage(refused, 429, "Enter your code");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect((await send(`GET /go?code=${code}`, { from })).status).toBe(429);
  expect((await send("GET /go", { from })).status).toBe(200);
  expect((await typed(code, other)).headers.location).toBe(`/verify?sid=${sid}`);
});
