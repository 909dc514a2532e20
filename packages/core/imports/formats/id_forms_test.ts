import { readFileSync } from "node:fs";
import { expect, it, test } from "@accountlink/test-servers/effect";
import { parse, reasonsOf } from "./test_parsing.ts";

const idOrLeftOut = (id: string | null, rows: ReadonlyArray<string>) =>
  expect(rows).toEqual(id === null ? [expect.stringMatching(/^(?:destroyed|chat_id)$/)] : [`${id} 1`]);

/** How cells of a CSV file hold a chat ID, and the ID; null if such a row is left out. */
const idForms: ReadonlyArray<readonly [written: string, id: string | null]> = [
  ["300000000000000001", "300000000000000001"],
  ["'300000000000000001", "300000000000000001"],
  ['="300000000000000001"', "300000000000000001"],
  ['"=""300000000000000001"""', "300000000000000001"],
  ["<@300000000000000001>", "300000000000000001"],
  ["<@!300000000000000001>", "300000000000000001"],
  ["https://discord.com/users/300000000000000001", "300000000000000001"],
  ["https://www.roblox.com/users/300001/profile", "300001"],
  ["1.2E+17", null],
  ["0300000000000000001", null],
];

/** How JSON holds an ID besides numbers. */
const jsonIdForms: typeof idForms = [
  ['{"$numberLong": "300000000000000001"}', "300000000000000001"],
  ['{"$numberInt": "300001"}', "300001"],
];

test.each(idForms)("a reader reads the ID of the CSV cell %s", function* ([written, id]) {
  idOrLeftOut(id, reasonsOf(yield* parse(`discordId;robloxId\n${written};1\n`)));
});

test.each([
  ...jsonIdForms,
  ['"300000000000000001"', "300000000000000001"],
  ["300000000000000001", null],
] satisfies typeof idForms)("a reader reads the ID of JSON %s", function* ([written, id]) {
  idOrLeftOut(id, reasonsOf(yield* parse(`[{"discordId": ${written}, "robloxId": "1"}]`)));
});

it("docs/switching.md lists the forms of IDs", () => {
  const switching = readFileSync(new URL("../../../../docs/switching.md", import.meta.url), "utf8");
  const listOf = (forms: typeof idForms) => forms.map(([written]) => `\`${written}\``).join(", ");
  const [read, lost] = [idForms.filter(([, id]) => id !== null), idForms.filter(([, id]) => id === null)];
  const text = switching.replaceAll("\n", " ");
  expect(text).toContain(`IDs are read from ${listOf(read)}, in JSON also from ${listOf(jsonIdForms)}.`);
  expect(text).toContain(`Rows with ${listOf(lost)}, 0, or a JSON number above 2^53 are left out`);
});
