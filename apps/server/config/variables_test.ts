import { Option, Redacted } from "effect";
import { expect, it } from "vitest";
import {
  choice,
  count,
  credential,
  duration,
  hiddenText,
  lifetime,
  namedSecrets,
  networks,
  port,
  positive,
  prefix,
  secrets,
  serviceAddress,
  text,
  type Variable,
  webAddress,
  webOrigin,
} from "./variables.ts";

const bytes = (fill: number, length = 32): string => Buffer.alloc(length, fill).toString("base64");

/** The parsed value of each text; null if it is refused. */
const read = <A>({ parse }: Variable<A>, texts: ReadonlyArray<string>) =>
  texts.map((value) => Option.getOrNull(parse(value)));

it("a text variable accepts any text", () => {
  expect(read(text("", "a path"), ["./data", "ä b"])).toEqual(["./data", "ä b"]);
});

it("a number variable accepts whole numbers", () => {
  expect(read(count("", 0), ["0", "20", "999999999999999"])).toEqual([0, 20, 999_999_999_999_999]);
  expect(read(count("", 0), ["", "-1", "1.5", "1e3", "0x10", " 1", "9999999999999999"])).toEqual(
    Array.from({ length: 7 }, () => null),
  );
});

it("a port variable accepts numbers up to 65535", () => {
  expect(read(port("", 0), ["0", "65535", "65536", "80a"])).toEqual([0, 65_535, null, null]);
});

it("a positive number variable accepts numbers of at least 1", () => {
  expect(read(positive("", 1), ["1", "100", "0", "-1"])).toEqual([1, 100, null, null]);
});

it("a prefix variable accepts letters, digits, colons, dots, underscores and hyphens", () => {
  expect(read(prefix("", ""), ["accountlink:", "a.B-c_1", "a b", "{a}", "ä"])).toEqual([
    "accountlink:",
    "a.B-c_1",
    null,
    null,
    null,
  ]);
});

it("a choice variable accepts one of its choices", () => {
  expect(read(choice("", ["embedded", "memory"], null), ["memory", "Memory", "disk"])).toEqual([
    "memory",
    null,
    null,
  ]);
});

it("a duration variable accepts durations and converts them to milliseconds", () => {
  const variable = duration("", "5 minutes");
  expect(variable.fallback).toBe(300_000);
  expect(read(variable, ["1 second", "250 millis", "1.5 hours", "180 days", "0 seconds"])).toEqual([
    1_000, 250, 5_400_000, 15_552_000_000, 0,
  ]);
  expect(read(variable, ["", "5", "5m", "5minutes", "-1 second", "five minutes", "1 week"])).toEqual(
    Array.from({ length: 7 }, () => null),
  );
});

it("a lifetime variable accepts durations above zero", () => {
  const variable = lifetime("", "5 minutes");
  expect(variable.expected).toBe(
    "a duration such as 5 minutes, 1 second or 250 millis, longer than 0 seconds",
  );
  expect(read(variable, ["1 milli", "0 seconds", "0.0 days", "5"])).toEqual([1, null, null, null]);
});

it("a network variable accepts addresses and CIDRs", () => {
  const [parsed, ...refused] = read(networks(""), ["10.0.0.0/8, ::1", "10.0.0.0/33", "10.0.0.0/8,"]);
  expect(parsed).toHaveLength(2);
  expect(refused).toEqual([null, null]);
});

it("a URL variable accepts web addresses, and removes the trailing slash", () => {
  const texts = [
    "https://links.example/",
    "http://localhost:8080/base",
    "ftp://links.example",
    "links.example",
    "https://links.example/base?q=1",
    "https://links.example/?",
    "https://links.example#top",
    "https://ada@links.example",
    "https://ada:secret@links.example",
    "https://:secret@links.example",
  ];
  expect(read(webAddress(""), texts)).toEqual([
    "https://links.example",
    "http://localhost:8080/base",
    ...Array.from({ length: 8 }, () => null),
  ]);
});

it("an origin variable accepts and normalizes origins, and refuses URLs with a path", () => {
  const texts = ["https://Links.example:443/", "http://[::1]:8080", "https://links.example/base", "https:"];
  expect(read(webOrigin(""), texts)).toEqual(["https://links.example", "http://[::1]:8080", null, null]);
});

it("a service URL variable accepts URLs with a placeholder for a service", () => {
  const texts = ["https://{service}.game.example/", "http://localhost/{service}/v1", "https://game.example"];
  expect(read(serviceAddress(""), [...texts, "{service}.game.example"])).toEqual([
    "https://{service}.game.example",
    "http://localhost/{service}/v1",
    null,
    null,
  ]);
});

it("a credential variable accepts credentials without white space, and redacts them", () => {
  const variable = credential("", "a token");
  const [taken, ...refused] = read(variable, ["MTk4-x.y_z", "two words", "two\nlines", "tökén"]);
  expect(variable.secret).toBe(true);
  expect(taken && Redacted.value(taken)).toBe("MTk4-x.y_z");
  expect(refused).toEqual([null, null, null]);
});

it("a database URL variable accepts URLs of database servers, and redacts them", () => {
  const variable = hiddenText("", "db://…", (url) => url.startsWith("db://"));
  const [taken, refused] = read(variable, ["db://ada:pass@host", "http://host"]);
  expect(variable.secret).toBe(true);
  expect(taken && Redacted.value(taken)).toBe("db://ada:pass@host");
  expect(JSON.stringify(taken)).not.toContain("pass");
  expect(refused).toBeNull();
});

it("a secret variable accepts one or two secrets in base64, and redacts them", () => {
  const variable = secrets("");
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
  const variable = namedSecrets("");
  const [taken, ...refused] = read(variable, [
    `b:${bytes(2)}, a:${bytes(1)}`,
    bytes(1),
    `:${bytes(1)}`,
    `a:${bytes(1, 8)}`,
    `a:${bytes(2)},a:${bytes(1)}`,
  ]);
  expect([...(taken ?? [])].map(([id, value]) => [id, Redacted.value(value)[0]])).toEqual([
    ["b", 2],
    ["a", 1],
  ]);
  expect(refused).toEqual([null, null, null, null]);
});
