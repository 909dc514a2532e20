/**
 * What every answer says where the service is reached by https.
 */
import { describe, expect, test } from "vitest";
import { useContractServer } from "./contract_server.ts";

const lines = [
  "GET /v2/chat?chatId=100001",
  "GET /v2/chat",
  "GET /api/v1/public/chat-to-game?chatId=100001",
  "GET /v2/nope",
  "OPTIONS /v2/chat",
  "PUT /v2/chat",
  "GET /v2/chat?chatId=%",
  "GET /v2/verifications/chat",
  "GET /verify?sid=vs_1",
  "GET /verify/style.css",
  "GET /docs",
  "GET /openapi.json",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
] as const;

describe("A service with an https public URL", () => {
  const { world, send } = useContractServer({ ACCOUNTLINK_PUBLIC_URL: "https://links.example" });
  const key = world.key({ links: { 100001: "1" } });

  test.each(lines)("binds browsers to https: %s", async (line) => {
    expect((await send(line, { key })).headers["strict-transport-security"]).toBe("max-age=31536000");
    expect((await send(line)).headers["strict-transport-security"]).toBe("max-age=31536000");
  });
});

describe("A service with an http public URL", () => {
  const { send } = useContractServer();

  test.each(lines)("does not: %s", async (line) => {
    expect((await send(line)).headers["strict-transport-security"]).toBeUndefined();
  });
});
