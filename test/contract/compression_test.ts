/** Compression by Accept-Encoding, and how the server delivers the documentation: its caching, and little memory. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { isProof } from "@accountlink/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryOf } from "../../bench/server_process.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { useContractServer } from "./contract_server.ts";

const { fixtures, url } = useContractServer();
const ids = Array.from({ length: 200 }, (_, index) => String(200_001 + index));
const key = fixtures.key({ links: Object.fromEntries(ids.map((id) => [id, "1"])) });
const authorization = `Bearer ${key}`;

/** Sends a request with exactly these headers, and returns the encoded body. */
const get = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
  const outgoing = request(url() + path, { method, headers }).end();
  const [incoming] = await once(outgoing, "response");
  return { status: incoming.statusCode, headers: incoming.headers, body: await buffer(incoming) };
};

const decoders = { gzip: gunzipSync, br: brotliDecompressSync };

const large = "/v2/links?limit=1000";

test.each<[accepted: string, encoding?: keyof typeof decoders]>([
  ["gzip, deflate", "gzip"],
  ["GZIP", "gzip"],
  ["gzip;q=0.5, *;q=0", "gzip"],
  ["gzip, br", "br"],
  ["br;q=0.5, gzip", "gzip"],
  ["*", "br"],
  ["identity"],
  ["gzip;q=0, br;q=0"],
])("JSON above 1 kB for Accept-Encoding %s is sent with encoding %s", async (accepted, encoding) => {
  const sent = { authorization, "accept-encoding": accepted };
  const told = ({ headers }: Awaited<ReturnType<typeof get>>) => [headers["content-encoding"], headers.vary];
  const answer = await get(large, sent);
  const { body } = answer;
  expect(told(answer)).toEqual([encoding, "Accept-Encoding"]);
  const plain = encoding === undefined ? body : decoders[encoding](body);
  const { data } = JSON.parse(plain.toString()) as { data: { links: ReadonlyArray<{ chatId: string }> } };
  expect(data.links.map(({ chatId }) => chatId)).toEqual(ids);
  expect(body.length).toBeLessThan(encoding === undefined ? Infinity : plain.length / 5);
  expect(told(await get(large, sent, "HEAD"))).toEqual([encoding, "Accept-Encoding"]);
});

test("an Accept-Encoding over 1 kB is not read", async () => {
  const { headers } = await get(large, { authorization, "accept-encoding": `gzip${",x".repeat(500)}` });
  expect(headers["content-encoding"]).toBeUndefined();
});

test.each([
  ["/api/v1/public/game-to-chat?gameId=1", "gzip"],
  ["/compat/bloxlink/v4/public/roblox-to-discord/1", "gzip"],
  ["/v2/chat?chatId=200001", undefined],
])("a response of v1 or an emulated API is compressed too, but no small one: %s", async (path, encoding) => {
  const credentials = { authorization: path.startsWith("/compat") ? key : authorization };
  const { status, headers } = await get(path, { ...credentials, "accept-encoding": "gzip" });
  expect([status, headers["content-encoding"]]).toEqual([200, encoding]);
});

const documents = ["/docs", "/docs/style.css", "/openapi.json"];

describe.each(documents)("%s", (path) => {
  test("the documentation is at most 1 MB, and sent compressed to clients that accept gzip", async () => {
    const { status, headers, body } = await get(path, { "accept-encoding": "gzip" });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-encoding": "gzip",
      "content-length": String(body.length),
      "cache-control": "public, max-age=3600",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    for (const sent of [{}, { "accept-encoding": "identity, gzip;q=0" }]) {
      const plain = await get(path, sent);
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect(plain.body.equals(gunzipSync(body))).toBe(true);
      expect(plain.body.length).toBeLessThan(1_000_000);
    }
  });

  test.each(["gzip", "identity"])(
    "a client that has the documentation gets 304, with encoding %s",
    async (accepted) => {
      const sent = { "accept-encoding": accepted };
      const { etag = "", ...first } = (await get(path, sent)).headers;
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get(path, { ...sent, "if-none-match": known });
        expect([again.status, again.body.length]).toEqual([304, 0]);
        const { vary, "cache-control": caching } = first;
        expect(again.headers).toMatchObject({ etag, vary, "cache-control": caching });
      }
      expect((await get(path, { ...sent, "if-none-match": '"other"' })).status).toBe(200);
    },
  );
});

describe.skipIf(memoryOf(process.pid) === null)(
  "clients that do not read their responses (where memory can be measured)",
  () => {
    let server: ServerProcess;
    beforeAll(async () => {
      server = await startServer({ fixture: {} });
    });
    afterAll(() => server.stop());

    test.each(isProof ? documents : ["/docs"])(
      "15 kB of pipelined requests for %s take little memory",
      async (path) => {
        await server.send(`GET ${path}`);
        const before = memoryOf(server.pid) as number;
        const { hostname, port } = new URL(server.url);
        const sent = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
        const sockets = await Promise.all(
          Array.from({ length: Math.ceil(15_000 / sent.length) }, async () => {
            const socket = connect(Number(port), hostname);
            socket.write(sent);
            await once(socket, "readable");
            return socket;
          }),
        );
        expect((await server.send("GET /healthz")).status).toBe(200);
        const taken = (memoryOf(server.pid) as number) - before;
        for (const socket of sockets) socket.destroy();
        expect(taken).toBeLessThan(50_000_000);
      },
    );
  },
);
