import { describe, expect, it } from "vitest";
import { makeGuild, makeKey } from "../test_data.ts";
import { entriesOf, expiryOf, rulesOf, scopeFields } from "./key_form.ts";
import { emptyKeyForm } from "./new_key_page.ts";

describe("the last day of a key", () => {
  it("converts the last day to an expiry and back", () => {
    const expiresAt = Date.parse(expiryOf("2026-11-30") ?? "");
    expect(expiresAt).toBe(Date.parse("2026-12-01T00:00:00Z"));
    expect(rulesOf(makeKey({ expiresAt })).lastDay).toBe("2026-11-30");
  });

  it("reads an empty day as no expiry, and passes on an invalid day", () => {
    expect([expiryOf(""), expiryOf("tomorrow")]).toEqual([null, "tomorrow"]);
  });
});

describe("a list of entries", () => {
  it("splits a list at lines and commas, and drops empty entries", () => {
    expect(entriesOf(" 192.0.2.1 \r\n\n198.51.100.0/24, 2001:db8::/32,")).toEqual([
      "192.0.2.1",
      "198.51.100.0/24",
      "2001:db8::/32",
    ]);
  });
});

describe("the menu of communities", () => {
  it("lists the communities that the owner manages and the bot is in", () => {
    const guilds = [
      makeGuild("Both"),
      { ...makeGuild("No bot"), bot: false },
      { ...makeGuild("No manager"), manager: false },
    ];
    const { source } = scopeFields(emptyKeyForm, guilds, []);
    expect(guilds.filter(({ name }) => source.includes(`${name} (`))).toEqual([guilds[0]]);
  });
});
