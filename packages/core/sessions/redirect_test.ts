import { assert, it as test } from "@accountlink/test-servers/effect";
import { redirectProblems } from "./redirect.ts";

const key = { redirectOrigins: ["https://game.example"] };

test.each([
  null,
  "https://game.example/done",
  "HTTPS://game.example",
  `https://game.example/${"a".repeat(2_027)}`,
])("a redirect to %j has no problem", (redirect) => {
  assert.deepStrictEqual(redirectProblems(key, redirect), []);
});

const refused: ReadonlyArray<readonly [redirect: string, reason: string]> = [
  ["/done", "expected an absolute http or https URL"],
  ["https:game.example/done", "expected an absolute http or https URL"],
  ["https:\\\\game.example/done", "expected an absolute http or https URL"],
  [" https://game.example/done", "expected an absolute http or https URL"],
  ["ht\ntps://game.example/done", "expected an absolute http or https URL"],
  ["https://", "expected an absolute http or https URL"],
  ["javascript:alert(1)", "expected an absolute http or https URL"],
  ["https://game.example/\0", "expected well-formed text without NUL"],
  ["https://game.example/\ud83c", "expected well-formed text without NUL"],
  [`https://game.example/${"a".repeat(2_028)}`, "expected at most 2048 characters"],
  ["https://game.example:8443/", "expected an origin on the redirect list of the key"],
];

test.each(refused)("a redirect to %j has a problem", (redirect, reason) => {
  assert.deepStrictEqual(redirectProblems(key, redirect), [{ name: "redirect", reason }]);
});
