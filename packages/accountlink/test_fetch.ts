/** Tests the HTTP interface of an embedded service. */
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { listenLocally, withResolvers } from "@accountlink/test-servers";
import { describe, expect, it } from "vitest";
import { createAccountLink, InvalidOptions, type PromisedAccountLink } from "./mod.ts";
import { platforms, type TestService } from "./test_service.ts";

const client = { clientAddress: "203.0.113.7" };

const sender =
  ({ fetch }: PromisedAccountLink) =>
  async (method: string, path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const request = new Request(`https://links.example/links${path}`, { method, headers, ...content });
    const response = await fetch(request, client);
    const answer = (await response.json()) as { readonly data?: unknown };
    return { status: response.status, data: answer.data };
  };

/**
 * @param shares whether other processes use the storage too; if so, the service has to ask the storage before
 * it answers a request
 */
export const fetchSuite = (service: () => TestService, { shares }: { readonly shares: boolean }): void => {
  describe("fetch", () => {
    it("fetch answers with the data of the promise API, below the base path", async () => {
      const { al, newScope } = service();
      const send = sender(al);
      const { keys, links, sessions } = await newScope();
      const { token } = await keys.create({ name: "bot", kind: "partner", limits: "none" });
      const heard = withResolvers<object>();
      const off = await al.on("linkChanged", (change) => heard.resolve(change));
      expect(await send("PATCH", "/v2/game", token, { chatId: "100001", gameId: "1" })).toMatchObject({
        data: { updated: true },
      });
      expect(await heard.promise).toMatchObject({ chatId: "100001", gameId: "1", previousGameId: null });
      off();
      expect(await links.get("100001")).toMatchObject({ gameId: "1" });
      expect(await send("GET", "/v2/chat?chatId=100001", token)).toMatchObject({ data: { gameId: "1" } });

      const { data } = await send("POST", "/v2/sessions", token, { clientId: "one" });
      const { sid, url } = data as { readonly sid: string; readonly url: string };
      expect(await sessions.get(sid)).toMatchObject({ state: "pending", url });
      const page = await al.fetch(new Request(url), client);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      await sessions.cancel(sid);
      expect(await send("GET", `/v2/sessions/${sid}`, token)).toMatchObject({ data: { state: "cancelled" } });

      await keys.revoke(token.slice(4, 16));
      expect(await send("GET", "/v2/chat?chatId=100001", token)).toMatchObject({ status: 401 });
    });

    it(`nodeListener answers requests of Node's HTTP server${shares ? "" : ", and lookups before it returns"}`, async () => {
      const { al } = service();
      // The account is free, since v1 lookups for a premium account would wait for the profile from the platform.
      const { keys, links } = await al.scope({ account: "waits nowhere", tier: "free" });
      await links.set("100001", "1");
      const { token } = await keys.create({ name: "bot", kind: "partner", limits: "none" });
      const isAnswered: Array<boolean> = [];
      const server = createServer((request, response) => {
        al.nodeListener(request, response);
        isAnswered.push(response.writableEnded);
      });
      try {
        const port = await listenLocally(server);
        const get = (path: string) =>
          globalThis
            .fetch(`http://127.0.0.1:${port}/links${path}`, { headers: { authorization: `Bearer ${token}` } })
            .then(({ status }) => status);
        // The first request loads the key into the cache.
        expect(await get("/v2/chat?chatId=100001")).toBe(200);
        const paths = ["/v2/chat?chatId=100001", "/v2/chat?chatId=100002", "/v2/game?gameId=1"];
        const v1 = ["/api/v1/public/chat-to-game?chatId=100001", "/api/v1/public/game-to-chat?gameId=1"];
        const statuses = [];
        for (const path of [...paths, ...v1]) statuses.push(await get(path));
        expect(statuses).toEqual([200, 404, 200, 200, 200]);
        expect(shares || !isAnswered.slice(1).includes(false)).toBe(true);
      } finally {
        server.close();
      }
    });

    it("fetch and nodeListener require the option http, which requires clientAddress", async () => {
      const al = await createAccountLink(platforms);
      await expect(al.fetch(new Request("https://links.example/"))).rejects.toBeInstanceOf(InvalidOptions);
      const request = new IncomingMessage(new Socket());
      expect(() => al.nodeListener(request, new ServerResponse(request))).toThrow(InvalidOptions);
      await al.close();
      const http = { publicUrl: "https://links.example" } as never;
      await expect(createAccountLink({ ...platforms, http })).rejects.toThrow(
        'clientAddress is undefined, expected "given", and the address with each request, or "none"',
      );
    });
  });
};
