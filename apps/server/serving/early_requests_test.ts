import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { holdRequests } from "./early_requests.ts";

test.each([{}, { expect: "100-continue" }])(
  "gives a request from before the handlers to each once %j",
  async (headers) => {
    const node = createServer();
    const answerHeld = holdRequests(node);
    await once(node.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void node.close());
    const { port } = node.address() as AddressInfo;
    const arrived = arrivalOf("/early");
    const answered = once(get({ port, host: "127.0.0.1", path: "/early", headers }), "response");

    let seen = 0;
    for (const event of ["request", "checkContinue"]) {
      node.on(event, () => seen++);
      await arrived;
      node.on(event, ({ url }, response) => response.end(url));
    }
    expect(seen).toBe(0);
    answerHeld();
    const [answer] = (await answered) as [IncomingMessage];
    expect([await text(answer), seen]).toEqual(["/early", 1]);
  },
);

/** Resolves when Node has read the head of a request, and before it emits it. */
const arrivalOf = (path: string) =>
  new Promise<void>((resolve) => {
    const channel = "http.server.request.start";
    const look = (message: unknown) => {
      if ((message as { request: IncomingMessage }).request.url !== path) return;
      unsubscribe(channel, look);
      resolve();
    };
    subscribe(channel, look);
  });
