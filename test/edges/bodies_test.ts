/** Bodies that do not come in one piece with their head. */
import { once } from "node:events";
import { type IncomingMessage, request as nodeRequest } from "node:http";
import { expect, test } from "vitest";
import { useServer } from "../support/server.ts";
import { linkedWorld } from "./random_request.ts";

const { fixture, keys } = linkedWorld();
const server = useServer(() => ({ fixture }));
const { send } = server;

/** A bulk lookup of which the server has the head, but not yet the body. */
const beginBulk = async (key: string) => {
  const body = JSON.stringify({ chatIds: ["100001", "100002"] });
  const outgoing = nodeRequest(`${server.url()}/v2/chat/bulk`, {
    // A connection of its own, which ends with its answer.
    agent: false,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-length": body.length },
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  outgoing.flushHeaders();
  // What is sent after it, on another connection, is answered.
  await send("GET /v2/chat?chatId=100001", { key });
  return { outgoing, body, answered };
};

test("a body may come after its head, in pieces", async () => {
  const { outgoing, body, answered } = await beginBulk(keys[0] as string);
  outgoing.write(body.slice(0, 9));
  await send("GET /v2/chat?chatId=100001", { key: keys[0] as string });
  outgoing.end(body.slice(9));
  const [{ statusCode }] = await answered;
  expect(statusCode).toBe(200);
});

test("a wrong key is refused before its body has come", async () => {
  const { outgoing, answered } = await beginBulk(`${keys[0]}x`);
  const [{ statusCode }] = await answered;
  expect(statusCode).toBe(401);
  outgoing.destroy();
});

test("a client that waits for a 100 gets it when its body is read, and none for a wrong key", async () => {
  const body = JSON.stringify({ chatIds: ["100001"] });
  const ask = async (key: string) => {
    const outgoing = nodeRequest(`${server.url()}/v2/chat/bulk`, {
      agent: false,
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-length": body.length, expect: "100-continue" },
    });
    let continued = false;
    outgoing.once("continue", () => {
      continued = true;
      outgoing.end(body);
    });
    outgoing.flushHeaders();
    const [{ statusCode }] = (await once(outgoing, "response")) as [IncomingMessage];
    outgoing.destroy();
    return { statusCode, continued };
  };
  expect(await ask(keys[0] as string)).toEqual({ statusCode: 200, continued: true });
  expect(await ask(`${keys[0]}x`)).toEqual({ statusCode: 401, continued: false });
});
