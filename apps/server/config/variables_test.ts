import { Option, Redacted } from "effect";
import { expect, it } from "vitest";
import { variables } from "./config.ts";
import * as Variables from "./variables.ts";

const bytes = (fill: number, length = 32): string => Buffer.alloc(length, fill).toString("base64");

type Variable = Variables.Variable<unknown>;

it.each<
  [what: string, Variable, accepted: Readonly<Record<string, unknown>>, refused: ReadonlyArray<string>]
>([
  ["text", Variables.text("", "a path"), { "./data": "./data", "ä b": "ä b" }, []],
  [
    "number",
    Variables.count("", 0),
    { 0: 0, 20: 20, 999999999999999: 999_999_999_999_999 },
    ["", "-1", "1.5", "1e3", "0x10", " 1", "9999999999999999"],
  ],
  ["port", Variables.port("", 0), { 0: 0, 65535: 65_535 }, ["65536", "80a"]],
  ["positive number", Variables.positive("", 1), { 1: 1, 100: 100 }, ["0", "-1"]],
  [
    "prefix",
    variables.ACCOUNTLINK_REDIS_PREFIX,
    { "accountlink:": "accountlink:", "a.B-c_1": "a.B-c_1" },
    ["a b", "{a}", "ä"],
  ],
  ["choice", Variables.choice("", ["embedded", "memory"], null), { memory: "memory" }, ["Memory", "disk"]],
  [
    "duration",
    Variables.duration("", "5 minutes"),
    {
      "1 second": 1_000,
      "250 millis": 250,
      "1.5 hours": 5_400_000,
      "180 days": 15_552_000_000,
      "0.6 millis": 1,
      "999999 days": 86_399_913_600_000,
      "0 seconds": 0,
    },
    ["", "5", "5m", "5minutes", "-1 second", "five minutes", "1 week", "1000001 days"],
  ],
  ["lifetime", Variables.lifetime("", "5 minutes"), { "1 milli": 1 }, ["0 seconds", "0.0 days", "5"]],
  [
    "URL",
    Variables.webAddress(""),
    { "https://links.example/": "https://links.example", "http://[::1]:80/base": "http://[::1]:80/base" },
    [
      ..."base?q=1 ? #top".split(" ").map((end) => `https://links.example/${end}`),
      ..."ada ada:secret :secret".split(" ").map((user) => `https://${user}@links.example`),
      "ftp://links.example",
      "links.example",
    ],
  ],
  [
    "origin",
    Variables.webOrigin(""),
    { "https://Links.example:443/": "https://links.example", "http://[::1]:8080": "http://[::1]:8080" },
    ["https://links.example/base", "https:"],
  ],
  [
    "service URL",
    Variables.serviceAddress(""),
    {
      "https://{service}.a.example/": "https://{service}.a.example",
      "http://a/{service}/v1": "http://a/{service}/v1",
    },
    ["https://game.example", "{service}.game.example"],
  ],
])("a %s variable accepts and refuses texts", (_, { parse }, accepted, refused) => {
  for (const [text, value] of Object.entries(accepted)) expect(parse(text)).toEqual(Option.some(value));
  for (const text of refused) expect([text, parse(text)]).toEqual([text, Option.none()]);
});

const read = <A>({ parse }: Variables.Variable<A>, texts: ReadonlyArray<string>) =>
  texts.map((value) => Option.getOrNull(parse(value)));

it("the default of a duration variable is in milliseconds, and a lifetime is longer than 0", () => {
  expect(Variables.duration("", "5 minutes").fallback).toBe(300_000);
  expect(Variables.lifetime("", "5 minutes").expected).toBe(
    "a duration of at most 1000000 days, such as 5 minutes, 1 second or 250 millis, longer than 0 seconds",
  );
});

it("a network variable accepts addresses and CIDRs", () => {
  const [parsed, ...refused] = read(Variables.networks(""), [
    "10.0.0.0/8, ::1",
    "10.0.0.0/33",
    "10.0.0.0/8,",
  ]);
  expect(parsed).toHaveLength(2);
  expect(refused).toEqual([null, null]);
});

it("a credential variable accepts credentials without white space, and redacts them", () => {
  const variable = Variables.credential("", "a token");
  const [taken, ...refused] = read(variable, ["MTk4-x.y_z", "two words", "two\nlines", "tökén"]);
  expect(variable.secret).toBe(true);
  expect(taken && Redacted.value(taken)).toBe("MTk4-x.y_z");
  expect(refused).toEqual([null, null, null]);
});

it("a database URL variable accepts URLs of database servers, and redacts them", () => {
  const variable = Variables.hiddenText("", "db://…", (url) => url.startsWith("db://"));
  const [taken, refused] = read(variable, ["db://ada:pass@host", "http://host"]);
  expect(variable.secret).toBe(true);
  expect(taken && Redacted.value(taken)).toBe("db://ada:pass@host");
  expect(JSON.stringify(taken)).not.toContain("pass");
  expect(refused).toBeNull();
});

it("a secret variable accepts one or two secrets in base64, and redacts them", () => {
  const variable = Variables.secrets("");
  const [taken, both, ...refused] = read(variable, [
    bytes(7),
    `${bytes(8)}, ${bytes(7)}`,
    bytes(7, 31),
    "not base64!",
    `${bytes(8)},`,
    `${bytes(8)},${bytes(7, 31)}`,
    `${bytes(9)},${bytes(8)},${bytes(7)}`,
  ]);
  expect(variable.secret).toBe(true);
  const firstBytes = (given: typeof taken) => given?.map((one) => Redacted.value(one)[0]);
  expect([firstBytes(taken), firstBytes(both)]).toEqual([[7], [8, 7]]);
  expect(JSON.stringify(taken)).not.toContain(bytes(7));
  expect(refused).toEqual([null, null, null, null, null]);
});

it("a variable with named secrets keeps the order of the secrets", () => {
  const twice = `a:${bytes(2)},a:${bytes(1)}`;
  const texts = [`b:${bytes(2)}, a:${bytes(1)}`, bytes(1), `:${bytes(1)}`, `a:${bytes(1, 8)}`, twice];
  const [taken, ...refused] = read(Variables.namedSecrets(""), texts);
  const firstBytes = [...(taken ?? [])].map(([id, value]) => [id, Redacted.value(value)[0]]);
  expect([firstBytes, refused]).toEqual([
    [
      ["b", 2],
      ["a", 1],
    ],
    [null, null, null, null],
  ]);
});
