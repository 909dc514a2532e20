import { expect, it } from "vitest";
import { ask, makeWorkplace } from "./test_program.ts";

it("`trace` reads files of several servers, and finds the audit entries of their requests", async () => {
  const { json, run, file, serve } = await makeWorkplace({ ACCOUNTLINK_PLATFORM: "none" });
  const { token } = await json("keys", "create", "--account", "acme", "--tier", "premium");
  const url = await serve();
  const link = { chatId: "100001", gameId: "1" };
  const { headers, status } = await ask(url, token, "PATCH /v2/game", link);
  const requestId = headers.get("x-request-id") ?? "";
  expect(status).toBe(200);
  const now = Date.now();
  const line = (at: number, id: string) =>
    JSON.stringify({
      message: `at ${at}`,
      timestamp: new Date(now + at).toISOString(),
      annotations: { requestId: id },
    });
  const one = await file("one.log", `${line(2, requestId)}\nno JSON {\n${line(1, "req_other")}\n`);
  const other = await file("other.log", `Nov 28 host accountlink[7]: ${line(1, requestId)}\n`);
  const found = await json("trace", requestId, one, other, "--account", "acme");
  expect(found).toMatchObject({
    lines: [{ message: "at 1" }, { message: "at 2" }],
    entries: [{ action: "link.set", requestId, details: { chatId: "100001", gameId: "1" } }],
  });
  const { stdout } = await run("trace", requestId, one, other, "--account", "acme");
  expect(stdout).toMatch(/^\{"message":"at 1".*\n\{"message":"at 2".*\naudit \{"at":.*"link\.set"/);
  expect(await run("trace", requestId, "/nowhere.log")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cannot read "/nowhere.log": ') as unknown,
  });
});
