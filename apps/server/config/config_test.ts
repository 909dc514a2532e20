import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { readConfig, variables } from "./config.ts";

test("readConfig uses the default of each variable that is empty", function* () {
  const defaults = yield* readConfig({});
  const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, "  "]));
  expect(yield* readConfig(empty)).toEqual(defaults);
});

test("readConfig reads its variables and ignores others", function* () {
  const config = yield* readConfig({
    ACCOUNTLINK_PORT: " 9090 ",
    ACCOUNTLINK_FREE_WINDOW: "1 minute",
    PORT: "1",
  });
  const changed = { ACCOUNTLINK_PORT: 9_090, ACCOUNTLINK_FREE_WINDOW: 60_000 };
  expect(config).toEqual({ ...(yield* readConfig({})), ...changed });
});

test("readConfig reports every wrong variable with its value and the accepted values", function* () {
  const wrong = readConfig({ ACCOUNTLINK_CACHE: "disk", ACCOUNTLINK_STORAGE: "disk" });
  expect(yield* Effect.flip(wrong)).toMatchObject({
    problem: 'ACCOUNTLINK_STORAGE is "disk", expected one of embedded, memory, postgres, redis',
    others: ['ACCOUNTLINK_CACHE is "disk", expected one of memory, redis'],
  });
});

test("errors of readConfig do not repeat the credentials in a URL", function* () {
  const wrong = readConfig({ ACCOUNTLINK_PUBLIC_URL: "https://ada:pass@links.example" });
  expect((yield* Effect.flip(wrong)).message).toBe(
    'ACCOUNTLINK_PUBLIC_URL is "https://…@links.example", expected an http or https URL without credentials, path, query and fragment',
  );
});
