import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { assert, expect, testLive as test, vi } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { resolveWith } from "./targets.ts";

const [typeA, typeAaaa] = [1, 28];

/** Reads the name from a DNS query, and the offset where its question ends. */
const questionOf = (query: Buffer): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 5 };
};

/** Encodes a DNS response with the given addresses. An empty list means that the name does not exist. */
const answerTo = (query: Buffer, addresses: ReadonlyArray<ReadonlyArray<number>>): Buffer => {
  const { end } = questionOf(query);
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(addresses.length === 0 ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  const type = query.readUInt16BE(end - 4);
  const records = addresses.map((bytes) =>
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([header, query.subarray(12, end), ...records]);
};

type Answering = (name: string, type: number) => ReadonlyArray<ReadonlyArray<number>> | null;

/** A resolver that asks a test name server, which stays silent if `answering` returns null. */
const resolverOf = Effect.fnUntraced(function* (answering: Answering) {
  const asked: Array<string> = [];
  const socket = createSocket("udp4", (query, { port, address }) => {
    const { name, end } = questionOf(query);
    asked.push(name);
    const addresses = answering(name, query.readUInt16BE(end - 4));
    if (addresses !== null) socket.send(answerTo(query, addresses), port, address);
  });
  yield* Effect.acquireRelease(
    Effect.promise(() => once(socket.bind(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => socket.close()),
  );
  const resolver = yield* Effect.acquireRelease(
    Effect.sync(() => new Resolver()),
    (opened) => Effect.sync(() => opened.cancel()),
  );
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolve: resolveWith(resolver), asked };
});

const v6 = [0x26, 0x06, ...Array<number>(13).fill(0), 1];

test("a name resolves to all addresses that name servers know, IPv4 first", function* () {
  const { resolve } = yield* resolverOf((name, type) => {
    if (name === "four.example") return type === typeA ? [[192, 0, 2, 1]] : [];
    if (name === "six.example") return type === typeAaaa ? [v6] : [];
    return name === "both.example" ? (type === typeA ? [[192, 0, 2, 1]] : [v6]) : [];
  });
  const found = (name: string) => Effect.promise(() => resolve(name));
  assert.deepEqual(yield* found("four.example"), ["192.0.2.1"]);
  assert.deepEqual(yield* found("six.example"), ["2606::1"]);
  assert.deepEqual(yield* found("both.example"), ["192.0.2.1", "2606::1"]);
  const refused = yield* Effect.promise(() => resolve("none.example").catch((error: unknown) => error));
  assert.propertyVal(refused, "code", "ENOTFOUND");
});

test("localhost and its subdomains resolve to loopback addresses without a query to a name server", function* () {
  const { resolve, asked } = yield* resolverOf(() => [[192, 0, 2, 1]]);
  for (const name of ["localhost", "LOCALHOST.", "a.localhost"]) {
    assert.deepEqual(yield* Effect.promise(() => resolve(name)), ["127.0.0.1", "::1"]);
  }
  assert.lengthOf(asked, 0);
});

test("a silent name server blocks no thread of the process", function* () {
  const { resolve, asked } = yield* resolverOf(() => null);
  let answered = 0;
  const names = Array.from({ length: 16 }, (_, index) => `silent${index}.example`);
  for (const name of names) resolve(name).catch(() => answered++);
  yield* Effect.promise(() =>
    vi.waitFor(() => expect(new Set(asked).size).toBe(names.length), { timeout: 30_000 }),
  );
  yield* Effect.promise(() => readFile(new URL(import.meta.url)));
  assert.strictEqual(answered, 0);
});
