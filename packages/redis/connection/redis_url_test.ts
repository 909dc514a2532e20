import { Option } from "effect";
import { expect, it } from "vitest";
import { parse, type RedisAddress } from "./redis_url.ts";

const single = (parts: Partial<RedisAddress & { kind: "single" }>) => ({
  kind: "single",
  tls: false,
  host: "cache",
  port: 6379,
  database: 0,
  ...parts,
});

const sentinel = (parts: Partial<RedisAddress & { kind: "sentinel" }>) => ({
  kind: "sentinel",
  tls: false,
  sentinels: [{ host: "cache", port: 26379 }],
  master: "main",
  database: 0,
  sentinelLogin: {},
  ...parts,
});

const valid: ReadonlyArray<readonly [string, object]> = [
  ["redis://cache", single({})],
  ["redis://cache/", single({})],
  ["rediss://cache:7000/3", single({ tls: true, port: 7000, database: 3 })],
  ["redis://:secret@cache", single({ password: "secret" })],
  ["redis://node:secret@cache", single({ username: "node", password: "secret" })],
  ["redis://node:a%40b%2Fc%3Ad%25@cache", single({ username: "node", password: "a@b/c:d%" })],
  ["redis://:a@b:c/d@cache/1", single({ password: "a@b:c/d", database: 1 })],
  ["redis://[2001:db8::1]:7000", single({ host: "2001:db8::1", port: 7000 })],
  ["redis+sentinel://cache/main", sentinel({})],
  [
    "rediss+sentinel://node:secret@one,two:7000/main/2?sentinelUsername=watch&sentinelPassword=a%26b",
    sentinel({
      tls: true,
      username: "node",
      password: "secret",
      sentinels: [
        { host: "one", port: 26379 },
        { host: "two", port: 7000 },
      ],
      database: 2,
      sentinelLogin: { username: "watch", password: "a&b" },
    }),
  ],
  [
    "redis+cluster://:secret@one,[::1]:7001",
    {
      kind: "cluster",
      tls: false,
      password: "secret",
      nodes: [
        { host: "one", port: 6379 },
        { host: "::1", port: 7001 },
      ],
    },
  ],
];

const invalid = [
  "",
  "cache:6379",
  "http://cache",
  "redis:/cache",
  "redis://",
  "redis://cache:0",
  "redis://cache:65536",
  "redis://cache:port",
  "redis://ca che",
  "redis://::1",
  "redis://one,two",
  "redis://cache/first",
  "redis://cache/0/1",
  "redis://cache?db=1",
  "redis://node@cache",
  "redis://:%zz@cache",
  "redis+sentinel://cache",
  "redis+sentinel://cache/main/first",
  "redis+sentinel://cache/main?password=secret",
  "redis+cluster://one,,two",
  "redis+cluster://one/1",
];

it.each(valid)("the URL %s is parsed", (url, address) => {
  expect(parse(url)).toEqual(Option.some(address));
});

it.each(invalid)("the URL %j is refused", (url) => {
  expect(parse(url)).toEqual(Option.none());
});
