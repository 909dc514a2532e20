import { assert, it } from "@accountlink/test-servers/effect";
import { ChatId, GameId, Pid } from "./ids.ts";

it("an ID accepts only text of its form, and its error names the value and the form", () => {
  assert.strictEqual(ChatId.make("100001"), "100001");
  assert.throws(() => ChatId.make("abc"), TypeError, 'ChatId is "abc", expected 5 to 32 digits');
  assert.throws(() => Pid.make(""), 'Pid is "", expected "pid_" and 16 or more of 0-9a-z');
  const number: unknown = 1;
  assert.throws(() => GameId.make(number as string), "GameId is of type number, expected 1 to 32 digits");
});
