/**
 * A list of 5 million networks, a tenth of them IPv6, in random order: at most 64 MB, and 1 µs for a lookup.
 */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseAddress } from "@accountlink/core/addresses";
import { NetworkFiles } from "@accountlink/server/networks";
import { Effect, Option } from "effect";
import { afterAll, beforeAll, expect, test } from "vitest";

const count = 5_000_000;
const ipv6Count = count / 10;
const lookups = 1_000_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-ranges-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Coprime to the count, so that its multiples go through all numbers below it, in an order that looks random. */
const stride = 2_147_483_647;

const shuffled = (index: number): number => Number((BigInt(index) * BigInt(stride)) % BigInt(count));

/** The network with the number: apart from all others, and about every 950th address of IPv4 begins one. */
const ipv4At = (number: number): string => {
  const first = Math.floor((number / (count - ipv6Count)) * 2 ** 32);
  return [first >>> 24, (first >>> 16) & 255, (first >>> 8) & 255, first & 252].join(".");
};

const ipv6At = (number: number): string =>
  `2a0${number & 7}:${(number >>> 3)
    .toString(16)
    .padStart(5, "0")
    .replace(/(.)(.*)/, "$1:$2")}::`;

const lineAt = (index: number): string => {
  const number = shuffled(index);
  return number < ipv6Count ? `${ipv6At(number)}/48\n` : `${ipv4At(number - ipv6Count)}/30\n`;
};

const megabytes = (bytes: number): number => bytes / 1_000_000;

test("5 million ranges take 64 MB at most, and a lookup 1 µs at most", async () => {
  const path = join(folder, "list.txt");
  const lines = function* () {
    for (let index = 0; index < count; index += 1_000) {
      yield Array.from({ length: 1_000 }, (_, offset) => lineAt(index + offset)).join("");
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));

  collectGarbage();
  const before = process.memoryUsage();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  const list = await Effect.runPromise(NetworkFiles.readNetworkList(path));
  const seconds = (performance.now() - started) / 1_000;
  delay.disable();
  collectGarbage();
  const after = process.memoryUsage();
  const used = after.arrayBuffers - before.arrayBuffers;

  const addresses = Array.from({ length: lookups }, (_, index) => {
    const number = shuffled(index);
    const text = number < ipv6Count ? ipv6At(number) : ipv4At(number - ipv6Count);
    return Option.getOrThrow(parseAddress(text));
  });
  const time = (): number => {
    const begun = process.cpuUsage();
    let found = 0;
    for (const address of addresses) if (list.has(address)) found += 1;
    expect(found).toBe(lookups);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / lookups;
  };
  time();
  const lookup = time();
  console.log(
    [
      `${list.count} ranges: ${megabytes(used).toFixed(1)} MB, read in ${seconds.toFixed(1)} s`,
      `the event loop was held for ${(delay.max / 1e6).toFixed(0)} ms at most`,
      `a lookup takes ${lookup.toFixed(2)} µs`,
    ].join(", "),
  );
  expect(list.count).toBe(count);
  expect(megabytes(used)).toBeLessThanOrEqual(64);
  expect(lookup).toBeLessThanOrEqual(1);
});
