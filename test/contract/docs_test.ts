/**
 * Tests how the server delivers the documentation: its size, its caching by clients, and the one buffer that all
 * clients share.
 */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryOf } from "../../bench/server_process.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const style = "/docs/style.css";
const paths = ["/docs", style, "/openapi.json"];

let running: ServerProcess | undefined;
const server = () => running as ServerProcess;

beforeAll(async () => {
  running = await startServer({ fixture: {} });
});

afterAll(() => running?.stop());

/** Sends a request with exactly these headers, and returns the encoded body. */
const get = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
  const outgoing = request(`${server().url}${path}`, { method, headers }).end();
  const [incoming] = await once(outgoing, "response");
  return { status: incoming.statusCode, headers: incoming.headers, body: await buffer(incoming) };
};

describe.each(paths)("%s", (path) => {
  test.each(["gzip", "br, gzip", "gzip;q=0.5, *;q=0", "GZIP", "*"])(
    "the documentation is sent compressed to clients that accept %s",
    async (accepted) => {
      const { status, headers, body } = await get(path, { "accept-encoding": accepted });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-encoding": "gzip",
        "content-length": String(body.length),
        "cache-control": "public, max-age=3600",
        vary: "Accept-Encoding",
        "x-content-type-options": "nosniff",
      });
      expect(gunzipSync(body).length).toBeGreaterThan(body.length);
    },
  );

  test("the documentation is at most 1 MB, whatever encoding the client accepts", async () => {
    for (const headers of [{}, { "accept-encoding": "gzip" }, { "accept-encoding": "identity" }]) {
      expect((await get(path, headers)).body.length).toBeLessThan(1_000_000);
    }
  });

  test.each(["gzip", "identity"])(
    "a client that has this version of the documentation gets 304, with Accept-Encoding %s",
    async (accepted) => {
      const sent = { "accept-encoding": accepted };
      const { etag = "", ...first } = (await get(path, sent)).headers;
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get(path, { ...sent, "if-none-match": known });
        expect(again.status).toBe(304);
        expect(again.body.length).toBe(0);
        expect(again.headers).toMatchObject({
          etag,
          vary: first.vary,
          "cache-control": first["cache-control"],
        });
      }
      expect((await get(path, { ...sent, "if-none-match": '"other"' })).status).toBe(200);
    },
  );

  test("the documentation answers HEAD like GET", async () => {
    const varying = { date: null, "x-request-id": null };
    const sent = { "accept-encoding": "gzip" };
    const [head, whole] = [await get(path, sent, "HEAD"), await get(path, sent)];
    expect(head.body.length).toBe(0);
    expect({ ...head.headers, ...varying }).toEqual({ ...whole.headers, ...varying });
  });
});

test.each(["/docs", "/openapi.json"])(
  "%s is sent without compression to clients that do not accept gzip",
  async (path) => {
    const { body: compressed } = await get(path, { "accept-encoding": "gzip" });
    for (const headers of [{}, { "accept-encoding": "identity, gzip;q=0" }]) {
      const plain = await get(path, headers);
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect(plain.body.equals(gunzipSync(compressed))).toBe(true);
    }
  },
);

describe.skipIf(memoryOf(process.pid) === null)(
  "clients that do not read their responses (where memory can be measured)",
  () => {
    test.each(paths)("15 kB of pipelined requests for %s take little memory", async (path) => {
      await get(path);
      const before = memoryOf(server().pid) as number;
      const { hostname, port } = new URL(server().url);
      const sent = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
      const sockets = await Promise.all(
        Array.from({ length: Math.ceil(15_000 / sent.length) }, async () => {
          const socket = connect(Number(port), hostname);
          socket.write(sent);
          await once(socket, "readable");
          return socket;
        }),
      );
      expect((await get("/healthz")).status).toBe(200);
      const taken = (memoryOf(server().pid) as number) - before;
      for (const socket of sockets) socket.destroy();
      expect(taken).toBeLessThan(50_000_000);
    });
  },
);
