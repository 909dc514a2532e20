/** Compares scores in docs/alts.md with the formula and a server. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scoreAlts, weighAddress } from "@accountlink/core/alts";
import { expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { startServerHere } from "../support/server.ts";
import { blocksOf, readDocument, rowsUnder } from "./document.ts";

const today = Date.parse("2026-07-01T12:00:00Z");

const folder = useFolder();
const document = readDocument("docs/alts.md");

test("the documented scores of shared addresses match the formula", () => {
  const rows = rowsUnder(document, [
    "chat users at the address",
    "such as",
    "score",
    "on the list of shared networks",
  ]);
  expect(rows.length).toBeGreaterThan(0);
  for (const [users = "", name = "", ...scores] of rows) {
    const chatUsers = Number(users);
    const scoreWhen = (isShared: boolean): string => {
      const listed = [weighAddress({ age: 0, chatUsers, isShared })];
      return String(scoreAlts({ listed, unlisted: [], addresses: 1, vpnAddresses: 0 }).score);
    };
    expect([name, scoreWhen(false), scoreWhen(true)]).toEqual([name, ...scores]);
  }
});

test("the example in docs/alts.md matches the answer of a server", async () => {
  const example = JSON.parse(blocksOf(document).find(({ language }) => language === "json")?.text ?? "");
  const fixtures = makeFixtures();
  const now = Date.now();
  const seen = (chatId: string, ip: string, days = 0, device = `of ${chatId}`) => ({
    chatId,
    ip,
    device,
    seenAt: new Date(now - days * 86_400_000).toISOString(),
  });
  const [home, library] = ["203.0.113.7", "192.0.2.1"];
  const key = fixtures.key({
    tier: "premium",
    links: { 100001: "1", 100002: "1", 100004: "4" },
    sightings: [
      ...[home, library, "198.51.100.9", "203.0.113.99"].map((ip) => seen("100001", ip, 0, "laptop")),
      seen("100002", home, 10, "laptop"),
      seen("100004", library, 1 / 24),
    ],
  });
  const shared = join(folder, "shared.txt");
  await writeFile(shared, `${library}/32 # the library`);
  const server = await startServerHere({
    fixture: { ...fixtures.fixture, vpnCidrs: ["198.51.100.0/24"] },
    env: { ACCOUNTLINK_SHARED_NETWORKS: shared },
  });
  const { body } = await server.send("GET /v2/alts?chatId=100001&explain=true", { key });
  expect(await server.stop()).toBe(0);
  const { target, matches, risk } = JSON.parse(JSON.stringify(body.data), (name, value: unknown) => {
    if (name === "weight") return Math.round(Number(value) * 1_000) / 1_000;
    return name === "lastSeenAt" && typeof value === "string" ? timeOf(value, now) : value;
  });
  expect({ target, matches, risk }).toEqual(example);
});

/**
 * Shifts a time in the server's answer by the difference between `today`, the example's date, and `now`, the server's
 * time.
 */
const timeOf = (time: string, now: number): string => new Date(today + Date.parse(time) - now).toISOString();
