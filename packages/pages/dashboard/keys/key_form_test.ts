import { expect, it } from "vitest";
import { makeGuild, makeKey } from "../test_data.ts";
import { inEnglish } from "../test_english.ts";
import { emptyKeyForm, expiryOf, rulesFields, rulesOf, scopeFields } from "./key_form.ts";

it("the last day is converted to an expiry and back; an empty day means no expiry, and an invalid one stays", () => {
  const expiresAt = Date.parse(expiryOf("2026-11-30") ?? "");
  expect(expiresAt).toBe(Date.parse("2026-12-01T00:00:00Z"));
  expect(rulesOf(makeKey({ expiresAt })).expiresAt).toBe("2026-11-30");
  expect([expiryOf(""), expiryOf("tomorrow")]).toEqual([null, "tomorrow"]);
});

it("the form offers the communities that the owner manages and the bot is in", () => {
  const guilds = [
    makeGuild("Both"),
    { ...makeGuild("No bot"), bot: false },
    { ...makeGuild("No manager"), manager: false },
  ];
  const { source } = scopeFields(emptyKeyForm, guilds);
  expect(guilds.filter(({ name }) => source.includes(`${name} (`))).toEqual([guilds[0]]);
});

it("the form preselects a single community, and lets the owner choose among several", () => {
  const optionsOf = (...names: ReadonlyArray<string>) =>
    inEnglish(scopeFields(emptyKeyForm, names.map(makeGuild))).match(/<option value=""/g)?.length ?? 0;
  expect([optionsOf("One"), optionsOf("One", "Two"), optionsOf()]).toEqual([0, 1, 1]);
});

it("the restrictions of a key are described in words", () => {
  const textOf = (chosen: object) =>
    /<small>(.*?)<\/small><\/summary>/.exec(
      inEnglish(rulesFields({ ...emptyKeyForm, ...chosen }, "owner")),
    )?.[1];
  expect(textOf({})).toBe("None: it works from every address and does not expire");
  const chosen = { allowIps: "192.0.2.1\n192.0.2.2" };
  expect(textOf({ ...chosen, expiresAt: "2026-11-30" })).toBe(
    "Works from 2 addresses only, works until 2026-11-30",
  );
});
