import { expect, it } from "@accountlink/test-servers/effect";
import type { AuditEntry } from "../audit/audit.ts";
import { ChatId, KeyId, Pid } from "../ids.ts";
import { countErased, withoutUser } from "./user_store.ts";

const ada = ChatId.make("10001");
const key: AuditEntry["actor"] = { type: "key", id: KeyId.make("Aa0Bb1Cc2Dd3") };

it("an audit entry about other users stays unchanged", () => {
  const details = { chatId: "10002", gameId: "10001", previousGameId: null };
  expect(withoutUser({ actor: key, details }, ada, [])).toBeNull();
  expect(withoutUser({ actor: { type: "operator", id: "10001" }, details: {} }, ada, [])).toBeNull();
});

it("in the actor of an audit entry, the user's chat ID and the name of the user's account are erased", () => {
  const details = { keyId: "Aa0Bb1Cc2Dd3", status: "active" };
  const erased = "[erased]";
  for (const [actor, without] of [
    [
      { type: "user", id: ada },
      { type: "user", id: erased },
    ],
    [
      { type: "account", id: "chat:10001", member: "10002" },
      { type: "account", id: erased, member: "10002" },
    ],
    [
      { type: "account", id: "acme", member: ada },
      { type: "account", id: "acme", member: erased },
    ],
  ] as const) {
    expect(withoutUser({ actor, details }, ada, ["chat:10001"])).toEqual({ actor: without, details });
  }
});

it("erasures count the scopes in the same order, in whatever order a database deletes", () => {
  const [one, two] = [Pid.make("pid_1111111111111111"), Pid.make("pid_2222222222222222")];
  for (const pids of [
    [one, two],
    [two, one],
  ]) {
    const { byScope } = countErased(pids.map((pid) => ({ what: "reviews", pid })));
    expect([...byScope.keys()]).toEqual([one, two]);
  }
});
