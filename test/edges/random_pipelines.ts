/** Random requests and pipelines, most of them wrong in some way. */
import * as fc from "fast-check";

const targets = (key: string) =>
  fc.constantFrom(
    `/v2/chat?chatId=100001`,
    "/v2/chat/bulk",
    "/v2/sessions",
    "/api/v1/public/chat-to-game?chatId=100001",
    "/healthz",
    "/openapi.json",
    "/docs",
    "/verify",
    "/%zz",
    "*",
    "other.example:443",
    "http://other.example/v2/chat",
    `/${key.slice(0, 8)}`,
  );

const methods = fc.constantFrom("GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE", "CONNECT", "PRI", "BREW");

const headers = (key: string) =>
  fc.subarray(
    [
      "Host: service.example",
      "Host: other.example",
      `Authorization: Bearer ${key}`,
      "Authorization: Basic eDp5",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Upgrade: h2c",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version: 13",
      "Expect: 100-continue",
      "Expect: a-pony",
      "Content-Type: application/json",
      "Content-Length: 0",
      "Content-Length: 22",
      "Content-Length: 70000",
      "Content-Length: -1",
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: identity, chunked",
      "Transfer-Encoding : chunked",
      "Connection: close",
      "Connection: keep-alive",
      "no colon",
    ],
    { minLength: 0, maxLength: 8 },
  );

const bodies = fc.constantFrom(
  "",
  "",
  `{"chatIds":["100001"]}`,
  `16\r\n{"chatIds":["100001"]}\r\n0\r\n\r\n`,
  "zz\r\n",
  "ffffffffffffffffff\r\n",
  "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: service.example\r\n\r\n",
);

const request = (key: string): fc.Arbitrary<string> =>
  fc
    .record({
      method: methods,
      target: targets(key),
      version: fc.constantFrom("1.1", "1.1", "1.1", "1.0", "2.0"),
      host: fc.boolean(),
      headers: headers(key),
      body: bodies,
    })
    .map(({ method, target, version, host, headers: lines, body }) =>
      [
        `${method} ${target} HTTP/${version}`,
        ...(host ? ["Host: service.example"] : []),
        ...lines,
        "",
        body,
      ].join("\r\n"),
    );

/** What goes over one connection: its bytes, and whether the client leaves without waiting for an answer. */
export interface Pipeline {
  readonly bytes: string;
  readonly leaves: boolean;
}

/** Pipelines of up to `most` requests, cut off anywhere now and then. */
export const pipelines = (key: string, most: number): fc.Arbitrary<Pipeline> =>
  fc
    .record({
      requests: fc.array(request(key), { minLength: 1, maxLength: most }),
      keep: fc.oneof(
        { weight: 3, arbitrary: fc.constant(1) },
        { arbitrary: fc.double({ min: 0, max: 1, noNaN: true }), weight: 1 },
      ),
      leaves: fc.boolean(),
    })
    .map(({ requests, keep, leaves }) => {
      const bytes = requests.join("");
      return { bytes: bytes.slice(0, Math.ceil(bytes.length * keep)), leaves };
    });
