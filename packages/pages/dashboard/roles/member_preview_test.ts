import { ChatId } from "@accountlink/core";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { changesHtml } from "./member_preview.ts";

const role = { id: "1", name: "VIP", assignable: true };

/** Says what a plan would change for a member. */
const textOf = (
  isInventoryPrivate: boolean,
  remove: ReadonlyArray<string>,
  { isLinked = true, holding = [] as ReadonlyArray<boolean> } = {},
) =>
  inEnglish(
    changesHtml(
      { roles: [role] },
      {
        isLinked,
        changes: {
          chatId: ChatId.make("100001"),
          add: [],
          remove,
          nickname: null,
          replaced: null,
          setNickname: { before: null, during: null, after: null },
          isInventoryPrivate,
          held: [],
          holding,
          withoutItem: [],
        },
      },
    ),
  );

it("a private inventory is told, since its things count as missing", () => {
  expect(textOf(false, ["1"])).toBe("Would lose: VIP.");
  const told = "The inventory is private, so what is in it counts as missing.";
  expect(textOf(true, ["1"])).toBe(`Would lose: VIP. ${told}`);
  expect(textOf(true, [])).toBe(`Nothing would change. ${told}`);
});

it("rules give nothing without a link, unless one of them holds without it", () => {
  const of = (holds: boolean) => textOf(false, [], { isLinked: false, holding: [false, holds] });
  expect(of(false)).toBe("These rules give nothing without a link.");
  expect(of(true)).toBe("Nothing would change.");
});
