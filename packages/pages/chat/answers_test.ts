import { ChatId, Counters } from "@accountlink/core";
import { expect } from "@accountlink/test-servers/effect";
import { Effect, Redacted } from "effect";
import { Languages } from "../languages/mod.ts";
import { makeAnswers } from "./answers.ts";
import { testWithTwoAccounts } from "./test_two_accounts.ts";

const [ada, cleo] = ["100001", "100003"] as const;

const test = testWithTwoAccounts([ada, cleo], { guilds: [], chatUsers: [], gameUsers: [] });

test("the counter of a user's commands does not name the user", function* () {
  const counted: Array<string> = [];
  const observe = (counters: Counters["Service"]) => ({
    ...counters,
    admit: ((rules, now) => {
      counted.push(...rules.map(({ key }) => key));
      return counters.admit(rules, now);
    }) satisfies Counters["Service"]["admit"],
  });
  const answer = yield* makeAnswers.pipe(
    Effect.updateService(Counters, observe),
    Effect.provide(Languages.layer),
  );
  const nowhere = { guildId: null, channelId: null, isManager: false, permissions: 0n };
  const asked = {
    applicationId: "1",
    token: Redacted.make("token"),
    signature: "",
    chatId: ChatId.make(ada),
  };
  const done = { type: "command", name: "help", target: null, text: null } as const;
  yield* answer({ ...nowhere, ...asked, locale: "en", guildLocale: "en", done }, "request");
  expect(counted).toEqual([expect.stringMatching(/^chat:[\w-]{22}$/)]);
});
