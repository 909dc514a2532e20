import { characterOf, characters, isProof } from "@accountlink/test-servers";
import { assert, it } from "@accountlink/test-servers/effect";
import { Schema } from "effect";
import * as FastCheck from "fast-check";
import { isNameText } from "../name_text.ts";
import { NicknameTemplate, nicknameOf } from "./role_plan.ts";

const isTemplate = Schema.is(NicknameTemplate);

const names = {
  game: { username: "ada_g", displayName: "Ada" },
  chat: { username: "ada", displayName: null },
  groupRole: "Officer",
};

it.each([
  ["{game.username}", "ada_g"],
  ["{game.displayName} ({chat.username})", "Ada (ada)"],
  ["{chat.displayName}", "ada"],
  ["  [X]   {game.username} ", "[X] ada_g"],
  ["{{game.username}}", "{ada_g}"],
  ["{group.role} {game.username}", "Officer ada_g"],
  ["[{group.role}]  {game.username}", "[Officer] ada_g"],
  [`${"🎮".repeat(15)} {game.username}`, `${"🎮".repeat(15)} a`],
  [`${"x".repeat(31)}🎮{game.username}`, "x".repeat(31)],
  [`${"x".repeat(25)}👨‍👩‍👧{game.username}`, "x".repeat(25)],
  [`${"x".repeat(24)}👨‍👩‍👧{game.username}`, `${"x".repeat(24)}👨‍👩‍👧`],
  [`${"x".repeat(31)} {game.username}`, "x".repeat(31)],
])("a template fills in %s", (template, expected) => {
  assert.equal(nicknameOf(template, names), expected);
});

it.each([
  ["[{group.role}] {game.username}", "ada_g"],
  ["{game.username} ({group.role})", "ada_g"],
  ["[] {group.role} {game.username}", "[] ada_g"],
])("outside of the group, brackets around the rank go with it in %s", (template, expected) => {
  assert.equal(nicknameOf(template, { ...names, groupRole: "" }), expected);
});

it("a template gives no nickname if a name is unavailable or the result is empty", () => {
  const none = { ...names, game: { username: null, displayName: null } };
  assert.equal(nicknameOf("Member {game.username}", none), null);
  assert.equal(
    nicknameOf("{game.username}", { ...names, game: { ...none.game, username: "\u202E \n" } }),
    null,
  );
});

it("nicknameOf returns trimmed text of at most 32 UTF-16 units that isNameText accepts", () => {
  const text = FastCheck.string({ unit: FastCheck.integer(characters).map(characterOf), maxLength: 60 });
  FastCheck.assert(
    FastCheck.property(text, text, (username, displayName) => {
      const given = nicknameOf("{game.username} {chat.displayName}", {
        game: { username, displayName: null },
        chat: { username: null, displayName },
        groupRole: "",
      });
      if (given === null) return;
      assert.isAtMost(given.length, 32);
      assert.isTrue(isNameText(given));
      assert.equal(given, given.trim());
    }),
    { numRuns: isProof ? 200 : 20 },
  );
});

it.each([
  ["{game.username}", true],
  ["Member", false],
  ["a { {chat.username}", true],
  [`${"x".repeat(85)}{game.username}`, true],
  [`${"x".repeat(86)}{game.username}`, false],
  ["{game.name}", false],
  ["{}", false],
  ["{toString}", false],
  ["", false],
  [" ", false],
  ["a\nb", false],
])("isTemplate of %j is %s", (text, expected) => {
  assert.equal(isTemplate(text), expected);
});
