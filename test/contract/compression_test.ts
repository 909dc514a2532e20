/** Compression of JSON, by Accept-Encoding. */
import { describe, expect, test } from "vitest";
import { useContractServer } from "./contract_server.ts";

const { fixtures, url } = useContractServer();
const ids = Array.from({ length: 200 }, (_, index) => String(200_001 + index));
const key = fixtures.key({ links: Object.fromEntries(ids.map((id) => [id, "1"])) });

/** Sends a request; `fetch` decompresses the body. */
const get = (path: string, accepted: string, method = "GET") =>
  fetch(url() + path, { method, headers: { authorization: `Bearer ${key}`, "accept-encoding": accepted } });
const told = ({ headers }: Response) => [headers.get("content-encoding"), headers.get("vary")];

const large = "/v2/links?limit=1000";

describe("JSON above 1 kB", () => {
  test.each([
    ["gzip, deflate", "gzip"],
    ["gzip, br", "br"],
    ["br;q=0.5, gzip", "gzip"],
    ["*", "br"],
    ["identity", null],
    ["gzip;q=0, br;q=0", null],
  ])("JSON above 1 kB for Accept-Encoding %s is sent with encoding %s", async (accepted, encoding) => {
    const answer = await get(large, accepted);
    expect(told(answer)).toEqual([encoding, "Accept-Encoding"]);
    const { data } = (await answer.json()) as { data: { links: ReadonlyArray<{ chatId: string }> } };
    expect(data.links.map(({ chatId }) => chatId)).toEqual(ids);
    expect(told(await get(large, accepted, "HEAD"))).toEqual([encoding, "Accept-Encoding"]);
  });

  test.each(["/api/v1/public/game-to-chat?gameId=1", "/compat/bloxlink/v4/public/roblox-to-discord/1"])(
    "responses of v1 and of emulated APIs of other services are compressed too: %s",
    async (path) => {
      const credentials = { authorization: path.startsWith("/compat") ? key : `Bearer ${key}` };
      const answer = await fetch(url() + path, { headers: { ...credentials, "accept-encoding": "gzip" } });
      expect([answer.status, ...told(answer)]).toEqual([200, "gzip", "Accept-Encoding"]);
    },
  );

  test("gzip shrinks a list of links to less than a fifth of its size", async () => {
    const size = async (accepted: string) =>
      Number((await get(large, accepted)).headers.get("content-length"));
    expect(await size("gzip")).toBeLessThan((await size("identity")) / 5);
  });
});

test("small responses are not compressed", async () => {
  expect(told(await get("/v2/chat?chatId=200001", "gzip, br"))).toEqual([null, null]);
});
