import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { RoleRefused } from "../../platforms/chat_platform.ts";
import { chatId, guildId } from "../../test_services.ts";
import { rememberRefusals } from "./role_couriers.ts";

test("a refusal of a role is remembered for five seconds, and then forgotten with all others", function* () {
  let asked = 0;
  const refuse = () =>
    Effect.suspend(() => {
      asked++;
      return new RoleRefused({ reason: "role_above_bot" });
    });
  const remembered = new Map<string, never>();
  const roles = rememberRefusals({ addRole: refuse } as never, remembered);
  const add = (user: string, roleId: string) => Effect.flip(roles.addRole(guildId, chatId(user), roleId));
  for (let role = 1; role <= 50; role++) yield* add("10001", `${role}`);
  yield* add("10002", "1");
  expect([asked, remembered.size]).toEqual([50, 50]);
  yield* TestClock.adjust("5 seconds");
  yield* add("10002", "1");
  expect([asked, remembered.size]).toEqual([51, 1]);
});
