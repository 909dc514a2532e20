import { createServer } from "node:net";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { claimPort } from "./port.ts";

const claim = (host: string, port: number, server = createServer()) =>
  Effect.scoped(
    Effect.flatMap(claimPort("ACCOUNTLINK_PORT", { host, port }), ({ open, url }) =>
      Effect.acquireRelease(Effect.as(open(server), url), () => Effect.sync(() => server.close())),
    ),
  );

it("a port that the user may not use is refused with the ports that are left", async () => {
  const server = createServer();
  // Tests may run as root, who may use every port.
  server.listen = () => {
    server.emit("error", Object.assign(new Error("permission denied"), { code: "EACCES" }));
    return server;
  };
  const { message } = await Effect.runPromise(Effect.flip(claim("127.0.0.1", 80, server)));
  expect(message).toContain("expected a port above 1023, or the right CAP_NET_BIND_SERVICE");
});

it("a host may be an IPv6 address as URLs write it", async () => {
  expect(await Effect.runPromise(claim("[::1]", 0))).toMatch(/^http:\/\/\[::1\]:\d+$/);
});
