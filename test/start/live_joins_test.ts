/** Servers on live platforms that receive joins from Discord's gateway. */
import { expect, onTestFinished, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { guildId, startLivePlatforms } from "../support/live_platforms.ts";
import { startServer } from "../support/server.ts";

const startWithGateway = async (refusal: number | null) => {
  const fixtures = makeFixtures();
  fixtures.key({ account: "club", guildId });
  fixtures.plan({ account: "club", guildId, rules: [{ roleId: "5", when: { is: "linked" } }] });
  const platforms = await startLivePlatforms();
  onTestFinished(platforms.stop);
  platforms.gateway.refusal = refusal;
  const server = await startServer({
    fixture: fixtures.fixture,
    env: {
      ...platforms.env,
      ACCOUNTLINK_PUBLIC_URL: "http://127.0.0.1",
      ACCOUNTLINK_CHAT_GATEWAY: "on",
    },
  });
  onTestFinished(async () => void (await server.stop()));
  const isConnected = async () =>
    /^accountlink_chat_gateway_connected (\d)$/m.exec((await server.send("GET /metrics")).text)?.[1];
  return { server, gateway: platforms.gateway, secrets: platforms.secrets, isConnected };
};

test("a server is connected to the gateway, and counts joins", async () => {
  const { server, gateway, isConnected } = await startWithGateway(null);
  await expect.poll(isConnected).toBe("1");
  gateway.join(guildId, "100001");
  await expect
    .poll(async () => (await server.send("GET /metrics")).text)
    .toMatch(/^accountlink_chat_joins_total 1$/m);
});

test("a server without the intent says so once, and serves", async () => {
  const { server, gateway, secrets, isConnected } = await startWithGateway(4014);
  await expect.poll(server.output).toMatch(/refuses to report joins.*server members/);
  expect(await isConnected()).toBe("0");
  expect(gateway.countOf("identify")).toBe(1);
  expect((await server.send("GET /readyz")).status).toBe(200);
  for (const secret of secrets) expect(server.output()).not.toContain(secret);
});
