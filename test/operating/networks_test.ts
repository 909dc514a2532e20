/** The files of networks on a server that runs: they change, break, and come back. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { startServerHere } from "../support/server.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-networks-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The contract has 10 seconds. */
const soon = { timeout: 10_000, interval: 200 };

test("files of networks are read again while the server runs, and a damaged one keeps what it had", async () => {
  const vpnFile = join(folder, "vpn.txt");
  const sharedFile = join(folder, "shared.txt");
  await writeFile(vpnFile, "198.51.100.0/24\n");
  await writeFile(sharedFile, "");
  const fixtures = makeFixtures();
  const address = "203.0.113.7";
  const seenAt = new Date().toISOString();
  const key = fixtures.key({
    tier: "premium",
    sightings: ["100001", "100002"].map((chatId) => ({ chatId, ip: address, seenAt })),
  });
  const server = await startServerHere({
    fixture: { ...fixtures.fixture, vpnCidrs: ["192.0.2.0/24"] },
    env: { ACCOUNTLINK_VPN_NETWORKS: vpnFile, ACCOUNTLINK_SHARED_NETWORKS: sharedFile },
  });
  const vpnOf = async (ip: string): Promise<unknown> => {
    const { body } = await server.send(`GET /api/v1/public/detections/alt?ip=${ip}`, { key });
    return body.data?.risk?.breakdown?.vpn;
  };
  const score = async (): Promise<unknown> => {
    const { body } = await server.send("GET /v2/alts?chatId=100001", { key });
    return body.data?.risk?.score;
  };
  expect([await vpnOf("198.51.100.7"), await vpnOf("192.0.2.7"), await vpnOf(address)]).toEqual([
    100, 100, 0,
  ]);
  expect(await score()).toBe(35);

  await writeFile(sharedFile, `# carriers\n${address}\n`);
  await vi.waitFor(async () => expect(await score()).toBe(10), soon);
  await writeFile(vpnFile, `::ffff:${address}/128\n`);
  await vi.waitFor(async () => expect(await vpnOf(address)).toBe(100), soon);
  expect([await vpnOf("198.51.100.7"), await vpnOf("192.0.2.7")]).toEqual([0, 100]);

  await writeFile(vpnFile, "198.51.100.0/24\n198.51.100.9 is one\n");
  await vi.waitFor(() => expect(server.output()).toContain("line 2 is wrong"), soon);
  expect([await vpnOf(address), await vpnOf("198.51.100.7")]).toEqual([100, 0]);
  const next = join(folder, "next.txt");
  await writeFile(next, "198.51.100.0/24\n");
  await rename(next, vpnFile);
  await vi.waitFor(async () => expect(await vpnOf("198.51.100.7")).toBe(100), soon);

  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toMatch(/198\.51\.100|203\.0\.113/);
});
