import { ChatId } from "@accountlink/core";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { changesHtml } from "./member_preview.ts";

const role = { id: "1", name: "VIP", assignable: true };

/** Says what a plan would change for a linked member. */
const textOf = (isInventoryPrivate: boolean, remove: ReadonlyArray<string>) =>
  inEnglish(
    changesHtml(
      { roles: [role] },
      {
        isLinked: true,
        changes: {
          chatId: ChatId.make("100001"),
          add: [],
          remove,
          nickname: null,
          replaced: null,
          setNickname: { before: null, during: null, after: null },
          isInventoryPrivate,
          held: [],
          holding: [],
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
