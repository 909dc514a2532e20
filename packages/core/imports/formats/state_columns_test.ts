import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { endedStates, holdingStates } from "./state_columns.ts";
import { parse, reasonsOf } from "./test_parsing.ts";
import { noWords, yesWords } from "./written_forms.ts";

const stateNames = (states: ReadonlySet<string>) =>
  [...states].flatMap((state) => [state, `is_${state}`, `Is${state}`, `link_${state}`, `is${state}`]);

test("a reader takes or leaves out a row by a column that says whether its link is over", function* () {
  const read = (name: string, value: unknown) =>
    Effect.map(parse(JSON.stringify([{ discordId: "10001", robloxId: "1", [name]: value }])), (rows) => [
      name,
      value,
      ...reasonsOf(rows),
    ]);
  const [taken, left] = ["10001 1", "not_verified"];
  for (const name of stateNames(endedStates)) {
    for (const value of [...yesWords, true, 1]) expect(yield* read(name, value)).toContain(left);
    for (const value of [...noWords, "", false, 0, null]) expect(yield* read(name, value)).toContain(taken);
  }
  for (const name of stateNames(holdingStates)) {
    expect(yield* read(name, true)).toContain(taken);
    expect(yield* read(name, false)).toContain(left);
  }
  for (const name of ["deleted_at", "revokedAt", "deletedat", "unlinked_since", "deleted"]) {
    expect(yield* read(name, "2021-05-04 12:30:00")).toContain(left);
    expect(yield* read(name, "0001-01-01T00:00:00Z")).toContain(taken);
    expect(yield* read(name, null)).toContain(taken);
  }
  for (const name of ["undeleted", "nation", "position", "guildName"])
    expect(yield* read(name, true)).toContain(taken);
});

const odd =
  "discord_id,roblox_id,status,is_deleted\n10001,1,Maybe,0\n10002,2,idk,1\n10003,3,maybe,huh\n10004,4,yes,0\n";

test("a reader counts odd words in the whole file, and reads it once their meaning is chosen", function* () {
  for (const size of [1, 1_000]) {
    expect(yield* Effect.flip(parse(odd, "auto", size))).toMatchObject({
      line: 2,
      unclearColumns: ["status"],
      oddWords: [{ column: "status", word: "maybe", rows: 2 }],
    });
    const maybe = { verifiedWords: { maybe: "skip" } } as const;
    expect(yield* Effect.flip(parse(odd, "auto", size, maybe))).toMatchObject({
      line: 4,
      oddWords: [{ column: "is_deleted", word: "huh", rows: 1 }],
    });
    const chosen = { verifiedWords: { maybe: "yes", huh: "skip" } } as const;
    expect(reasonsOf(yield* parse(odd, "auto", size, chosen))).toEqual([
      "10001 1",
      "not_verified",
      "odd_word",
      "10004 4",
    ]);
  }
  const names = Array.from({ length: 30 }, (_, index) => `${10_001 + index},1,name ${index}\n`);
  const asked = yield* Effect.flip(parse(`discord_id,roblox_id,linked\n${names.join("")}`));
  expect(asked).toMatchObject({ unclearColumns: ["linked"] });
  expect(asked).not.toHaveProperty("oddWords");
});

test("a reader takes the ID 0 and the words of nothing for no ID", function* () {
  for (const id of ["0", "null", "\\N", "nil", "undefined", "None", "NaN"]) {
    expect(reasonsOf(yield* parse(`discord_id,roblox_id\n10001,${id}\n`))).toEqual(["no_game_id"]);
    expect(reasonsOf(yield* parse(`discord_id,roblox_id\n${id},1\n`))).toEqual(["no_chat_id"]);
  }
  expect(reasonsOf(yield* parse('[{"discordId":"10001","robloxId":0}]'))).toEqual(["no_game_id"]);
});
