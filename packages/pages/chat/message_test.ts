import type { GameId } from "@accountlink/core";
import { expect, it } from "vitest";
import { accountText, messageBody, plainText } from "./message.ts";

const gameId = "7" as GameId;
const page = "https://game.example/7";
const profile = { id: gameId, description: null, created: null, isBanned: null, hasVerifiedBadge: null };
const none = { avatar: null, badges: null, groups: null };
const named = (displayName: string) =>
  accountText(gameId, { ...profile, ...none, username: "ada", displayName }, page);

it("a name is shown as its owner wrote it, and links nowhere else", () => {
  expect(named("https://a.example**[Free](https://b.example)")).toBe(
    String.raw`[**https\://a.example\*\*\[Free\]\(https\://b.example\)**](<${page}>) (${"`ada`"})`,
  );
  expect(named("Ada: 7")).toContain("**Ada: 7**");
  expect(named("\u3164")).toContain("[**ada**]");
});

it("a text of the team keeps its URLs, and no other markup", () => {
  expect(plainText("*See* https://a.example/b_c, or http://d.example/(e)_f")).toBe(
    String.raw`\*See\* https://a.example/b_c, or http://d.example/(e)_f`,
  );
});

it("a text over a limit of the chat platform is cut between characters", () => {
  const of = (characters: number) => "a".repeat(characters);
  const { content, components } = messageBody({
    content: `${of(1_999)}😀`,
    buttons: [{ label: `${of(79)}😀`, url: page }],
  });
  expect(content).toBe(of(1_999));
  expect(components[0]?.components[0]).toMatchObject({ label: of(79) });
});

it("a name does not set the direction of the text after it", () => {
  const content = `${named("\u202Eada\u2066")} (7)`;
  const { components, ...body } = messageBody({ content, buttons: [{ label: "\u202EUse it", url: page }] });
  expect(body.content).toBe(`[**ada**](<${page}>) (\`ada\`) (7)`);
  expect(components[0]?.components[0]).toMatchObject({ label: "Use it" });
});
